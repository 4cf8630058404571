package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
)

// fact meets the bounds of a value with what the pattern it completes says of it. The bounds that
// come from the parts are infinite where a denominator may vanish or a square overflow; that is
// for the rules to judge at that part, and what follows is sized by the fact. NaN stays possible
// where the parts say so.
func (p *pass) fact(v *graph.Value, x *Val) *Val {
	if p.parted(v) {
		return x
	}
	return pastFormat(v, x, p.facted(v, x))
}

// pastFormat puts back the infinities of a result whose fact lies past what its format holds.
func pastFormat(v *graph.Value, x, y *Val) *Val {
	f, ok := held(v.Type.Elem)
	if h := y.Hull(); x == y || !ok || !f.HasInf() || h.Hi <= f.Max() && h.Lo >= -f.Max() {
		return y
	}
	z := tightened(y, func(r Range) Range {
		if r.Hi > f.Max() {
			r.Hi = math.Inf(1)
		}
		if r.Lo < -f.Max() {
			r.Lo = math.Inf(-1)
		}
		return r
	})
	z.shares, z.mix, z.ball, z.pieces = y.shares, y.mix, y.ball, y.pieces
	h := z.Hull()
	z.posInf, z.negInf = x.posInf && math.IsInf(h.Hi, 1), x.negInf && math.IsInf(h.Lo, -1)
	return z
}

// facted meets bounds with what all patterns say of the value.
func (p *pass) facted(v *graph.Value, x *Val) *Val {
	if s := p.facts.Shift(v); s != nil && !(s.Guarded && (p.val(s.Input).nan || p.val(s.Input).posInf)) {
		x = x.limit(Range{math.Inf(-1), p.blur(v, s.Input)}, 0)
	}
	if s := p.facts.ExpSum(v); s != nil {
		x = p.expSum(s, v, x)
	}
	if s := p.facts.Softmax(v); s != nil && s.Log {
		x = x.limit(Range{math.Inf(-1), p.overLog(s)}, 0)
	}
	if r := p.facts.Ratio(v); r != nil {
		x = p.weights(r, p.ratio(r, x))
	}
	if e := p.facts.Entropy(v); e != nil {
		x = p.entropy(e, x)
	}
	if b := p.facts.Blend(v); b != nil {
		x = p.blend(b, x)
	}
	if q := p.facts.Likeness(v); q != nil {
		x = p.likeness(q, x)
	}
	x = p.apart(v, x)
	if q := p.facts.Portions(v); q != nil {
		x = p.portions(q, x)
	}
	if l := p.facts.Gap(v); l != nil {
		x = p.gap(l, v, x)
	}
	if r := p.facts.Rotation(v); r != nil {
		x = p.rotation(r, v, x)
	}
	if c := p.facts.Crest(v); c != nil {
		x = p.crest(c, x)
	}
	if m := p.facts.Merge(v); m != nil {
		x = p.merge(m, v, x)
	}
	if of := p.facts.Rise(v); of != nil {
		x = x.limit(Range{-p.blur(v, of), math.Inf(1)}, 0)
	}
	if of := p.facts.Fall(v); of != nil {
		x = x.limit(Range{math.Inf(-1), p.blur(v, of)}, 0)
	}
	if p.facts.SquareSum(v) {
		x = x.limit(Range{0, math.Inf(1)}, 0)
	}
	if s := p.facts.Shares(v); s != nil {
		x = p.shared(s, x)
	}
	if s := p.facts.Spread(v); s != nil {
		x = p.spread(s, v, x)
	}
	if n := p.facts.Variance(v); n != nil && n.Expanded && !p.overflows(x, v) {
		x = x.limit(p.variance(n), 1e-6)
	}
	if n := p.facts.Norm(v); n != nil {
		x = p.normBall(n, p.norm(n, x))
	}
	return x
}

