package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

func matmulOps() map[string]op {
	return map[string]op{
		"MatMul": rounded(matmulOp), "Gemm": rounded(gemmOp), "Einsum": rounded(einsumOp),
		"MatMulInteger": rounded(matmulIntegerOp), "QLinearMatMul": rounded(typeRange),
		"com.microsoft.FusedMatMul": rounded(fusedMatMulOp), "com.microsoft.FusedMatMulActivation": rounded(fusedActivationOp), "com.microsoft.Inverse": rounded(anyOf), "com.microsoft.TransposeMatMul": rounded(fusedMatMulOp),
		"com.microsoft.FusedGemm":            rounded(fusedGemmOp),
		"com.microsoft.MatMulNBits":          rounded(matMulNBitsOp),
		"com.microsoft.MatMulIntegerToFloat": rounded(anyOf), "com.microsoft.DynamicQuantizeMatMul": rounded(dynamicQuantizeMatMulOp),
		"com.microsoft.QGemm": rounded(anyOf),
	}
}

// anyOf is a product whose factors are not followed.
func anyOf(c *call) *Val {
	v := c.within(all)
	v.nan, v.posInf, v.negInf = true, true, true
	return v
}

// typeRange is an integer result that may be anything of its type.
func typeRange(c *call) *Val { return c.within(all) }

// factor is an operand of a matrix product: a computed value, or a constant whose elements are
// streamed.
type operand struct {
	v     *Val
	t     *graph.Tensor // a constant matrix, nil for computed values
	trans bool          // of the last two axes
	shape graph.Shape
	held  float64 // relative error of the constants where they are held low
}

func (c *call) operand(i int, trans bool) operand {
	o := operand{trans: trans, shape: c.shape(i)}
	if v := c.n.In(i); v != nil {
		if t, flip, ok := c.p.weight(v); ok && len(t.Dims) == 2 && t.Len() > maxKept {
			o.t, o.trans = t, trans != flip
			o.held = c.p.weightUnit(v)
			return o
		}
	}
	v, ok := c.full(i)
	if !ok {
		o.v = v.flat()
		return o
	}
	o.v, o.trans = v, false
	return o.transposed(trans)
}

// weight finds the constant behind a value: itself, or what a transposition or a widening cast of
// a constant hands on, or what scales make of one in 8 bits. flip tells that its two axes are exchanged.
func (p *pass) weight(v *graph.Value) (t *graph.Tensor, flip, ok bool) {
	if t, flip, ok = p.whole(v); ok {
		return t, flip, ok
	}
	if v, flip = p.carried(v); v != nil {
		t, _ = p.dequantized(v)
	}
	return t, flip, t != nil
}

// whole is weight for constants that are stored as they are used.
func (p *pass) whole(v *graph.Value) (t *graph.Tensor, flip, ok bool) {
	if v, flip = p.carried(v); v != nil && v.Const != nil {
		return v.Const, flip, true
	}
	return nil, false, false
}

// weightUnit is how far the weights that a run multiplies by may be from those that weight finds, relative to their
// size.
func (p *pass) weightUnit(v *graph.Value) float64 {
	from, _ := p.carried(v)
	if from == nil || from.Const != nil {
		return p.heldUnit(v)
	}
	_, held := p.dequantized(from)
	if v != from {
		held += p.heldUnit(v)
	}
	return held
}

// carried follows a value back through what hands a constant on, to the constant or to what else makes
// it; nil where an initializer that may move is met.
func (p *pass) carried(v *graph.Value) (from *graph.Value, flip bool) {
	for depth := 0; v != nil && depth < 8 && !p.moving[v]; depth++ {
		n := v.Producer
		if v.Const != nil || n == nil || n.Domain != "" || n.In(0) == nil {
			return v, flip
		}
		switch n.Op {
		case "Identity":
		case "Cast":
			if n.In(0).Type.Elem.Bits() > graph.ElemType(n.Int("to", 0)).Bits() || !n.In(0).Type.Elem.IsFloat() {
				return v, flip
			}
		case "Transpose":
			perm := n.Ints("perm")
			if len(n.In(0).Type.Shape) != 2 || len(perm) == 2 && perm[0] == 0 {
				return v, flip
			}
			flip = !flip
		default:
			return v, flip
		}
		v = n.In(0)
	}
	return nil, false
}

// heldUnit is the relative rounding error of a constant that will be held in a lower format.
func (p *pass) heldUnit(v *graph.Value) float64 {
	if p.opt.Hold == nil {
		return 0
	}
	f := p.opt.Hold(v)
	if own, _ := held(v.Type.Elem); f == 0 || f == own {
		return 0
	}
	return f.Unit()
}

