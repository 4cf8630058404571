package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
)

// dumpOptions are the flags of dump.
type dumpOptions struct {
	summary bool
	format  string
	around  string
	depth   int
	max     int64
}

func (o *dumpOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&o.summary, "summary", false, "versions, operators, sizes, inputs and outputs; reads no weights")
	f.StringVar(&o.format, "format", "text", "text or json; json with --summary only")
	f.StringVar(&o.around, "around", "", "only the neighbourhood of a `node`, as a model of its own; named by its key, its name or an output")
	f.IntVar(&o.depth, "depth", 2, "edges that --around follows up and down")
	f.Int64Var(&o.max, "max-elements", 16, "elide longer constants, 0 none")
}

func (o *dumpOptions) check() error {
	switch {
	case o.format != "text" && o.format != "json":
		return usagef("unknown format %q: text and json are known", o.format)
	case o.format == "json" && !o.summary:
		return usagef("--format json needs --summary: a model is written as text")
	case o.summary && o.around != "":
		return usagef("--summary and --around exclude each other")
	case o.depth < 0:
		return usagef("--depth %d: 0 or more is meant", o.depth)
	case o.max < 0:
		return usagef("--max-elements %d: 0 or more is meant", o.max)
	}
	return nil
}

// dumpText writes the model in the textual syntax.
func (a *app) dumpText(path string, o *dumpOptions) error {
	m, err := analyze.Open(path)
	if err != nil {
		return err
	}
	defer m.Close()
	return onnxtxt.Print(a.out, m, onnxtxt.PrintOptions{MaxElements: o.max})
}

// findNode finds a node by its key or else by a name that no other node has, its own or that of
// an output.
func findNode(m *graph.Model, name string) (*graph.Node, error) {
	var found []*graph.Node
	for n := range m.Nodes() {
		if n.Key() == name {
			return n, nil
		}
		if n.Name == name || makes(n, name) {
			found = append(found, n)
		}
	}
	switch len(found) {
	case 0:
		return nil, usagef("no node %q: a node is named by its key, its name or an output", name)
	case 1:
		return found[0], nil
	}
	keys := make([]string, 0, len(found))
	for _, n := range found[:min(len(found), 5)] {
		keys = append(keys, n.Key())
	}
	return nil, usagef("%d nodes are named %q: give a key such as %s", len(found), name, strings.Join(keys, ", "))
}

func makes(n *graph.Node, value string) bool {
	for _, v := range n.Outputs {
		if v != nil && v.Name == value {
			return true
		}
	}
	return false
}