// limit meets bounds with a range, widened by a relative slack. What then is bounded rests on the
// pattern and no longer on an unknown input.
func (x *Val) limit(r Range, slack float64) *Val {
	if slack > 0 { // 0 times an open end is NaN
		r = Range{r.Lo - slack*math.Abs(r.Lo), r.Hi + slack*math.Abs(r.Hi)}
	}
	if math.IsNaN(r.Lo) || math.IsNaN(r.Hi) {
		return x
	}
	y := tightened(x, func(a Range) Range { return a.meet(r) })
	y.shares, y.mix, y.ball, y.pieces = x.shares, x.mix, x.ball, x.pieces
	h := y.Hull()
	y.posInf, y.negInf = y.posInf && math.IsInf(h.Hi, 1), y.negInf && math.IsInf(h.Lo, -1)
	if h.Bounded() && y.basis == Unknown {
		y.constantly()
	}
	return y
}

// expSum: exponentials after their maximum is subtracted hold a 1; log-sum-exp lies above the
// maximum by at most the logarithm of their number.
func (p *pass) expSum(s *pattern.ExpSum, v *graph.Value, x *Val) *Val {
	if s.Max == nil || p.val(s.Input).special() || p.val(s.Input).nan {
		return x
	}
	n := math.Inf(1)
	if s.Count > 0 {
		n = float64(s.Count)
	}
	in := p.val(s.Input).Hull()
	unit, blur := 1e-5+8*p.unitOf(s.Exp, s.Sum, s.Log, v), s.Scale*p.blur(v, s.Input)
	top, by := math.Log(n)+unit*(1+math.Log(n))+blur, math.Log(s.Coef)
	switch e := unit * math.Abs(by); v {
	case s.Sum:
		least := s.Coef * math.Exp(-blur)
		x = x.limit(Range{least, s.Coef * n * math.Exp(blur)}, math.Min(n, 1<<16)*accumUnit+unit)
		if s.Coef != 1 { // the product with it is rounded
			return x
		}
		return x.atLeast(least)
	case s.Log:
		return x.limit(Range{by - e - blur, by + e + top}, 0).atLeast(by - e - blur)
	}
	low := in.Lo // a sum of n terms none of which is below exp(lo)
	if s.Count > 0 {
		low += math.Log(n)
	}
	return x.limit(Range{low + by - blur - unit*(1+math.Log(n)+math.Abs(by)), in.Hi + by + top + unit*math.Abs(by)}, unit)
}

// blur is how far apart two copies of a logit may be on the way to v: where some of the way is in another
// format than the rest, the maximum is not exactly that of the numbers it is subtracted from.
func (p *pass) blur(v, logits *graph.Value) float64 {
	least, most := p.widths(v, logits)
	if least >= most && len(p.copies(v)) == 0 {
		return 0
	}
	return 2 * p.unitBehind(v, logits) * (1 + finiteOr0(p.val(logits).Hull().MaxAbs()))
}

// widths returns the fewest and the most bits of the formats between two values.
func (p *pass) widths(v, from *graph.Value) (least, most int) {
	least, most = math.MaxInt, 0
	for _, w := range behind(v, from) {
		if f, ok := held(w.Type.Elem); ok {
			least, most = min(least, f.Bits()), max(most, f.Bits())
		}
	}
	return least, most
}

// overLog is how far above 0 a logarithm of a softmax may come out: only after the maximum is subtracted
// is the sum no less than any of its terms.
func (p *pass) overLog(s *pattern.Softmax) float64 {
	if s.Node != nil || s.Max != nil {
		return p.blur(s.Output, s.Input)
	}
	unit := p.unitOf(s.Output, s.Exp, s.Sum)
	of := math.Max(unit, p.unitOf(p.copies(s.Output)...)) // a logarithm of logits that are stored is rounded to one of them, or to more
	if len(p.copies(s.Output)) == 0 && p.storedIn(s.Input, narrowest(behind(s.Output, s.Input))) {
		of = accumUnit
	}
	return 2*(4*unit+of*finiteOr0(p.val(s.Input).Hull().MaxAbs())) + p.underLog(s)
}

