package pattern

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// epsilon is a value that was kept away from zero: by adding a constant, by a maximum with one, or
// by selecting one where it is zero.
type epsilon struct {
	of      *graph.Value // the value before
	eps     *graph.Value // the constant, nil where there is none
	value   float64
	max     bool
	shifted *graph.Value // the value after
}

// stripEps reads a value as one kept away from zero.
func (f *finder) stripEps(v *graph.Value) epsilon {
	v = f.shaped(v)
	e := epsilon{of: v, shifted: v}
	n := v.Producer
	if n == nil || v.Const != nil || n.Domain != "" {
		return e
	}
	switch n.Op {
	case "Add", "Sum", "Max":
		if len(n.Inputs) == 2 {
			e.pick(f, n.In(0), n.In(1), n.Op == "Max")
		}
	case "Sub": // x - (-ε)
		if c, ok := f.number1(f.orNil(n.In(1))); ok && c <= 0 {
			e.of, e.eps, e.value = f.shaped(n.In(0)), f.same(n.In(1)), -c
		}
	case "Clip":
		e.clip(f, n)
	case "Where":
		e.where(f, n)
	case "Relu":
		e.of, e.max = f.shaped(n.In(0)), true
	}
	return e
}

// pick takes the constant of two operands as ε.
func (e *epsilon) pick(f *finder, a, b *graph.Value, max bool) {
	if a == nil || b == nil {
		return
	}
	if _, ok := f.number1(f.same(a)); ok {
		a, b = b, a
	}
	if c, ok := f.number1(f.same(b)); ok && c >= 0 {
		e.of, e.eps, e.value, e.max = f.shaped(a), f.same(b), c, max
	}
}

func (e *epsilon) clip(f *finder, n *graph.Node) {
	low, high, ok := f.clipEnds(n)
	if n.In(0) == nil || !ok || high < math.MaxFloat32 || low < 0 {
		return
	}
	e.of, e.value, e.max = f.shaped(n.In(0)), low, true
	if b := n.In(1); b != nil {
		e.eps = f.same(b)
	}
}

// clipEnds returns the ends of a Clip, infinite where it has none; ok is false where one is no single number.
func (f *finder) clipEnds(n *graph.Node) (low, high float64, ok bool) {
	ends := [2]float64{math.Inf(-1), math.Inf(1)}
	for i, name := range []string{"min", "max"} {
		if a := n.Attr(name); a != nil {
			ends[i] = float64(a.F)
		}
		if b := n.In(i + 1); b != nil {
			if ends[i], ok = f.number1(f.same(b)); !ok {
				return 0, 0, false
			}
		}
	}
	return ends[0], ends[1], true
}

// where reads Where(w == 0, 1, w), Where(w > ε, w, ε) and the like: the constant is taken only
// where w lies below it.
func (e *epsilon) where(f *finder, n *graph.Node) {
	if n.In(0) == nil || n.In(1) == nil || n.In(2) == nil {
		return
	}
	w, c := f.shaped(n.In(1)), f.same(n.In(2))
	low, ok := f.number1(c)
	if !ok {
		w, c = f.shaped(n.In(2)), f.same(n.In(1))
		low, ok = f.number1(c)
	}
	cond := f.shaped(n.In(0)).Producer
	for cond != nil && cond.Op == "Not" {
		cond = f.shaped(cond.In(0)).Producer
	}
	if !ok || low < 0 || cond == nil || len(cond.Inputs) != 2 || cond.In(0) == nil || cond.In(1) == nil {
		return
	}
	switch cond.Op {
	case "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual":
	default:
		return
	}
	x, bound := f.shaped(cond.In(0)), f.same(cond.In(1))
	if limit, ok := f.number1(bound); x == w && ok && limit <= low {
		e.of, e.eps, e.value, e.max = w, c, low, true
	}
}

// floored looks through a maximum with zero.
func (f *finder) floored(v *graph.Value) *graph.Value {
	if e := f.stripEps(v); e.max && e.value == 0 {
		return e.of
	}
	return f.shaped(v)
}

// denominator is (coef · Σ numer² + ε)^(-1/2), read from a factor of a product.
type denominator struct {
	epsilon
	used     *graph.Value // the factor as it stands in the product
	sum      *reduction   // of the squares
	coef     float64      // of the sum; 0 for a mean over an unknown number
	mean     bool
	numer    *product     // whose squares are summed
	operand  *graph.Value // the value that is squared
	square   *graph.Value // nil where the reduction squares
	variance *graph.Value
	mid      *graph.Value // the mean whose square is subtracted (E[x²] - m²), else nil
	midCoef  float64      // the mean is that many times mid
	onRoot   bool
	floored  bool    // the variance was cut off at zero
	outer    float64 // a factor outside the root
}

