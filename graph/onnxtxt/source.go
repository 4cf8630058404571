package onnxtxt

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/amplint/amplint/graph"
)

// Source tells where the nodes of a parsed model stand in its text. Nodes that are added later
// have no place; instances of a function's nodes have that of the function.
type Source struct {
	text
	nodes map[*graph.Node]int
}

func newSource(t text, ast *modelAST, m *graph.Model) *Source {
	s := &Source{text: t, nodes: map[*graph.Node]int{}}
	s.graph(ast.graph, m.Graph)
	for i, f := range ast.functions {
		s.graph(f.body, m.Functions[i].Body)
	}
	return s
}

// graph pairs nodes by an output, since linking may have sorted them; those without outputs are
// paired by operator in the order they stand.
func (s *Source) graph(ast *graphAST, g *graph.Graph) {
	silent := map[string][]*graph.Node{}
	for _, n := range g.Nodes {
		if noOutputs(n) {
			silent[n.Op] = append(silent[n.Op], n)
		}
	}
	for _, a := range ast.nodes {
		n := findNode(a, g)
		if list := silent[a.op]; n == nil && len(list) > 0 {
			n, silent[a.op] = list[0], list[1:]
		}
		if n == nil {
			continue
		}
		s.nodes[n] = a.pos
		for i, attr := range a.attrs {
			s.attr(attr, n.Attrs[i])
		}
	}
}

func (s *Source) attr(ast *attrAST, a *graph.Attr) {
	for i, g := range ast.graphs {
		switch {
		case a.Graph != nil:
			s.graph(g, a.Graph)
		case i < len(a.Graphs):
			s.graph(g, a.Graphs[i])
		}
	}
}

func findNode(a *nodeAST, g *graph.Graph) *graph.Node {
	for _, id := range a.outputs {
		if v := g.Lookup(id.name); id.name != "" && v != nil {
			return v.Producer
		}
	}
	return nil
}

func noOutputs(n *graph.Node) bool {
	for _, v := range n.Outputs {
		if v != nil {
			return false
		}
	}
	return true
}

// Position returns the line and the column, from 1, at which a node begins. ok is false for nodes
// that are not of the text.
func (s *Source) Position(n *graph.Node) (line, col int, ok bool) {
	pos, ok := s.nodes[n]
	if !ok && n.Origin != nil {
		pos, ok = s.nodes[n.Origin]
	}
	if !ok {
		return 0, 0, false
	}
	line, col = s.place(pos)
	return line, col, true
}

// Line returns the text of a line, from 1, without its end; "" where there is no such line.
func (s *Source) Line(line int) string {
	lines := strings.SplitN(s.src, "\n", line+1)
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSuffix(lines[line-1], "\r")
}

// Ext is the extension of text models.
const Ext = ".onnxtxt"

// Open reads the text model of a file. External data lies in the folder of the file.
func Open(path string) (*graph.Model, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, _, err := parseIn(path, src, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	m.Path = path
	return m, nil
}

// IsText tells whether a path names a text model.
func IsText(path string) bool { return filepath.Ext(path) == Ext }
