package rangeprop

import (
	"iter"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
)

// norm bounds a normalised value by √n, and for E[x²] - m², whose difference may lose all its
// digits, by what ε leaves of that loss.
func (p *pass) norm(n *pattern.Norm, x *Val) *Val {
	if n.Bound == 0 || p.torn(n) {
		return x
	}
	m := n.Bound
	if n.Expanded {
		m *= p.cancellation(n)
	} else {
		m = p.offMean(n)
	}
	m = m*p.normLoss(n) + p.distributed(n)
	r := Range{-m, m}
	if n.Kind != pattern.LayerNorm && len(n.Scales) == 0 {
		if in := p.val(n.Numerator).Hull(); in.Lo >= 0 {
			r.Lo = 0
		}
	}
	if math.IsInf(m, 0) {
		return x
	}
	_, unit := p.coarsest(n.Output, n.Nodes)
	slack := unit*8 + math.Min(float64(n.Count), 1<<16)*accumUnit
	if len(n.Scales) == 1 && len(n.Biases) <= 1 && n.Offset == 0 {
		return p.normPerChannel(n, x, r, slack)
	}
	r = mul(r, p.factors(n.Coef, n.Scales))
	e := p.scaledEarly(n)
	r = add(r, Range{n.Offset - e, n.Offset + e})
	for _, b := range n.Biases {
		r = add(r, p.val(b).Hull())
	}
	return x.limit(r, slack)
}

// offMean is the bound of a value normalised by the squares of its own deviations: √n-1, for which the
// deviations must add up to 0, or √n where the rounded mean is so far off that they do not.
func (p *pass) offMean(n *pattern.Norm) float64 {
	if n.Kind != pattern.LayerNorm || n.Count < 2 {
		return n.Bound
	}
	count := float64(n.Count)
	most := n.Bound * math.Sqrt(count/(count-1))
	unit := math.Max(p.unitOf(n.Mean, n.Numerator), accumUnit*count)
	f, apart := twoMeans(n)
	switch {
	case apart && p.storedIn(n.Input, f):
		return n.Bound * count / (count - 1)
	case apart:
		unit = f.Unit()
	}
	off := quotient(2*unit*p.val(n.Input).Hull().MaxAbs(), leastRoot(n))
	if apart {
		return most + off
	}
	return math.Min(most, n.Bound+off)
}

// twoMeans tells whether the squares are of differences from another mean than the one of the numerator: then one
// of the two is rounded to a format with fewer bits.
//
// Numbers that are stored in that format themselves are whole multiples k of a unit of f, and a mean m of them rounds to
// one, 0 say, where |m| ≤ 1/2: then Σ(k-m)² ≥ k₁²(n-1)/n, since each of the others adds no less to it than
// it moves m, and Σ(k-m)² ≥ Σk²/2. A row that reaches from one binade into the next has half units below,
// where m rounds to half units as well.
func twoMeans(n *pattern.Norm) (low numfmt.Format, ok bool) {
	high := numfmt.Invalid
	for _, m := range n.Nodes {
		if m.Op != "Sub" && m.Op != "Add" || m.In(0) == nil || m.In(1) == nil || uncast(m.In(0)) != n.Input && uncast(m.In(1)) != n.Input {
			continue
		}
		f, known := held(m.Out(0).Type.Elem)
		switch {
		case !known:
		case high == numfmt.Invalid:
			low, high = f, f
		case f.Bits() < low.Bits():
			low = f
		case f.Bits() > high.Bits():
			high = f
		}
	}
	return low, n.Kind == pattern.LayerNorm && !n.Expanded && low != high
}

// uncast looks through changes of type.
func uncast(v *graph.Value) *graph.Value {
	for v.Producer != nil && v.Producer.Op == "Cast" && v.Producer.In(0) != nil && v.Producer.In(0).Type.Elem.IsFloat() {
		v = v.Producer.In(0)
	}
	return v
}

// leastRoot is the root where the variance is 0.
func leastRoot(n *pattern.Norm) float64 {
	if n.EpsOnRoot {
		return n.EpsValue
	}
	return math.Sqrt(n.EpsValue)
}

