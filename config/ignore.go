package config

import (
	"fmt"
	"path"
	"strings"
	"time"
)

// Ignore silences findings that were looked at and found harmless. Rule, Node and Value are globs;
// an empty one matches everything.
type Ignore struct {
	Rule   string `yaml:"rule"`
	Node   string `yaml:"node"`
	Value  string `yaml:"value"`
	Reason string `yaml:"reason"`
	Until  string `yaml:"until"` // a date; from then on the finding is reported again

	Line int `yaml:"-"` // in the file
}

// Matches tells whether an entry speaks of a finding: its rule and the keys of its node and value.
func (ig *Ignore) Matches(rule, node, value string) bool {
	return Glob(ig.Rule, rule) && Glob(ig.Node, node) && Glob(ig.Value, value)
}

// Glob matches a whole name. A pattern that ends in /* takes everything below it, since the keys
// of nodes in subgraphs are paths.
func Glob(pattern, name string) bool {
	if pattern == "" || pattern == "*" {
		return true
	}
	if n := len(pattern) - 1; pattern[n] == '*' && n > 0 && pattern[n-1] == '/' && len(name) > n && name[:n] == pattern[:n] {
		return true
	}
	ok, _ := path.Match(pattern, name)
	return ok
}

// Lapsed tells whether an entry is no longer in force.
func (ig *Ignore) Lapsed(now time.Time) bool {
	day, err := time.Parse(time.DateOnly, ig.Until)
	return ig.Until != "" && err == nil && !now.Before(day)
}

// String names an entry by its line and what it matches.
func (ig *Ignore) String() string {
	var keys []string
	for _, k := range [][2]string{{"rule", ig.Rule}, {"node", ig.Node}, {"value", ig.Value}} {
		if k[1] != "" {
			keys = append(keys, fmt.Sprintf("%s %q", k[0], k[1]))
		}
	}
	return fmt.Sprintf("line %d: ignore %s", ig.Line, strings.Join(keys, ", "))
}