// denominator reads a factor of a product as the reciprocal root of a sum of squares.
func (f *finder) denominator(g factor) (*denominator, bool) {
	base, pow, coef := f.expand(g)
	d := &denominator{used: g.base, outer: coef}
	switch pow {
	case 1: // Min(rsqrt(v), 1e6): never more than the root itself
		e := f.atMost(base)
		if e.of == nil {
			return nil, false
		}
		inner, ok := f.denominator(factor{e.of, 1})
		if !ok {
			return nil, false
		}
		inner.max = inner.max || inner.value == 0
		inner.used, inner.outer = g.base, inner.outer*coef
		return inner, true
	case -0.5:
		d.epsilon = f.stripEps(base)
		return d, f.squares(d, d.of)
	case -1:
		return d, f.beside(d, base)
	}
	return nil, false
}

// atMost reads Min(x, c), also as Where(x < c, x, c).
func (f *finder) atMost(v *graph.Value) epsilon {
	e, n := epsilon{}, v.Producer
	if n == nil || v.Const != nil || n.In(0) == nil || n.In(1) == nil && n.OpName() != "Clip" {
		return e
	}
	switch cond := f.shaped(n.In(0)).Producer; {
	case n.OpName() == "Min" && len(n.Inputs) == 2:
		e.pick(f, n.In(0), n.In(1), true)
	case n.OpName() == "Clip":
		if low, high, ok := f.clipEnds(n); ok && low <= 0 && high > 0 { // what is cut off above is no reciprocal
			e.of, e.value, e.max = f.shaped(n.In(0)), high, true
		}
	case n.OpName() != "Where" || n.In(2) == nil || cond == nil || len(cond.Inputs) != 2 || cond.In(0) == nil || cond.In(1) == nil:
	case (cond.OpName() == "Less" || cond.OpName() == "LessOrEqual") && f.same(cond.In(0)) == f.same(n.In(1)) && f.same(cond.In(1)) == f.same(n.In(2)):
		e.pick(f, n.In(1), n.In(2), true)
	case (cond.OpName() == "Greater" || cond.OpName() == "GreaterOrEqual") && f.same(cond.In(0)) == f.same(n.In(2)) && f.same(cond.In(1)) == f.same(n.In(1)):
		e.pick(f, n.In(1), n.In(2), true)
	}
	return e
}

// beside reads a denominator whose ε stands beside the root: std + ε, or Max(norm, ε).
func (f *finder) beside(d *denominator, base *graph.Value) bool {
	d.epsilon = f.stripEps(base)
	d.onRoot = true
	if r, ok := f.reduction(d.of); ok && r.op == "L2" {
		d.sum, d.coef, d.numer, d.operand, d.variance = r, 1, f.product(r.of), r.of, r.value
		return true
	}
	root, pow, coef := f.expand(factor{d.of, 1})
	if r, ok := f.reduction(root); ok && r.op == "L2" && pow == 1 && coef > 0 && !f.squaredLow(d.of, r.value) {
		d.sum, d.coef, d.numer, d.operand, d.variance = r, coef*coef, f.product(r.of), r.of, r.value
		return true
	}
	if pow != 0.5 || coef <= 0 {
		return false
	}
	under := f.stripEps(root)
	if d.eps == nil && !d.max {
		d.epsilon, d.onRoot = under, false
	}
	if !f.squares(d, under.of) {
		return false
	}
	d.coef *= coef * coef
	return true
}

// squaredLow tells whether a length is squared, and the root taken again, in 16 bits: there the square of one that
// is not 0 may be.
func (f *finder) squaredLow(v, length *graph.Value) bool {
	return slices.ContainsFunc(f.between(v, length), func(n *graph.Node) bool {
		return (n.Op == "Sqrt" || n.Op == "Pow") && n.Out(0).Type.Elem.Bits() < 32
	})
}

// expand reads a factor as a single power, through nodes that change the shape.
func (f *finder) expand(g factor) (base *graph.Value, pow, coef float64) {
	base, pow, coef = g.base, g.pow, 1
	for range maxDepth {
		v := f.shaped(base)
		p := f.product(v)
		if len(p.factors) != 1 || p.coef <= 0 {
			return v, pow, coef
		}
		coef *= math.Pow(p.coef, pow)
		if pow *= p.factors[0].pow; p.factors[0].base == v {
			return v, pow, coef
		}
		base = p.factors[0].base
	}
	return base, pow, coef
}