// distributed is how far x·r - m·r, written in place of (x - m)·r, may lie from it: both products round, and
// what is subtracted of them.
func (p *pass) distributed(n *pattern.Norm) float64 {
	if n.Kind != pattern.LayerNorm || !slices.ContainsFunc(n.Nodes, func(m *graph.Node) bool {
		return m.Op == "Mul" && m.In(0) != m.In(1) && (m.In(0) == n.Input || m.In(1) == n.Input)
	}) {
		return 0
	}
	f, _ := p.coarsest(n.Output, n.Nodes)
	return quotient(4*f.Unit()*p.val(n.Input).Hull().MaxAbs(), leastRoot(n))
}

// torn tells whether a part that the norm is summed or multiplied of may overflow. Where a square does the
// root is infinite, and what it divides is 0; and a root that may be 0 is for the rules to judge, with all that
// is computed of it.
func (p *pass) torn(n *pattern.Norm) bool {
	var after map[*graph.Value]bool
	if root := p.val(n.Root); root.zero() || root.special() {
		if f, _ := p.coarsest(n.Output, n.Nodes); f.Bits() >= 32 {
			return false
		}
		after = computedFrom(n.Root, n.Nodes)
	}
	inside := map[*graph.Value]bool{n.Root: true}
	for _, m := range slices.Backward(n.Nodes) {
		for _, v := range m.Outputs {
			switch {
			case v == nil:
			case inside[v]:
				for _, in := range m.Inputs {
					inside[in] = true
				}
			case v != n.Output && !after[v] && p.overflows(p.val(v), v):
				return true
			}
		}
	}
	return n.Numerator != n.Input && p.overflows(p.val(n.Numerator), n.Numerator)
}

// computedFrom returns what nodes, in graph order, compute of a value.
func computedFrom(v *graph.Value, nodes []*graph.Node) map[*graph.Value]bool {
	after := map[*graph.Value]bool{v: true}
	for _, m := range nodes {
		if slices.ContainsFunc(m.Inputs, func(in *graph.Value) bool { return after[in] }) {
			for _, out := range m.Outputs {
				after[out] = true
			}
		}
	}
	return after
}

// stored tells whether a value is an input or a constant, its magnitude or its shape changed at most:
// then all that reads it reads the same numbers. What is computed low may be summed in FP32 before
// it is rounded.
func stored(v *graph.Value) bool {
	for v.Producer != nil {
		if !keepsNumbers(v.Producer.OpName()) {
			return false
		}
		if v = v.Producer.In(0); v == nil {
			return false
		}
	}
	return true
}

// storedIn is stored for what is not wider than a format: else what is computed in that reads other numbers.
func (p *pass) storedIn(v *graph.Value, f numfmt.Format) bool {
	own, ok := held(v.Type.Elem)
	return stored(v) && (!ok || own.Bits() <= f.Bits())
}

// normLoss is loss below a root, for the squares of as many elements as are summed, and of what is rounded
// behind it.
func (p *pass) normLoss(n *pattern.Norm) float64 {
	f, _ := p.coarsest(n.Output, n.Nodes)
	if f.Bits() >= 32 {
		return 1
	}
	if n.Square == nil && p.storedIn(n.Numerator, f) {
		if k, ok := p.byLength(n, f); ok {
			return k
		}
	}
	if n.Shifted == nil || n.Bound == 0 {
		return math.Inf(1)
	}
	least := f.Round(p.val(n.Shifted).Hull().Lo) // a cast may follow
	if n.EpsOnRoot {
		return p.besideRoot(n, f, least)
	}
	k, g := p.behindRoot(n, f), narrowest(sinceSquared(n, n.Shifted))
	switch {
	case g.Bits() >= 32:
		return k
	case n.EpsValue > 0 && !n.EpsMax:
		return k * math.Sqrt(regained(squaresShort(n, g), g.Round(n.EpsValue), least))
	}
	return k * math.Sqrt(short(g, p.val(n.Shifted).Hull().Lo, float64(n.Count)))
}

// sinceSquared lists what is computed from what a norm squares up to v: differences that are stored low lose
// nothing of that by it.
func sinceSquared(n *pattern.Norm, v *graph.Value) []*graph.Value {
	from := n.Input
	if n.Square != nil && n.Square.Producer != nil && n.Square.Producer.In(0) != nil {
		from = uncast(n.Square.Producer.In(0))
	}
	list := behind(v, from)
	if from != n.Input && slices.Contains(list, n.Input) { // the squares of an equal value were found
		return behind(v, n.Input)
	}
	return list
}

