package rangeprop

import (
	"github.com/amplint/amplint/graph"
)

// digest is what one pass over the elements of a constant matrix collects for the product that it
// is a factor of. Bounds, balls and estimates each take a share; read one by one they would cost the
// time of an analysis over again.
type digest struct {
	t       *graph.Tensor
	flip    bool // rows of the stored matrix make elements of the result
	dots    *dots
	mapping *mapping
	moments *moments
}

// read makes the digest of the node's right factor where that is a constant matrix too large to be
// kept element by element. The constant's own bounds are taken in the same pass.
func (c *call) read(i int, v *graph.Value) {
	switch {
	case i != 1 || c.p.moving[v] || c.n.In(0) == nil || !c.multiplies():
		return
	case c.n.Int("transA", 0)+c.n.Int("transBatchA", 0)+c.n.Int("transBatchB", 0) != 0:
		return
	}
	t, flip, ok := c.p.weight(v)
	if !ok || len(t.Dims) != 2 || t.Len() <= maxKept {
		return
	}
	a := c.operand(0, false)
	if a.t != nil {
		return
	}
	r := &digest{t: t, flip: flip != (c.n.Int("transB", 0) != 0)}
	var s *scan
	var visit []visitor
	if c.p.memo.constant(t) == nil {
		if s = newScan(t); s != nil {
			visit = append(visit, s.add)
		}
	}
	visit = append(visit, r.visitors(c, a)...)
	if len(visit) > 0 && c.p.memo.stream(t, int(t.Dims[1]), visit...) != nil {
		return
	}
	c.digest = r
	if s != nil {
		c.p.memo.keep(t, s.finish())
	}
}

// multiplies tells whether the node is a product with a bound of its own for a constant factor.
func (c *call) multiplies() bool {
	switch c.n.OpName() {
	case "MatMul", "Gemm", "com.microsoft.FusedMatMul":
		return true
	}
	return false
}

// sizes returns how many elements the matrix sums over and how many it makes.
func (r *digest) sizes() (rows, cols int) {
	if r.flip {
		return int(r.t.Dims[1]), int(r.t.Dims[0])
	}
	return int(r.t.Dims[0]), int(r.t.Dims[1])
}

// visitors returns what takes the elements.
func (r *digest) visitors(c *call, a operand) []visitor {
	rows, cols := r.sizes()
	lo, hi := vector(a.v, rows, false)
	r.dots = newDots(cols, a.v.shares.axis == 1)
	var list []visitor
	if r.flip || !r.dots.unbounded(lo, hi, c.p.memo.constant(r.t)) {
		list = append(list, r.dots.visitor(lo, hi, r.flip))
	}
	if x := c.mapped(r.t, rows); x != nil {
		r.mapping = newMapping(x, rows, cols, r.flip)
		list = append(list, r.mapping.add)
	}
	if !c.p.opt.NoMoments {
		var v visitor
		r.moments, v = productOf(c.mom(0), rows, cols, r.flip)
		list = append(list, v)
	}
	return list
}

// of tells whether the digest is that of a matrix, so lying.
func (r *digest) of(t *graph.Tensor, flip bool) bool { return r != nil && r.t == t && r.flip == flip }
