package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
)

// norm bounds a normalised value by √n, and for E[x²] - m², whose difference may lose all its
// digits, by what ε leaves of that loss.
func (p *pass) norm(n *pattern.Norm, x *Val) *Val {
	if n.Bound == 0 || p.torn(n) || p.cutOff(n) {
		return x
	}
	m := n.Bound
	if n.Expanded {
		m *= p.cancellation(n)
	} else {
		m = p.offMean(n)
	}
	m = p.normCopied(n, m*p.normLoss(n)) + p.distributed(n)
	r := Range{-m, m}
	if n.Kind != pattern.LayerNorm && len(n.Scales) == 0 {
		if in := p.val(n.Numerator).Hull(); in.Lo >= 0 {
			r.Lo = 0
		}
	}
	if math.IsInf(m, 0) {
		return x
	}
	f, unit := p.coarsest(n.Output, n.Nodes)
	slack := normSlack(n, unit)
	if len(n.Scales) == 1 && len(n.Biases) <= 1 && n.Offset == 0 {
		return p.normPerChannel(n, x, r, slack)
	}
	r = mul(r, p.factors(n.Output, n.Coef, n.Scales))
	e := p.scaledEarly(n)
	r = add(r, Range{n.Offset - e, n.Offset + e})
	for _, b := range n.Biases {
		r = add(r, p.asCopied(n.Output, p.val(b).Hull()))
	}
	return x.limit(grained(f, r, p.factors(n.Output, n.Coef, n.Scales).MaxAbs()), slack)
}

// normSlack is how much a normalised value may exceed its bound by roundings of one unit each. A root that is taken
// by a logarithm is off by the rounding of that, which is below 128.
func normSlack(n *pattern.Norm, unit float64) float64 {
	slack := unit*8 + math.Min(float64(n.Count), 1<<16)*accumUnit
	if slices.ContainsFunc(n.Nodes, func(m *graph.Node) bool { return m.Op == "Exp" }) {
		slack += 64 * unit
	}
	return slack
}

// cutOff tells whether what is divided may overflow and what divides it may not. Of an input without a range nothing
// is known that could be told from infinite.
func (p *pass) cutOff(n *pattern.Norm) bool {
	x := p.val(n.Numerator)
	return x.special() && x.basis != Unknown && p.ends(n.Shifted)
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

// uncast looks through changes of type, and none.
func uncast(v *graph.Value) *graph.Value {
	for v.Producer != nil && (v.Producer.Op == "Cast" || v.Producer.Op == "Identity") && v.Producer.In(0) != nil && v.Producer.In(0).Type.Elem.IsFloat() {
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
	if !inTwo(n) {
		return 0
	}
	f, _ := p.coarsest(n.Output, n.Nodes)
	return quotient(4*f.Unit()*p.val(n.Input).Hull().MaxAbs(), leastRoot(n))
}

// inTwo tells whether a norm is written x·r - m·r.
func inTwo(n *pattern.Norm) bool {
	return n.Kind == pattern.LayerNorm && slices.ContainsFunc(n.Nodes, func(m *graph.Node) bool {
		return m.Op == "Mul" && m.In(0) != m.In(1) && (uncast(m.In(0)) == n.Input || uncast(m.In(1)) == n.Input)
	})
}

// torn tells whether a part that the norm is summed or multiplied of may overflow. Where a square does the
// root is infinite, and what it divides is 0; and a root that may be 0 is for the rules to judge, with all that
// is computed of it. Of a root that an ε keeps above 0, x·r or m·r alone may overflow where one of them is held in 16 bits.
func (p *pass) torn(n *pattern.Norm) bool {
	if n.EpsValue == 0 && p.val(n.Numerator).Hull().MaxAbs() < leastSquared {
		return true
	}
	var after map[*graph.Value]bool
	if root := p.val(n.Root); root.zero() || root.special() {
		f, _ := p.coarsest(n.Output, n.Nodes)
		if f.Bits() >= 32 {
			return false
		}
		if p.infinite(belowRoots(n.Nodes)) {
			return true
		}
		if !inTwo(n) || n.Shifted == nil || p.val(n.Shifted).zero() {
			after = computedFrom(n.Root, n.Nodes)
		}
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

// belowRoots are the nodes that a root is taken of: the reciprocal of a variance is far larger than that of its
// root.
func belowRoots(nodes []*graph.Node) (below []*graph.Node) {
	for _, n := range nodes {
		if in := n.In(0); takesRoot(n) && in != nil && in.Producer != nil {
			below = append(below, in.Producer)
		}
	}
	return below
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

// normPerChannel meets channel by channel: scales differ much between channels.
func (p *pass) normPerChannel(n *pattern.Norm, x *Val, r Range, slack float64) *Val {
	r = Range{r.Lo * (1 + slack), r.Hi * (1 + slack)}
	e := p.scaledEarly(n)
	if g, _ := p.coarsest(n.Output, n.Nodes); g.Bits() < 32 {
		e += g.MinSubnormal() * (1 + p.factors(n.Output, n.Coef, n.Scales).MaxAbs())
	}
	f := map1(p.val(n.Scales[0]), func(s Range) Range {
		return add(mul(mul(r, Range{n.Coef, n.Coef}), p.asCopied(n.Output, s)), Range{-e, e})
	})
	for _, b := range n.Biases {
		f = zip(f, p.val(b), func(x, y Range) Range { return add(x, p.asCopied(n.Output, y)) })
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
	if rank == 0 || len(n.Axes) != 1 || n.Axes[0] != rank-1 || !s[rank-1].Known() || s[rank-1].N != n.Count || p.opt.NoBalls {
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
	y.ball = b.lossy(unit, p.least(n.Output))
	return y
}

// radius bounds the norm of all elements together that are normalised together, before they are scaled.
func (p *pass) radius(n *pattern.Norm) (r float64, ok bool) {
	if n.Bound == 0 || n.Count == 0 || p.torn(n) || len(p.copies(n.Output)) > 0 {
		return 0, false
	}
	_, unit := p.coarsest(n.Output, n.Nodes)
	r = n.Bound * (1 + normSlack(n, unit))
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
