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
	moments *sums
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
	var list []gatherer
	if c.p.memo.constant(t) == nil {
		if s = newScan(t); s != nil {
			list = append(list, s)
		}
	}
	lo, hi := vector(a.v, r.rows(), false)
	list = append(list, r.gatherers(c, a, lo, hi)...)
	if len(list) > 0 && c.p.memo.gather(t, int(t.Dims[1]), list...) != nil {
		return
	}
	c.digest = r
	if s != nil {
		c.p.memo.keep(t, s.finish())
	}
	if len(list) > 0 {
		c.p.memo.keepProducts(factor{t, r.flip}, lo, hi, r.dots)
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

func (r *digest) rows() int { rows, _ := r.sizes(); return rows }

// gatherers returns what takes the elements.
func (r *digest) gatherers(c *call, a operand, lo, hi []float64) []gatherer {
	rows, cols := r.sizes()
	r.dots = newDots(cols, a.v.shares.axis == 1)
	var list []gatherer
	if x := c.mapped(r.t, rows); x != nil {
		r.mapping = newMapping(x, rows, cols, r.flip, c.p.memo.norms)
		list = append(list, r.mapping)
	}
	if !c.p.opt.NoMoments {
		g := c.productOf(c.mom(0), rows, cols, r.flip)
		r.moments = g.sums
		list = append(list, g)
	}
	known := c.p.memo.constant(r.t)
	switch {
	case !r.flip && r.dots.unbounded(lo, hi, known):
		return list
	case len(list) == 0 && known != nil && r.dots.least == nil: // else it is read all the same
		if d := c.p.memo.product(factor{r.t, r.flip}, lo, hi); d != nil {
			r.dots = d
			return list
		}
	}
	return append(list, r.dots.gatherer(lo, hi, r.flip))
}

// of tells whether the digest is that of a matrix, so lying.
func (r *digest) of(t *graph.Tensor, flip bool) bool { return r != nil && r.t == t && r.flip == flip }