func matmulOp(c *call) *Val {
	return c.logits(c.matmul(c.operand(0, false), c.operand(1, false)), false)
}

func fusedMatMulOp(c *call) *Val {
	a, b := c.n.Int("transA", 0) != 0, c.n.Int("transB", 0) != 0
	if c.n.Int("transBatchA", 0) != 0 || c.n.Int("transBatchB", 0) != 0 {
		v := c.matmul(c.batched(0, c.n.Int("transBatchA", 0) != 0).transposed(a), c.batched(1, c.n.Int("transBatchB", 0) != 0).transposed(b))
		return scaled(v, float64(c.n.Float("alpha", 1)))
	}
	v := c.matmul(c.operand(0, a), c.operand(1, b))
	if !a {
		v = c.logits(v, b)
	}
	return scaled(v, float64(c.n.Float("alpha", 1)))
}

// fusedActivationOp applies the activation that the node names.
func fusedActivationOp(c *call) *Val {
	return c.activate(fusedMatMulOp(c), c.n.Str("activation", ""), float64(c.n.Float("activation_alpha", 0)))
}

// batched moves the first axis of an operand behind its batch axes.
func (c *call) batched(i int, move bool) operand {
	o := operand{shape: c.shape(i)}
	var ok bool
	if o.v, ok = c.full(i); !ok {
		o.v, o.shape = o.v.flat(), nil
		return o
	}
	if n := len(o.shape); move && n > 2 {
		var perm []int64
		for k := 1; k < n-1; k++ {
			perm = append(perm, int64(k))
		}
		o = o.permuted(append(perm, 0, int64(n-1)))
	}
	return o
}

func (o operand) permuted(perm []int64) operand {
	s := make(graph.Shape, len(perm))
	for k, p := range perm {
		s[k] = o.shape[p]
	}
	return operand{v: transpose(o.v, perm), shape: s}
}

// transposed exchanges the last two axes.
func (o operand) transposed(on bool) operand {
	n := len(o.shape)
	if !on || n < 2 {
		return o
	}
	perm := make([]int64, n)
	for k := range perm {
		perm[k] = int64(k)
	}
	perm[n-1], perm[n-2] = perm[n-2], perm[n-1]
	return o.permuted(perm)
}

func scaled(v *Val, k float64) *Val {
	if k == 1 {
		return v
	}
	w := map1flags(v, func(x Range) Range { return x.scale(k) })
	w.integer, w.nan = false, v.nan || k == 0 && v.special()
	return w
}

// gemmOp is alpha·A·B + beta·C.
func gemmOp(c *call) *Val {
	v := c.matmul(c.operand(0, c.n.Int("transA", 0) != 0), c.operand(1, c.n.Int("transB", 0) != 0))
	if c.n.Int("transA", 0) == 0 {
		v = c.logits(v, c.n.Int("transB", 0) != 0)
	}
	v = c.mid(scaled(c.mid(v), float64(c.n.Float("alpha", 1))))
	if c.has(2) {
		v = plus(v, c.mid(scaled(c.in[2], float64(c.n.Float("beta", 1)))))
	}
	return v
}

func fusedGemmOp(c *call) *Val {
	v := gemmOp(c)
	return c.activate(v, c.n.Str("activation", ""), float64(c.n.Float("activation_alpha", 0)))
}

func gemmFastGeluOp(c *call) *Val {
	v := c.matmul(c.operand(0, false), c.operand(1, false))
	if c.has(2) {
		v = plus(v, c.in[2])
	}
	return gate(v, geluTanh, geluTanhLeast)
}

func dynamicQuantizeMatMulOp(c *call) *Val {
	return anyOf(c) // NaN where the scale of small numbers vanishes
}

// matmulIntegerOp multiplies integers less their zero points; the sums wrap as int32.
func matmulIntegerOp(c *call) *Val {
	a, b := c.operand(0, false), c.operand(1, false)
	if a.t != nil {
		a = operand{v: c.x(0).flat(), shape: a.shape}
	}
	if b.t != nil {
		b = operand{v: c.x(1).flat(), shape: b.shape}
	}
	a.v, b.v = c.lessZero(a.v, 2), c.lessZero(b.v, 3)
	return c.matmul(a, b)
}

// lessZero takes the zero point, an input that may be left out, from integers.
func (c *call) lessZero(v *Val, i int) *Val {
	if !c.has(i) {
		return v
	}
	return plus(v.flat(), negative(c.in[i].flat()))
}