// underLog is how far the logarithm of a sum of exponentials may fall because they come near the least number of
// their format, or vanish: no maximum is subtracted that keeps one of them at 1.
func (p *pass) underLog(s *pattern.Softmax) float64 {
	if s.Exp == nil { // an operator of its own, which subtracts it
		return 0
	}
	short := narrowest([]*graph.Value{s.Exp, s.Sum}).MinSubnormal() / math.Exp(p.val(s.Exp.Producer.In(0)).Hull().Lo)
	if !(short < 0.5) {
		return math.Inf(1)
	}
	return -math.Log1p(-short)
}

// overflows tells whether a value may be infinite because its parts are in the types that the model has.
// Where values are only going to be held low the rules judge the part that overflows, and what follows is
// sized as if it had been repaired.
func (p *pass) overflows(x *Val, v *graph.Value) bool { return x.special() && !p.lowered(v) }

// lowered tells whether a value is going to be held in fewer bits than its type has.
func (p *pass) lowered(v *graph.Value) bool {
	if p.opt.Hold == nil {
		return false
	}
	f, own := p.opt.Hold(v), numfmt.FP32
	if g, ok := held(element(v.Type)); ok {
		own = g
	}
	return f != numfmt.Invalid && f.Bits() < own.Bits()
}

// variance bounds E[x²] - m²: by a quarter of the square of the spread, and below 0 by no more than
// the rounding of both.
func (p *pass) variance(n *pattern.Norm) Range {
	h := p.val(n.Input).Hull()
	m := h.MaxAbs()
	relative, _ := p.shortfall(n)
	delta := relative * m * m
	return Range{-delta, (h.Hi-h.Lo)*(h.Hi-h.Lo)/4 + delta}
}

// factors multiplies the bounds of what scales the pattern of v.
func (p *pass) factors(v *graph.Value, coef float64, scales []*graph.Value) Range {
	r := Range{coef, coef}
	for _, s := range scales {
		r = mul(r, p.asCopied(v, p.val(s).Hull()))
	}
	return r
}

// weights marks a share of a sum along one axis as weights.
func (p *pass) weights(q *pattern.Ratio, x *Val) *Val {
	f, unit := p.coarsest(q.Output, q.Nodes)
	if !p.storedIn(q.Num, f) && math.IsInf(p.loss(f, q.Denominator, 1), 0) || f.Bits() < 32 && p.inverts(q) {
		return x
	}
	rank := len(q.Num.Type.Shape)
	if q.Kind != pattern.OfSum || len(p.copies(q.Output)) > 0 || len(q.Scales) > 0 || q.Coef != 1 || len(q.Axes) == 0 || rank == 0 || len(q.Output.Type.Shape) != rank || p.val(q.Input).Hull().Lo < 0 {
		return x
	}
	y := x.clone() // all of them are 0 where the sum overflows
	var axes grid
	for _, a := range q.Axes {
		axes = axes.with(rank - a)
	}
	y.shares = simplex{most: q.Denominator != q.Den || p.val(q.Den).posInf, unit: unit}.over(axes)
	return y
}

// shared marks the exponential of a log-softmax as weights. The logarithm of the sum is rounded, which
// scales all of them alike.
func (p *pass) shared(s *pattern.Shares, x *Val) *Val {
	in := p.val(s.Input)
	if in.nan || in.special() || !in.Hull().Bounded() || p.val(s.Output.Producer.In(0)).posInf {
		return x
	}
	unit := p.unitBehind(s.Output, s.Input)
	e := (8 + 4*math.Max(in.Hull().MaxAbs(), math.Log(float64(count(s.Input.Type.Shape))))) * unit
	if s.Shifted { // p is p to a power near 1, and the sum of those is greatest where all are equal
		n := float64(unknownCount)
		if d := s.Input.Type.Shape[s.Axis]; d.Known() {
			n = float64(d.N)
		}
		e = math.Expm1((8 + 4*math.Log(n)) * unit)
	}
	y := x.limit(Range{0, 1}, e)
	y.shares = simplex{axis: len(s.Input.Type.Shape) - s.Axis, unit: e}
	return y
}

