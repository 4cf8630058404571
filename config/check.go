package config

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// checker holds a config to what its keys may say, and keeps the first mistake.
type checker struct {
	file  *ast.File
	words Words
	err   error
}

func (k *checker) config(c *Config) {
	k.oneOf("$.target", c.Target, k.words.Targets)
	k.oneOf("$.fail-on", c.FailOn, k.words.Thresholds)
	k.oneOf("$.accumulate", c.Accumulate, accumulates)
	k.oneOf("$.runtime", c.Runtime, k.words.Runtimes)
	k.filled("$.ranges.", slices.Sorted(maps.Keys(c.Ranges)), "a list [lo, hi]")
	k.filled("$.dims.", slices.Sorted(maps.Keys(c.Dims)), "a number, LO..HI or [LO, HI]")
	for _, name := range slices.Sorted(maps.Keys(c.Rules)) {
		at := "$.rules." + quoted(name)
		if !slices.Contains(k.words.Rules, name) {
			k.fail(at, "no rule is named %q; the rules are %s", name, strings.Join(k.words.Rules, ", "))
		}
		k.oneOf(at, c.Rules[name], levels)
		if c.Rules[name] == "" {
			k.fail(at, "want one of %s", strings.Join(levels, ", "))
		}
	}
	for i := range c.Ignore {
		k.ignore(fmt.Sprintf("$.ignore[%d]", i), &c.Ignore[i])
	}
}

// filled refuses names without a value: it would count as 0.
func (k *checker) filled(at string, names []string, want string) {
	for _, name := range names {
		if _, null := k.node(at + quoted(name)).(*ast.NullNode); null {
			k.fail(at+quoted(name), "nothing is said of %q, want %s", name, want)
		}
	}
}

func (k *checker) ignore(at string, ig *Ignore) {
	ig.Line = k.line(at)
	if ig.Rule == "" && ig.Node == "" && ig.Value == "" {
		k.fail(at, "names no rule, node or value: it would hide every finding")
	}
	for _, glob := range [][2]string{{"rule", ig.Rule}, {"node", ig.Node}, {"value", ig.Value}} {
		if _, err := path.Match(glob[1], ""); err != nil {
			k.fail(at+"."+glob[0], "%q: %s", glob[1], err)
		}
	}
	if _, err := time.Parse(time.DateOnly, ig.Until); ig.Until != "" && err != nil {
		k.fail(at+".until", "%q is not a date like 2030-01-31", ig.Until)
	}
}

// oneOf refuses a word that is none of a list. An empty one was not given.
func (k *checker) oneOf(at, word string, list []string) {
	if word != "" && !slices.Contains(list, word) {
		k.fail(at, "%q: want one of %s", word, strings.Join(list, ", "))
	}
}

// quoted makes a name a step of a path, whatever it holds.
func quoted(name string) string { return "'" + strings.ReplaceAll(name, "'", `\'`) + "'" }

// fail notes a mistake at a place of the file.
func (k *checker) fail(at, format string, args ...any) {
	if k.err != nil {
		return
	}
	message := fmt.Sprintf(format, args...)
	if n := k.node(at); n != nil {
		k.err = located(n, message)
		return
	}
	k.err = fmt.Errorf("%s: %s", strings.TrimPrefix(at, "$."), message)
}

func (k *checker) node(at string) ast.Node {
	p, err := yaml.PathString(at)
	if err != nil {
		return nil
	}
	n, err := p.FilterFile(k.file)
	if err != nil {
		return nil
	}
	return n
}

func (k *checker) line(at string) int {
	n := k.node(at)
	if n == nil {
		return 0
	}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 { // its own token is a colon or a brace
		n = m.Values[0].Key
	}
	return n.GetToken().Position.Line
}