// matmul bounds a matrix product: every output is a sum of products of bounds.
func (c *call) matmul(a, b operand) *Val {
	var v *Val
	switch {
	case b.t != nil && a.t == nil:
		v = c.byConstant(a, b, false)
	case a.t != nil && b.t == nil:
		v = c.byConstant(b, a, true)
	case a.t != nil:
		a.v = c.p.constant(a.t)
		if a.trans {
			a.v = a.v.flat()
		}
		v = c.byConstant(a, b, false)
	default:
		v = c.mixed(c.general(a, b), a, b, c.depthOf(a, b))
	}
	return v
}

// depthOf is the greatest number of products in a sum.
func (c *call) depthOf(a, b operand) float64 {
	if len(a.shape) == 0 || len(b.shape) == 0 {
		return math.Inf(1)
	}
	return c.depth(a.shape, b.shape).Hi
}

// byConstant multiplies by a constant matrix, each weight at its own extreme of x. left tells that
// the constant stands on the left, which is the transposed problem.
func (c *call) byConstant(x, w operand, left bool) *Val {
	rows, cols := int(w.t.Dims[0]), int(w.t.Dims[1])
	if w.trans != left { // what is summed over runs along the columns of the stored matrix
		rows, cols = cols, rows
	}
	acc, err := c.dots(x, w, left, rows, cols)
	if err != nil {
		return anyOf(c)
	}
	v := acc.val(float64(rows), w.held, c.accumLimit())
	if s := x.v.shares; !left && s.axis == 1 {
		v = v.meet(s.mean(acc.column(), 0, float64(rows), c.p.unit(c.n.Out(0))+w.held))
	}
	v.rest(x.v)
	v.nan = v.nan || x.v.nan || x.v.special()
	if left {
		v.dims = []int{cols, 1}
	}
	if len(x.v.dims) == 1 && !left || left && x.shape != nil && len(x.shape) == 1 {
		v.dims = []int{cols}
	}
	return v
}

// dots sums the products of bounds with a constant matrix, where the one pass over it has not.
func (c *call) dots(x, w operand, left bool, rows, cols int) (*dots, error) {
	if !left && c.digest.of(w.t, w.trans) {
		return c.digest.dots, nil
	}
	lo, hi := vector(x.v, rows, left)
	acc := newDots(cols, x.v.shares.axis == 1)
	return acc, acc.product(w.t, lo, hi, w.trans != left)
}

// vector returns bounds along the axis that is summed over, n of them.
func vector(v *Val, n int, left bool) (lo, hi []float64) {
	keep := make([]bool, len(v.dims))
	axis := len(v.dims) - 1
	if left && axis > 0 {
		axis--
	}
	if axis >= 0 {
		keep[axis] = true
	}
	v = v.collapse(keep)
	if len(v.lo) == n {
		return v.lo, v.hi
	}
	h := v.Hull()
	lo, hi = make([]float64, n), make([]float64, n)
	for i := range lo {
		lo[i], hi[i] = h.Lo, h.Hi
	}
	return lo, hi
}

// val returns the bounds, widened by the rounding of n additions and of the constants, and by the
// overflow of the limit of the sums.
func (d *dots) val(n, held, limit float64) *Val {
	v := &Val{dims: []int{len(d.lo)}, lo: d.lo, hi: d.hi, basis: Constant}
	for j := range d.lo {
		e := sumError(n, math.Abs(d.total[j]))*1.001 + product(held, math.Abs(d.total[j]))
		if math.IsNaN(e) || math.IsInf(e, 0) {
			e = 0
		}
		if math.IsNaN(v.lo[j]) {
			v.lo[j] = math.Inf(-1)
		}
		if math.IsNaN(v.hi[j]) {
			v.hi[j] = math.Inf(1)
		}
		r := overflowing(v.at(j), all, math.Abs(d.total[j]), limit)
		v.lo[j], v.hi[j] = r.Lo-e, r.Hi+e
	}
	return v.torn()
}

// maxWork bounds the products computed for one matrix product of bounds.
const maxWork = 1 << 21