// unit is the unit roundoff that a value is computed or held with.
func (p *pass) unit(v *graph.Value) float64 {
	u, _ := p.grain(v)
	return u
}

// least is the least number of the format that a value is held in where that has fewer bits than FP32, else 0.
func (p *pass) least(v *graph.Value) float64 {
	_, m := p.grain(v)
	return m
}

// grain returns the unit and the least number of a value.
func (p *pass) grain(v *graph.Value) (unit, least float64) {
	unit = accumUnit
	if f, ok := held(v.Type.Elem); ok && f.Bits() < 32 {
		unit, least = f.Unit(), f.MinSubnormal()
	}
	if p.opt.Hold != nil {
		if f := p.opt.Hold(v); f != numfmt.Invalid && f.Bits() < 32 {
			unit, least = math.Max(unit, f.Unit()), math.Max(least, f.MinSubnormal())
		}
	}
	return unit, least
}

// unitOf is the greatest unit of values; nil ones have none.
func (p *pass) unitOf(vs ...*graph.Value) float64 {
	u := accumUnit
	for _, v := range vs {
		if v != nil {
			u = math.Max(u, p.unit(v))
		}
	}
	return u
}

// maxBehind bounds how many values behind another one are looked at.
const maxBehind = 64

// behind lists a value and those that it is computed from, back to another one, which may be nil: the
// nearest first, and of many only those.
func behind(v *graph.Value, from ...*graph.Value) []*graph.Value {
	var list []*graph.Value
	seen := map[*graph.Value]bool{nil: true}
	for _, w := range from {
		seen[w] = true
	}
	add := func(v *graph.Value) {
		if !seen[v] && v.Const == nil && len(list) < maxBehind {
			seen[v] = true
			list = append(list, v)
		}
	}
	add(v)
	for i := 0; i < len(list); i++ {
		if n := list[i].Producer; n != nil {
			for _, in := range n.Inputs {
				add(in)
			}
		}
	}
	return list
}

// unitBehind is the greatest unit of the values behind another one, and of the copies in its pattern.
func (p *pass) unitBehind(v, from *graph.Value) float64 {
	return p.unitOf(append(behind(v, from), p.copies(v)...)...)
}

// coarsest is the format with the fewest bits that a pattern's output, or a result on the way to it, is
// stored in, with the greatest unit that they are computed or held with: a cast at the end brings back
// nothing that was lost before.
func (p *pass) coarsest(out *graph.Value, nodes []*graph.Node) (f numfmt.Format, unit float64) {
	vs := []*graph.Value{out}
	for _, n := range nodes {
		for _, v := range n.Outputs {
			if v != nil && v.Const == nil {
				vs = append(vs, v)
			}
		}
	}
	return narrowest(vs), p.unitOf(vs...)
}

// narrowest is the format with the fewest bits that one of some values is stored in, FP32 where that of
// none is known.
func narrowest(vs []*graph.Value) numfmt.Format {
	f, ok := numfmt.FP32, false
	for _, v := range vs {
		if g, is := held(v.Type.Elem); is && (!ok || g.Bits() < f.Bits()) {
			f, ok = g, true
		}
	}
	return f
}

// rooted tells whether a root is taken on the way.
func rooted(nodes []*graph.Node) bool {
	return slices.ContainsFunc(nodes, func(n *graph.Node) bool { return takesRoot(n) || n.Op == "ReduceL2" })
}

func takesRoot(n *graph.Node) bool { return n.Op == "Sqrt" || n.Op == "Pow" }

// count multiplies the known dimensions of a shape.
func count(s graph.Shape) int {
	n := 1
	for _, d := range kept(s) {
		n *= max(d, 1)
	}
	return n
}
