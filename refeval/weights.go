package refeval

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval/kern"
)

// weights is a constant matrix laid out for the right side of products.
type weights struct {
	packed *kern.Packed
	turned bool // the matrix is the transpose of the tensor
}

// right returns the layout of a matrix, or of its transpose, nil if it has none.
func (t *Tensor) right(turned bool) *kern.Packed {
	if t.weights == nil || t.weights.turned != turned {
		return nil
	}
	return t.weights.packed
}

// pack lays out the constant that a node multiplies by, once for all nodes and runs. Sums that are
// rounded on their way need it as it is.
func (p *planner) pack(s *step) {
	turned, ok := packs(s.node)
	if !ok || len(s.in) < 2 || s.in[1].con == nil || p.r.opt.Accumulate != FP32 {
		return
	}
	t := s.in[1].con.Tensor
	if t == nil || t.F == nil || t.Rank() != 2 || t.Len() == 0 {
		return
	}
	if t.weights == nil {
		k, n, m := t.Dims[0], t.Dims[1], kern.Rows(t.F, t.Dims[1])
		if turned {
			k, n, m = n, k, m.Transpose()
		}
		t.weights = &weights{packed: kern.Pack(m, k, n), turned: turned}
	}
	if t.weights.turned == turned {
		p.uses[t]--
	}
}

// packs tells whether the second input of a node is the right side of a product, and whether the
// node transposes it.
func packs(n *graph.Node) (turned, ok bool) {
	switch n.OpName() {
	case "MatMul":
		return false, true
	case "Gemm", "com.microsoft.FusedGemm":
		a := n.Attr("transB")
		return a != nil && a.I != 0, true
	}
	return false, false
}

// thin drops the elements of constants that are only ever read in another layout, which else would
// be in memory twice.
func (p *planner) thin() {
	if p.r.opt.Observe != nil {
		return
	}
	for _, c := range p.r.constants {
		if n, ok := p.uses[c.t]; ok && n == 0 && c.t.weights != nil {
			c.t.F = nil
		}
	}
}