// general multiplies two values of bounds.
func (c *call) general(a, b operand) *Val {
	x, y := a.v, b.v
	if len(x.lo) == 0 || len(y.lo) == 0 { // a sum of no products
		v := scalar(Range{})
		v.rest(x)
		v.rest(y)
		return v
	}
	if a.shape == nil || b.shape == nil || len(a.shape) == 0 || len(b.shape) == 0 {
		x, y = x.flat(), y.flat()
		v := zip(x, y, func(p, q Range) Range { return mul(mul(p, q), Range{1, math.Inf(1)}) })
		v.nan = v.nan || x.special() || y.special()
		return v
	}
	x, y = x.with(pad(x.dims, len(a.shape)), x.lo, x.hi), y.with(pad(y.dims, len(b.shape)), y.lo, y.hi)
	if len(a.shape) == 1 {
		x = x.with([]int{1, x.dims[0]}, x.lo, x.hi)
	}
	if len(b.shape) == 1 {
		y = y.with([]int{y.dims[0], 1}, y.lo, y.hi)
	}
	x, y = c.shrink(x, y)
	k := c.depth(a.shape, b.shape)
	v := contract(x, y, k, c.accumLimit())
	v.rest(b.v)
	v.nan = v.nan || a.v.special() || b.v.special() || a.v.nan || b.v.nan
	v.integer = a.v.integer && b.v.integer
	switch n := len(v.dims); {
	case len(a.shape) == 1 && len(b.shape) == 1:
		v.dims = v.dims[:n-2]
	case len(a.shape) == 1:
		v.dims = append(append([]int{}, v.dims[:n-2]...), v.dims[n-1])
	case len(b.shape) == 1:
		v.dims = v.dims[:n-1]
	}
	return v
}

// depth bounds the number of products in a sum.
func (c *call) depth(a, b graph.Shape) Range {
	d := a[len(a)-1]
	if !d.Known() && len(b) > 1 && b[len(b)-2].Known() {
		d = b[len(b)-2]
	} else if !d.Known() && len(b) == 1 && b[0].Known() {
		d = b[0]
	}
	if d.Known() {
		return Range{float64(d.N), float64(d.N)}
	}
	lo, hi := c.p.bounds(d)
	if hi < 0 {
		return Range{math.Max(float64(lo), 1), math.Inf(1)}
	}
	return Range{math.Max(float64(lo), 1), float64(hi)}
}

// bounds returns the least and greatest size of a dimension, -1 where there is none.
func (p *pass) bounds(d graph.Dim) (lo, hi int64) {
	if d.Known() || p.info == nil {
		return d.N, d.N
	}
	return p.info.Bounds(d)
}

// shrink joins rows, then columns, then batches, until the products are few enough.
func (c *call) shrink(x, y *Val) (*Val, *Val) {
	work := func() int { return countUpTo([]int{len(x.lo), len(y.lo)}, maxWork) }
	if work() > maxWork {
		x = x.joinAxis(len(x.dims) - 2)
	}
	for i := 0; i < len(x.dims)-2 && work() > maxWork; i++ {
		x = x.joinAxis(i)
	}
	for i := 0; i < len(y.dims)-2 && work() > maxWork; i++ {
		y = y.joinAxis(i)
	}
	if work() > maxWork {
		y = y.joinAxis(len(y.dims) - 1)
	}
	return x, y
}

// contract multiplies matrices of bounds. Where an axis of the sum is one bound in both, it counts
// k times.
func contract(x, y *Val, k Range, limit float64) *Val {
	rank := max(len(x.dims), len(y.dims))
	xd, yd := pad(x.dims, rank), pad(y.dims, rank)
	n := max(xd[rank-1], yd[rank-2])
	if xd[rank-1] != yd[rank-2] && xd[rank-1] != 1 && yd[rank-2] != 1 {
		return contract(x.flat().with([]int{1, 1}, x.flat().lo, x.flat().hi), y.flat().with([]int{1, 1}, y.flat().lo, y.flat().hi), k, limit)
	}
	if n > 1 {
		k = Range{1, 1}
	}
	dims := make([]int, rank)
	xs, ys := strides(xd), strides(yd)
	sx, sy := xs[rank-1], ys[rank-2]
	xs[rank-1], ys[rank-2] = 0, 0
	for i := range dims[:rank-2] {
		if dims[i] = max(xd[i], yd[i]); xd[i] != yd[i] && xd[i] != 1 && yd[i] != 1 {
			return anything(nil).constantly()
		}
	}
	dims[rank-2], dims[rank-1] = xd[rank-2], yd[rank-1]
	out := x.like(dims)
	walk(dims, [][]int{xs, ys}, func(i int, at []int) {
		r, terms, total := Range{}, Range{}, 0.0
		for j := range n {
			p, q := x.at(at[0]+j*sx), y.at(at[1]+j*sy)
			t := mul(p, q)
			r, terms = add(r, t), terms.join(t)
			total += product(p.MaxAbs(), q.MaxAbs())
		}
		r = mul(r, k)
		e := sumError(float64(n)*k.Hi, product(total, k.Hi))
		if math.IsNaN(e) || math.IsInf(e, 0) {
			e = 0
		}
		r = overflowing(r, terms, product(total, k.Hi), limit)
		w := ofOneSign(Range{r.Lo - e, r.Hi + e}, r, terms, float64(n)*k.Hi)
		out.lo[i], out.hi[i] = w.Lo, w.Hi
	})
	return out.torn()
}
