package analyze

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/amplint/amplint/config"
	"github.com/amplint/amplint/graph"
)

// selector chooses nodes: by a glob of their keys, or by what its prefix says.
type selector struct {
	kind, text string
	re         *regexp.Regexp
}

// selectorKinds are the prefixes of a selector and what the text after them is held against.
var selectorKinds = []string{"node", "op", "value", "path", "re"}

// parseSelectors reads the values of --include or --exclude.
func parseSelectors(flag string, list []string) ([]selector, error) {
	var found []selector
	for _, s := range list {
		x := selector{kind: "node", text: s}
		if kind, text, ok := strings.Cut(s, ":"); ok && slices.Contains(selectorKinds, kind) {
			x.kind, x.text = kind, text
		}
		var err error
		if x.kind == "re" {
			x.re, err = regexp.Compile(x.text)
		} else {
			_, err = path.Match(x.text, "")
		}
		if err != nil {
			return nil, usagef("--%s: %q: %w", flag, s, err)
		}
		found = append(found, x)
	}
	return found, nil
}

// matches tells whether the node is one that the selector means. A value stands for its maker and
// its readers.
func (s selector) matches(n *graph.Node) bool {
	switch s.kind {
	case "op":
		return config.Glob(s.text, n.OpName())
	case "re":
		return s.re.MatchString(n.Key())
	case "path":
		scope := strings.Join(n.Graph.Path(), "/")
		return config.Glob(s.text, scope) || strings.HasPrefix(scope, s.text+"/")
	case "value":
		return slices.ContainsFunc(slices.Concat(n.Inputs, n.Outputs), func(v *graph.Value) bool {
			return v != nil && (config.Glob(s.text, v.Key()) || config.Glob(s.text, v.Name))
		})
	}
	return config.Glob(s.text, n.Key())
}

func anyMatches(list []selector, n *graph.Node) bool {
	return slices.ContainsFunc(list, func(s selector) bool { return s.matches(n) })
}

// left returns the function that tells which nodes are to stay as they are, nil where all may change.
// A selector that means no node is refused: it would let pass what it was to hold back.
func left(m *graph.Model, include, exclude []string) (func(*graph.Node) bool, error) {
	in, err := parseSelectors("include", include)
	if err != nil {
		return nil, err
	}
	out, err := parseSelectors("exclude", exclude)
	if err != nil || len(in)+len(out) == 0 {
		return nil, err
	}
	for i, s := range slices.Concat(in, out) {
		if !chooses(m, s) {
			return nil, usagef("--include, --exclude: %q means no node of %s", slices.Concat(include, exclude)[i], m.Path)
		}
	}
	return func(n *graph.Node) bool {
		return len(in) > 0 && len(n.Subgraphs()) == 0 && !anyMatches(in, n) || anyMatches(out, n)
	}, nil
}

func chooses(m *graph.Model, s selector) bool {
	for n := range m.Nodes() {
		if s.matches(n) {
			return true
		}
	}
	return false
}
