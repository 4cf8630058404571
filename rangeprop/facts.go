package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
)

// fact meets the bounds of a value with what the pattern it completes says of it. The bounds that
// come from the parts are infinite where a denominator may vanish or a square overflow; that is
// for the rules to judge at that part, and what follows is sized by the fact. NaN stays possible
// where the parts say so.
func (p *pass) fact(v *graph.Value, x *Val) *Val {
	if s := p.facts.Shift(v); s != nil && !(s.Guarded && (p.val(s.Input).nan || p.val(s.Input).posInf)) {
		x = x.limit(Range{math.Inf(-1), 0}, 0)
	}
	if s := p.facts.ExpSum(v); s != nil {
		x = p.expSum(s, v, x)
	}
	if s := p.facts.Softmax(v); s != nil && s.Log {
		x = x.limit(Range{math.Inf(-1), 0}, accumUnit*8)
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
	if l := p.facts.Gap(v); l != nil {
		x = p.gap(l, v, x)
	}
	if s := p.facts.Shares(v); s != nil {
		x = p.shared(s, x)
	}
	if s := p.facts.Spread(v); s != nil {
		x = p.spread(s, v, x)
	}
	if n := p.facts.Variance(v); n != nil && n.Expanded {
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
	switch v {
	case s.Sum:
		return x.limit(Range{1, n}, math.Min(n, 1<<16)*accumUnit).atLeast(1)
	case s.Log:
		return x.limit(Range{0, math.Log(n)}, 1e-5).atLeast(0)
	}
	return x.limit(Range{in.Lo, in.Hi + math.Log(n)}, 1e-5)
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

// loss is how much larger than its bound a quotient can come out in the type it is computed in, as a
// factor: each of n parts of the denominator may be short by what rounds to zero, which only the
// least value of the denominator holds up. It is 1 for FP32 and wider, where nothing in a model's
// range vanishes, and for values that are only going to be held low: there the rules judge the
// denominator, and what follows is sized as if it had been repaired.
func (p *pass) loss(v, den *graph.Value, n float64) float64 {
	f, ok := held(v.Type.Elem)
	if !ok || f.Bits() >= 32 {
		return 1
	}
	if den == nil {
		return math.Inf(1)
	}
	least := p.val(den).Hull().Lo
	if least <= 0 || math.IsNaN(n) {
		return math.Inf(1)
	}
	return 1 + math.Max(n, 1)*f.MinSubnormal()/least
}

// factors multiplies the bounds of what scales a pattern.
func (p *pass) factors(coef float64, scales []*graph.Value) Range {
	r := Range{coef, coef}
	for _, s := range scales {
		r = mul(r, p.val(s).Hull())
	}
	return r
}

// ratio bounds a quotient by what it is made of.
func (p *pass) ratio(q *pattern.Ratio, x *Val) *Val {
	in := p.val(q.Input).Hull()
	r := Range{-1, 1}
	switch q.Kind {
	case pattern.OfSum:
		if in.Lo < 0 {
			return x
		}
		r = Range{0, 1}
	case pattern.OfPart:
		if in.Lo < 0 {
			return x
		}
		r = Range{0, 1}
	case pattern.OfTerms:
		for _, u := range q.Parts {
			if h := p.val(u).Hull(); !(h.Lo >= 0) || p.val(u).nan {
				return x
			}
		}
		if !q.Signed {
			r.Lo = 0
		}
	case pattern.OfCount:
		if in.MaxAbs() > sumLimit || p.unit(q.Num) > accumUnit {
			return x
		}
		e := unknownSum * in.MaxAbs()
		r = Range{in.Lo - e, in.Hi + e}
	case pattern.OfSpan:
		r = Range{0, 1}
	case pattern.OfAbs, pattern.OfMax:
		if in.Lo >= 0 {
			r.Lo = 0
		}
	case pattern.OfMean:
		if q.Products && p.unit(q.Output) > accumUnit { // what rounds to zero differs between the columns
			return x
		}
		for _, w := range q.Weights {
			if h := p.val(w).Hull(); h.Lo < 0 || q.Capped && h.Hi > 1 || q.Counted && !p.val(w).integer && !p.crisp(w) {
				return x
			}
		}
		if r = in; q.Power == 2 {
			r = square(in)
		}
		if q.EpsValue > 0 || q.Capped || !p.positive(q.Weights) {
			r = r.join(Range{})
		}
		if q.Root {
			r = mul(r.join(Range{}), Range{0, math.Sqrt(p.val(q.Den).Hull().Hi)})
		}
	}
	k := 1.0
	if q.Kind != pattern.OfMean && !stored(q.Num) {
		k = p.loss(q.Output, q.Denominator, float64(count(q.Num.Type.Shape)))
	}
	if math.IsInf(k, 0) {
		return x
	}
	slack := p.unit(q.Output)*8 + 1e-6
	if q.Kind == pattern.OfMean { // the products are summed apart from the weights
		slack += math.Min(2*float64(count(q.Weights[0].Type.Shape))*accumUnit, unknownSum)
	}
	return x.limit(mul(r, p.factors(q.Coef*k, q.Scales)), slack)
}

// sumLimit is what the elements of a sum over an unknown number may be without overflow in FP32: no
// memory holds as many as it would take.
const sumLimit = 1e22

// unknownSum is the relative error that a sum of an unknown number of elements is given.
const unknownSum = 1e-3

// crisp tells whether a mask is only read as true or false.
func (p *pass) crisp(w *graph.Value) bool { return w.Type.Elem == graph.Bool }

// weights marks a share of a sum along one axis as weights.
func (p *pass) weights(q *pattern.Ratio, x *Val) *Val {
	if !stored(q.Num) && math.IsInf(p.loss(q.Output, q.Denominator, 1), 0) {
		return x
	}
	rank := len(q.Num.Type.Shape)
	if q.Kind != pattern.OfSum || len(q.Scales) > 0 || q.Coef != 1 || len(q.Axes) != 1 || rank == 0 || len(q.Output.Type.Shape) != rank || p.val(q.Input).Hull().Lo < 0 {
		return x
	}
	y := x.clone()
	y.shares = simplex{axis: rank - q.Axes[0], most: q.Denominator != q.Den, unit: p.unit(q.Output)}
	return y
}

// shared marks the exponential of a log-softmax as weights. The logarithm of the sum is rounded, which
// scales all of them alike.
func (p *pass) shared(s *pattern.Shares, x *Val) *Val {
	in := p.val(s.Input)
	if in.nan || in.special() || !in.Hull().Bounded() {
		return x
	}
	unit := p.unit(s.Output)
	e := (8 + 4*math.Max(in.Hull().MaxAbs(), math.Log(float64(count(s.Input.Type.Shape))))) * unit
	y := x.limit(Range{0, 1}, e)
	y.shares = simplex{axis: len(s.Input.Type.Shape) - s.Axis, unit: e}
	return y
}

// positive tells whether all weights are above zero.
func (p *pass) positive(ws []*graph.Value) bool {
	for _, w := range ws {
		if p.val(w).Hull().Lo <= 0 {
			return false
		}
	}
	return true
}

// unit is the unit roundoff that a value is computed or held with.
func (p *pass) unit(v *graph.Value) float64 {
	u := accumUnit
	if f, ok := held(v.Type.Elem); ok && f.Bits() < 32 {
		u = f.Unit()
	}
	if p.opt.Hold != nil {
		if f := p.opt.Hold(v); f != numfmt.Invalid && f.Bits() < 32 {
			u = math.Max(u, f.Unit())
		}
	}
	return u
}

// norm bounds a normalised value by √n, and for E[x²] - m², whose difference may lose all its
// digits, by what ε leaves of that loss.
func (p *pass) norm(n *pattern.Norm, x *Val) *Val {
	if n.Bound == 0 {
		return x
	}
	m := n.Bound
	if n.Expanded {
		m *= p.cancellation(n)
	}
	m *= p.normLoss(n)
	r := Range{-m, m}
	if n.Kind != pattern.LayerNorm && len(n.Scales) == 0 {
		if in := p.val(n.Numerator).Hull(); in.Lo >= 0 {
			r.Lo = 0
		}
	}
	if math.IsInf(m, 0) {
		return x
	}
	slack := p.unit(n.Output)*8 + math.Min(float64(n.Count), 1<<16)*accumUnit
	if len(n.Scales) == 1 && len(n.Biases) <= 1 && n.Offset == 0 {
		return p.normPerChannel(n, x, r, slack)
	}
	r = mul(r, p.factors(n.Coef, n.Scales))
	r = add(r, Range{n.Offset, n.Offset})
	for _, b := range n.Biases {
		r = add(r, p.val(b).Hull())
	}
	return x.limit(r, slack)
}

// stored tells whether a value is an input or a constant, its magnitude or its shape changed at most:
// then all that reads it reads the same numbers. What is computed low may be summed in FP32 before
// it is rounded.
func stored(v *graph.Value) bool {
	for v.Producer != nil {
		switch v.Producer.OpName() {
		case "Abs", "Neg", "Identity", "Reshape", "Transpose", "Unsqueeze", "Squeeze", "Relu", "Slice", "Gather":
		default:
			return false
		}
		if v = v.Producer.In(0); v == nil {
			return false
		}
	}
	return true
}

// normLoss is loss below a root, for the squares of as many elements as are summed.
func (p *pass) normLoss(n *pattern.Norm) float64 {
	if n.Square == nil && stored(n.Numerator) { // the reduction squares, in FP32
		return 1
	}
	f, ok := held(n.Output.Type.Elem)
	switch {
	case n.EpsOnRoot || n.Shifted == nil:
		if ok && f.Bits() < 32 {
			return p.loss(n.Output, n.Shifted, float64(n.Count)*math.Sqrt(f.MinSubnormal())/f.MinSubnormal())
		}
		return 1
	case ok && f.Bits() < 32 && n.EpsValue > 0 && !n.EpsMax && n.Bound > 0:
		return p.flushed(n, f)
	}
	return math.Sqrt(p.loss(n.Output, n.Shifted, float64(n.Count)))
}

// flushed is normLoss where ε is added. Each square, their mean and what it is scaled by round by half the
// least number at most, so that the variance is short by s; v / (v - s + ε) is above 1 only where s is
// above ε, and largest where the variance is least.
func (p *pass) flushed(n *pattern.Norm, f numfmt.Format) float64 {
	elements := float64(n.Count)
	if n.Kind == pattern.LayerNorm {
		elements--
	}
	s := f.MinSubnormal() * (elements/(n.Bound*n.Bound)/2 + 1) // elements/Bound² is 1 for a mean, n for a sum
	least := p.val(n.Shifted).Hull().Lo
	if least <= 0 {
		return math.Inf(1)
	}
	return math.Sqrt(math.Max(1, 1+(s-f.Round(n.EpsValue))/least))
}

// count multiplies the known dimensions of a shape.
func count(s graph.Shape) int {
	n := 1
	for _, d := range kept(s) {
		n *= max(d, 1)
	}
	return n
}

// normPerChannel meets channel by channel: scales differ much between channels.
func (p *pass) normPerChannel(n *pattern.Norm, x *Val, r Range, slack float64) *Val {
	r = Range{r.Lo * (1 + slack), r.Hi * (1 + slack)}
	f := map1(p.val(n.Scales[0]), func(s Range) Range { return mul(mul(r, Range{n.Coef, n.Coef}), s) })
	for _, b := range n.Biases {
		f = zip(f, p.val(b), add)
	}
	y := zip(x, f, func(a, b Range) Range { return a.meet(Range{b.Lo - slack*math.Abs(b.Lo), b.Hi + slack*math.Abs(b.Hi)}) })
	y.nan, y.integer, y.tiny = x.nan, false, 0
	y.basis, y.why = x.basis, x.why
	h := y.Hull()
	y.posInf, y.negInf = x.posInf && math.IsInf(h.Hi, 1), x.negInf && math.IsInf(h.Lo, -1)
	if h.Bounded() && y.basis == Unknown {
		y.constantly()
	}
	return y
}

// normBall gives a normalised row its ball: all its elements together have a norm of √n.
func (p *pass) normBall(n *pattern.Norm, x *Val) *Val {
	s := n.Output.Type.Shape
	rank := len(s)
	if n.Bound == 0 || rank == 0 || len(n.Axes) != 1 || n.Axes[0] != rank-1 || !s[rank-1].Known() || s[rank-1].N != n.Count || p.opt.NoBalls {
		return x
	}
	r := n.Bound * (1 + p.unit(n.Output)*8 + math.Min(float64(n.Count), 1<<16)*accumUnit)
	if n.Kind == pattern.LayerNorm {
		r *= math.Sqrt(float64(n.Count) / float64(n.Count-1))
	}
	if n.Expanded {
		r *= p.cancellation(n)
	}
	r *= p.normLoss(n)
	b := newBall([]int{rank - 1}, []int{int(n.Count)}, make([]float64, n.Count), r).scaled(nil, n.Coef)
	for _, v := range n.Scales {
		k, ok := exactly(p.val(v), b, rank)
		if !ok {
			return x
		}
		b = b.scaled(k, 0)
	}
	for _, v := range n.Biases {
		d, ok := exactly(p.val(v), b, rank)
		if !ok {
			return x
		}
		b = b.moved(d, 1)
	}
	if n.Offset != 0 {
		d := make([]float64, b.n())
		for i := range d {
			d[i] = n.Offset
		}
		b = b.moved(d, 1)
	}
	if !b.finite() {
		return x
	}
	y := x.clone()
	y.ball = b.lossy(p.unit(n.Output), x)
	return y
}

// shortfall is how far E[x²] - m² may lie below the variance, relative to the largest square: both
// parts round their squares, their sums of n terms and their means. unit is that of the result. Few
// roundings in a low type may all go one way, and so may those of few terms in FP32: 1.5·n units for the
// partial sums of the squares and, twice, of the mean. Those of many are taken to be independent, for which
// √n units are three deviations of a sum in sequence and more of one in blocks (Higham and Mary, A new
// approach to probabilistic rounding error analysis, 2019); six are allowed, since rows are sought that
// show them.
func (p *pass) shortfall(n *pattern.Norm) (relative, unit float64) {
	unit = math.Max(p.unit(n.Var), accumUnit)
	k := float64(n.Count)
	relative = math.Min(1.5*k+6, 2*math.Sqrt(7+5*k)) * accumUnit
	if unit > accumUnit {
		relative += 5 * unit
	}
	return relative, unit
}

// cancellation is how much larger than √n a value normalised by E[x²] - m² can come out: a row whose
// variance is below the shortfall δ = relative·max x² is divided by the root of ε alone, and the
// mean that is subtracted may be off.
func (p *pass) cancellation(n *pattern.Norm) float64 {
	if n.EpsValue <= 0 {
		return math.Inf(1)
	}
	m := p.val(n.Input).Hull().MaxAbs()
	relative, unit := p.shortfall(n)
	root := math.Sqrt(n.EpsValue)
	if n.EpsOnRoot {
		root = n.EpsValue
	}
	k := math.Hypot(1, math.Sqrt(relative)*m/root)
	if !n.Floored && !n.EpsOnRoot {
		k = math.Max(k, math.Sqrt(leftOver(n.EpsValue, relative/unit, unit*m*m)))
	}
	return k + (unit+math.Sqrt(float64(n.Count))*accumUnit)*m/root
}

// leftOver bounds a variance over v + ε where v, a difference of two rounded numbers, may be negative.
// Numbers with the unit h in the last place differ by a multiple of h, so v + ε, if it is not negative,
// is at least what is left of ε modulo h; and the variance is then at most ulps·h. top is the largest h.
func leftOver(eps, ulps, top float64) float64 {
	worst := 0.0
	for h := math.Exp2(math.Floor(math.Log2(eps))); ulps*h > eps/2; h /= 2 {
		if h <= 2*top {
			worst = math.Max(worst, ulps*h/math.Mod(eps, h))
		}
	}
	return worst
}