// squares reads v as coef · Σ numer², or as E[x²] - m².
func (f *finder) squares(d *denominator, v *graph.Value) bool {
	cut := f.floored(v)
	d.floored = cut != f.shaped(v)
	v, d.variance = cut, cut
	r, coef, mean, ok := f.averageAll(v)
	if !ok {
		if w := d.unbiased(f, v); w != nil {
			r, coef, mean, ok = f.averageAll(w)
			return ok && d.reduceSquares(f, r, coef, mean)
		}
		return f.expandedVariance(d, v)
	}
	return d.reduceSquares(f, r, coef, mean)
}

// unbiased reads v as a product by a matrix, or a convolution, whose bias is an ε. What it returns is v without that,
// which no node of the model computes.
func (d *denominator) unbiased(f *finder, v *graph.Value) *graph.Value {
	n := v.Producer
	if n == nil || v.Const != nil || n.OpName() != "Gemm" && n.OpName() != "Conv" || len(n.Inputs) != 3 || n.Float("beta", 1) != 1 {
		return nil
	}
	c, ok := f.number1(f.orNil(n.In(2)))
	if !ok || !(c >= 0) {
		return nil
	}
	if c > 0 && d.eps == nil && !d.max {
		d.epsilon, d.onRoot = epsilon{of: v, eps: f.same(n.In(2)), value: c, shifted: v}, false
	}
	return withoutBias(v)
}

func (d *denominator) reduceSquares(f *finder, r *reduction, coef float64, mean bool) bool {
	d.sum, d.coef, d.mean = r, coef, mean
	switch r.op {
	case "SumSquare":
		d.numer, d.operand = f.product(r.of), r.of
	case "Sum", "Mean":
		p := f.product(r.of)
		root, ok := p.root()
		if x := f.shaped(r.of); !ok && x != r.of && settled(r.of.Type.Shape) && settled(x.Type.Shape) {
			if w, ok := r.reshaped(x); ok && asLarge(r.of.Type.Shape, x.Type.Shape) {
				return d.reduceSquares(f, w, coef, mean)
			}
		}
		if !ok {
			return false
		}
		d.numer, d.square, d.operand = root, r.of, f.same(r.of.Producer.In(0))
		if !f.product(d.operand).equal(root) { // a power that is no square, as x⁻²
			return false
		}
	default:
		return false
	}
	d.dropAbs(f)
	return coef >= 0
}

// dropAbs reads |x|² as x².
func (d *denominator) dropAbs(f *finder) {
	if v, ok := d.numer.single(1); ok && v.Producer != nil && v.Producer.Op == "Abs" && v.Producer.In(0) != nil {
		d.operand = f.same(v.Producer.In(0))
		d.numer = f.product(d.operand)
	}
}

// root halves the powers of a square.
func (p *product) root() (*product, bool) {
	q := &product{coef: math.Sqrt(p.coef)}
	for _, g := range p.factors {
		if g.pow != 2 && g.pow != -2 && g.pow != 4 {
			return nil, false
		}
		q.factors = append(q.factors, factor{g.base, g.pow / 2})
	}
	return q, len(q.factors) > 0 && p.coef > 0
}

// expandedVariance reads E[x²] - m².
func (f *finder) expandedVariance(d *denominator, v *graph.Value) bool {
	terms, c := f.terms(v)
	if len(terms) != 2 || c != 0 {
		return false
	}
	for i, t := range terms {
		u := terms[1-i]
		r, coef, mean, ok := f.averageAll(t.value)
		if !ok || t.sign < 0 || !mean || !d.reduceSquares(f, r, coef, mean) {
			continue
		}
		m, ok := u.single(2)
		if !ok || u.coef*u.sign >= 0 {
			continue
		}
		q, c, _, ok := f.averageAll(m)
		if c *= math.Sqrt(u.coef); ok && q.of == f.same(d.operand) && q.over(r) && near(c*float64(q.count), 1) {
			d.mid, d.midCoef = m, math.Sqrt(u.coef)
			return true
		}
	}
	return false
}

// meanOf reads m as the mean of x.
func (f *finder) meanOf(m, x *graph.Value) (*reduction, bool) {
	r, _, mean, ok := f.averageAll(m)
	if !ok || !mean || r.op != "Mean" && r.op != "Sum" {
		return nil, false
	}
	return f.restated(r, x)
}