// besideRoot is normLoss where ε stands beside the root: the root and the numerator round by half the least
// number, and the root of squares that are short is as far short as what they lack has for a root.
func (p *pass) besideRoot(n *pattern.Norm, f numfmt.Format, least float64) float64 {
	m := f.MinSubnormal()
	s := m + m/n.Bound
	if g := narrowest(sinceSquared(n, n.Var)); g.Bits() < 32 && (n.Var.Producer == nil || n.Var.Producer.Op != "ReduceL2") {
		s += math.Sqrt(squaresShort(n, g))
	}
	if n.EpsMax {
		return regained(s, 0, least)
	}
	return regained(s, f.Round(n.EpsValue), least)
}

// regained is how much larger than its bound b/v a quotient b/(v - s + ε) can be: larger only where s is above
// ε, and most where the denominator is least.
func regained(s, eps, least float64) float64 {
	if !(least > 0) {
		return math.Inf(1)
	}
	return math.Max(1, 1+(s-eps)/least)
}

// scaledEarly is how far a normalised value may be off because a numerator is rounded that was scaled before
// it is divided.
func (p *pass) scaledEarly(n *pattern.Norm) float64 {
	f, _ := p.coarsest(n.Output, n.Nodes)
	if f.Bits() >= 32 || n.Coef == 1 && len(n.Scales) == 0 || n.Shifted == nil {
		return 0
	}
	least := p.val(n.Shifted).Hull().Lo
	if !n.EpsOnRoot {
		least = math.Sqrt(math.Max(least, 0))
	}
	if !(least > 0) { // ReduceL2, or a loss without end
		return 0
	}
	return f.MinSubnormal() / 2 / least
}

// behindRoot is how much larger than its bound a quotient may come out because the numerator, the root and
// its reciprocal are rounded to multiples of the least number of a format. Squares that overflow make the
// root infinite and its reciprocal 0, which is no larger.
func (p *pass) behindRoot(n *pattern.Norm, f numfmt.Format) float64 {
	h := p.val(n.Shifted).Hull()
	least, m := math.Sqrt(math.Max(h.Lo, 0)), f.MinSubnormal()
	if n.Expanded && !n.Floored && !n.EpsOnRoot {
		relative, unit := p.shortfall(n)
		top := p.val(n.Input).Hull().MaxAbs()
		least = math.Sqrt(leastLeft(n.EpsValue, relative/unit, unit*top*top))
	}
	if least <= 2*m || p.val(n.Root).special() && 1/least >= f.Max()/2 { // the reciprocal overflows
		return math.Inf(1)
	}
	most := math.Min(math.Sqrt(h.Hi), f.Max())
	return (1 + m/least) / (1 - m/least) * (1 + math.Min(most, p.val(n.Numerator).Hull().MaxAbs()/n.Bound)*m)
}

// byLength is normLoss where elements are divided by what ReduceL2 gives, which no element is larger than
// also once it is rounded: all that happens to it on the way makes it larger, or moves it. Elements that
// are scaled before round by half the least number.
func (p *pass) byLength(n *pattern.Norm, f numfmt.Format) (k float64, ok bool) {
	for _, d := range n.Nodes {
		if d.Op != "Div" || d.In(1) == nil || !isLength(d.In(1)) {
			continue
		}
		if d.In(0) == n.Numerator {
			return 1, true
		}
		m := d.In(0).Producer
		if m == nil || m.Op != "Mul" || m.In(0) != n.Numerator && m.In(1) != n.Numerator {
			return 1, false
		}
		scale := p.val(m.In(0))
		if m.In(0) == n.Numerator {
			scale = p.val(m.In(1))
		}
		least := p.val(d.In(1)).Hull().Lo * scale.Tiny()
		return 1 + f.MinSubnormal()/least, least > 0 && !scale.zero()
	}
	return 1, false
}

// lengthLoss is how much longer than 1 a row may be that is divided by what ReduceL2 gives: the length rounds by
// half the least number m, and that of the shortest row, of two elements of m, is √2·m.
func (p *pass) lengthLoss(n *pattern.Norm) float64 {
	if n.Square != nil || !n.EpsOnRoot || n.Shifted == nil {
		return 1
	}
	f := narrowest(behind(n.Shifted, n.Numerator))
	m, eps := f.MinSubnormal(), f.Round(n.EpsValue)
	switch {
	case f.Bits() >= 32 || !n.EpsMax && eps >= m/2:
		return 1
	case eps >= m:
		return 1 + m/2/eps
	}
	return math.Sqrt2
}

