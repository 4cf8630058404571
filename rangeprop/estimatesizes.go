package rangeprop

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/pattern"
)

// supposed returns sizes that the dimensions of a graph's values have where the model does what it was
// made for. Operators demand sizes: a Squeeze that the axis it drops is 1, a product that its factors match. A
// network that was trained on pieces of one length often leaves that length open in the file, and of what it
// learnt for the borders of a piece nothing would be seen in a piece without end. A demand inside of a branch
// is one only if the branch runs; which it was written for.
func (p *pass) supposed(g *graph.Graph) *infer.Supposition {
	if s := p.sizes[g]; s != nil {
		return s
	}
	s := Supposed(p.info, g)
	p.sizes[g] = s
	return s
}

// Supposed returns the sizes that what the nodes of a graph and those around it demand gives open dimensions.
func Supposed(info *infer.Info, g *graph.Graph) *infer.Supposition {
	s := info.Suppose()
	for at := g; at != nil; at = at.Outer() {
		demands(s, at)
	}
	return s
}

// demands supposes what the nodes of a graph demand, and those of all below it.
func demands(s *infer.Supposition, g *graph.Graph) {
	for _, n := range g.Nodes {
		demand(s, n)
		for _, below := range n.Subgraphs() {
			demands(s, below)
		}
	}
}

// demand lets the dimensions that a node reads be what it demands.
func demand(s *infer.Supposition, n *graph.Node) {
	c := &call{n: n}
	x, y := c.shape(0), c.shape(1)
	switch n.OpName() {
	case "Squeeze":
		axes, _, _ := pattern.Axes(n)
		for _, a := range axes {
			if a >= 0 && a < len(x) {
				s.Let(x[a], 1)
			}
		}
	case "Add", "Sub", "Mul", "Div", "PRelu":
		alongside(s, x, y)
		alongside(s, y, x)
	case "MatMul", "Gemm":
		row := int(n.Int("transB", 0))
		if len(x) > 0 && len(y) == 2 && n.Int("transA", 0) == 0 && y[row&1].Known() {
			s.Let(x[len(x)-1], y[row&1].N)
		}
	}
}

// alongside lets the open dimensions of what meets a constant shape element by element be its own where that is more
// than 1: what is broadcast is mostly the parameter, and not what it is for.
func alongside(s *infer.Supposition, x, y graph.Shape) {
	for i := 1; i <= min(len(x), len(y)); i++ {
		if a, b := x[len(x)-i], y[len(y)-i]; !a.Known() && b.Known() && b.N > 1 {
			s.Let(a, b.N)
		}
	}
}

// sized returns the size of a dimension, or what it is supposed to be, -1 where it is open.
func (c *call) sized(d graph.Dim) int64 {
	if d.Known() || c.p.info == nil {
		return d.N
	}
	return c.p.supposed(c.n.Graph).Size(d)
}

// settled joins what an estimate keeps apart along axes of a size that is only supposed: operators that move
// elements go by the sizes of the shape.
func (m *moments) settled(s graph.Shape) *moments {
	keep, front := make([]bool, len(m.dims)), len(s)-len(m.dims)
	joins := false
	for i, d := range m.dims {
		keep[i] = d == 1 || front < 0 || s[front+i].Known()
		joins = joins || !keep[i]
	}
	if !joins {
		return m
	}
	return m.collapse(keep)
}
