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

// rightSide returns the constant that is the right side of a node's product, laid out for it once
// for all runs, nil if v is none. Sums that are rounded on their way need it as it is.
func (p *planner) rightSide(n *graph.Node, i int, v *graph.Value) (*Value, error) {
	turned, ok := packs(n)
	if !ok || i != 1 || !p.fixed(v) || v.Sparse != nil || p.r.opt.Accumulate != FP32 {
		return nil, nil
	}
	k, shared := p.r.opt.sharedKey(v, false)
	whole := shared && p.r.opt.Shared.whole[k] != nil
	if len(v.Uses) == 1 && !v.Output && !p.r.opt.shows(v) && p.consts[slotKey{v: v}] == nil && !whole {
		return p.packedOnly(v, turned)
	}
	c, err := p.constant(v, false)
	if err == nil && packable(c.Tensor) && c.Tensor.weights == nil {
		c.Tensor.weights = p.lay(v, c.Tensor, turned)
	}
	return c, err
}

// packedOnly reads a constant that nothing else needs, of which no other copy stays in memory.
func (p *planner) packedOnly(v *graph.Value, turned bool) (*Value, error) {
	k, ok := p.r.opt.sharedKey(v, false)
	k.turned = turned
	if w := p.r.opt.Shared.laidOut(k); ok && w != nil {
		t := p.r.opt.Shared.packed[k]
		return p.keep(v, &Tensor{Elem: t.Elem, Dims: t.Dims, weights: w}), nil
	}
	g := v.Init
	if g == nil {
		g = v.Const
	}
	t, err := fromGraph(g, p.scratch)
	if err != nil {
		return nil, err
	}
	if !packable(t) {
		return p.constant(v, false)
	}
	p.scratch = t.F
	if p.r.opt.rounds(v, t.Elem) {
		p.r.opt.round(serial(), v, t)
	}
	t.weights, t.F = p.lay(v, t, turned), nil
	return p.keep(v, t), nil
}

// keep holds a constant for the runner.
func (p *planner) keep(v *graph.Value, t *Tensor) *Value {
	p.r.constants = append(p.r.constants, constant{v, t})
	c := TensorValue(t)
	p.consts[slotKey{v: v}] = c
	return c
}

func packable(t *Tensor) bool { return t != nil && len(t.F) > 0 && t.Rank() == 2 }

// layOut lays out a matrix, or its transpose.
func layOut(t *Tensor, turned bool) *weights {
	k, n, m := t.Dims[0], t.Dims[1], kern.Rows(t.F, t.Dims[1])
	if turned {
		k, n, m = n, k, m.Transpose()
	}
	return &weights{packed: kern.Pack(m, k, n), turned: turned}
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