// isLength tells whether a value is the result of ReduceL2, or larger.
func isLength(v *graph.Value) bool {
	for v != nil && v.Producer != nil {
		switch v.Producer.Op {
		case "ReduceL2":
			return true
		case "Max", "Clip", "Add":
			if in := v.Producer.In(1); in != nil && in.Const == nil {
				v = in
				continue
			}
		case "Cast", "Identity", "Expand", "Unsqueeze", "Reshape":
		default:
			return false
		}
		v = v.Producer.In(0)
	}
	return false
}

// normPerChannel meets channel by channel: scales differ much between channels.
func (p *pass) normPerChannel(n *pattern.Norm, x *Val, r Range, slack float64) *Val {
	r = Range{r.Lo * (1 + slack), r.Hi * (1 + slack)}
	e := p.scaledEarly(n)
	f := map1(p.val(n.Scales[0]), func(s Range) Range { return add(mul(mul(r, Range{n.Coef, n.Coef}), s), Range{-e, e}) })
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
	_, unit := p.coarsest(n.Output, n.Nodes)
	r, ok := p.radius(n)
	if !ok {
		return x
	}
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
	y.ball = b.lossy(unit, x)
	return y
}

// radius bounds the norm of all elements together that are normalised together, before they are scaled.
func (p *pass) radius(n *pattern.Norm) (r float64, ok bool) {
	if n.Bound == 0 || n.Count == 0 || p.torn(n) {
		return 0, false
	}
	_, unit := p.coarsest(n.Output, n.Nodes)
	r = n.Bound * (1 + unit*8 + math.Min(float64(n.Count), 1<<16)*accumUnit)
	if n.Kind == pattern.LayerNorm {
		r *= math.Sqrt(float64(n.Count) / float64(n.Count-1))
	}
	if f, apart := twoMeans(n); apart {
		if !p.storedIn(n.Input, f) || p.scaledEarly(n) > 0 {
			return 0, false
		}
		r *= math.Sqrt2
	}
	if n.Expanded {
		r *= p.cancellation(n)
	}
	r = r*p.normLoss(n)*p.lengthLoss(n) + p.distributed(n)*math.Sqrt(float64(n.Count))
	return r, !math.IsInf(r, 0)
}

// inSequence is the number of terms up to which a sum is taken to go in sequence; kernels add more of them in
// several chains at once.
const inSequence = 24

// shortfall is how far E[x²] - m² may lie below the variance, relative to the largest square: both
// parts round their squares, their sums of n terms and their means. unit is that of the result. Few
// roundings in a low type may all go one way, and so may those of few terms in FP32: 1.5·n units for the
// partial sums of the squares and, twice, of the mean. Those of many are taken to be independent, for which
// √n units are three deviations of a sum in sequence and more of one in blocks (Higham and Mary, A new
// approach to probabilistic rounding error analysis, 2019). Short sums do go in
// sequence: six are allowed for them, since rows are sought that show three.
func (p *pass) shortfall(n *pattern.Norm) (relative, unit float64) {
	unit = p.unitBehind(n.Var, n.Input)
	k := float64(n.Count)
	relative = math.Max(math.Sqrt(7+5*k), math.Min(1.5*k+6, 2*math.Sqrt(7+5*math.Min(k, inSequence)))) * accumUnit
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
	root := leastRoot(n)
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
	for h := range lastPlaces(eps, ulps, top) {
		worst = math.Max(worst, ulps*h/math.Mod(eps, h))
	}
	return worst
}

// leastLeft is the least v + ε above 0 of leftOver.
func leastLeft(eps, ulps, top float64) float64 {
	least := eps / 2
	for h := range lastPlaces(eps, ulps, top) {
		least = math.Min(least, math.Mod(eps, h))
	}
	return least
}

// lastPlaces lists the units in the last place that may take half of an ε or more away.
func lastPlaces(eps, ulps, top float64) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for h := math.Exp2(math.Floor(math.Log2(eps))); ulps*h > eps/2; h /= 2 {
			if h <= 2*top && !yield(h) {
				return
			}
		}
	}
}
