package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph/pattern"
)

func reduceOps() map[string]op {
	return map[string]op{
		"ReduceSum": rounded(reduceSum), "ReduceMean": rounded(reduceMean), "ReduceMax": exact(reduceMax), "ReduceMin": exact(reduceMin),
		"ReduceProd": approx(reduceProd), "ReduceL1": rounded(reduceL1), "ReduceL2": approx(reduceL2), "ReduceSumSquare": rounded(reduceSumSquare),
		"ReduceLogSum": approx(reduceLogSum), "ReduceLogSumExp": approx(reduceLogSumExp),
		"ArgMax": choice(argOp), "ArgMin": choice(argOp), "CumSum": rounded(cumSumOp), "CumProd": approx(cumProdOp),
		"TopK": {f: topKOp, exact: true},
	}
}

// cells are the bounds of the elements that are reduced to one: those kept apart, each of which
// stands for between least and most elements. most is infinite where the number is not known.
type cells struct {
	of          []Range
	least, most float64
	limit       float64 // of the format that they are accumulated in
	wraps       bool    // they are integers
}

func (s cells) sum() Range {
	t := Range{}
	for _, r := range s.of {
		t = add(t, r)
	}
	return s.times(t)
}

// times multiplies a bound by the number of elements that each cell stands for.
func (s cells) times(t Range) Range { return mul(t, Range{s.least, s.most}) }

func (s cells) mean() Range {
	t := Range{}
	for _, r := range s.of {
		t = add(t, r)
	}
	return t.scale(1 / float64(len(s.of)))
}

// mostElements is what no tensor exceeds: its elements are counted in 63 bits.
const mostElements = 1 << 63

// total is the greatest sum of magnitudes.
func (s cells) total() float64 {
	t := 0.0
	for _, r := range s.of {
		t += r.MaxAbs()
	}
	return product(t, math.Min(s.most, mostElements))
}

// count is the greatest number of elements.
func (s cells) count() float64 { return float64(len(s.of)) * s.most }

// padded widens a sum by its rounding in FP32 accumulation, and by its overflow.
func (s cells) padded(r Range) Range {
	if s.wraps && s.total() >= wholeLimit {
		return all
	}
	return s.blurred(overflowing(r, s.hull(), s.total(), s.limit))
}

// hull is the range of the elements, with 0.
func (s cells) hull() Range {
	h := Range{}
	for _, r := range s.of {
		h = h.join(r)
	}
	return h
}

// wholeLimit is what sums of integers wrap around at, before a function of the sum is taken.
const wholeLimit = 1 << 63

// blurred widens a sum by its rounding.
func (s cells) blurred(r Range) Range {
	if math.IsInf(r.Lo, 1) || math.IsInf(r.Hi, -1) { // a sum of infinities alone is one
		return r
	}
	if k := sumError(s.count(), 1); s.oneSign() && !math.IsInf(s.count(), 0) { // the error is then relative to the sum
		less := math.Min(k, 1)
		if r.Hi <= 0 {
			k, less = less, k
		}
		return Range{r.Lo - less*math.Abs(r.Lo), r.Hi + k*math.Abs(r.Hi)}
	}
	e := sumError(s.count(), s.total())
	if math.IsInf(e, 0) || math.IsNaN(e) {
		return r
	}
	return Range{r.Lo - e, r.Hi + e}
}

// oneSign tells whether no element is negative, or none positive.
func (s cells) oneSign() bool {
	pos, neg := true, true
	for _, r := range s.of {
		pos, neg = pos && r.Lo >= 0, neg && r.Hi <= 0
	}
	return pos || neg
}

func (s cells) apply(f func(Range) Range) cells {
	out := cells{of: make([]Range, len(s.of)), least: s.least, most: s.most, limit: s.limit, wraps: s.wraps}
	for i, r := range s.of {
		out.of[i] = f(r)
	}
	return out
}

// reduce applies f to the cells of every output element.
func (c *call) reduce(f func(s cells) Range) *Val {
	v, axes, keep, ok := c.reduction()
	if !ok {
		v = v.flat()
		n := c.elements()
		out := v.like(nil)
		r := f(cells{of: []Range{v.at(0)}, least: 1, most: n, limit: c.accumLimit(), wraps: c.wraps()})
		out.lo[0], out.hi[0] = r.Lo, r.Hi
		return out
	}
	return c.reduceOver(v, axes, keep, f)
}

// elements returns the greatest number of elements of the first input, infinite where not known.
func (c *call) elements() float64 {
	if c.rank(0) < 0 {
		return math.Inf(1)
	}
	n := 1.0
	for d := range c.shape(0) {
		_, hi := c.dim(0, d)
		if hi < 0 {
			return math.Inf(1)
		}
		n *= float64(hi)
	}
	return n
}

// reduction reads the axes of a Reduce node. ok is false where they or the rank are unknown.
func (c *call) reduction() (v *Val, axes []bool, keep, ok bool) {
	v, ok = c.full(0)
	list, all, known := pattern.Axes(c.n)
	if !ok || !known {
		return v, nil, false, false
	}
	axes = make([]bool, len(v.dims))
	for i := range axes {
		axes[i] = all
	}
	for _, a := range list {
		if a < 0 || a >= len(axes) {
			return v, nil, false, false
		}
		axes[a] = true
	}
	return v, axes, c.n.Int("keepdims", 1) != 0, true
}

// reduceOver is reduce over axes that are known.
func (c *call) reduceOver(v *Val, axes []bool, keep bool, f func(s cells) Range) *Val {
	least, most := 1.0, 1.0
	dims := make([]int, len(v.dims))
	for i, d := range v.dims {
		dims[i] = d
		if !axes[i] {
			continue
		}
		dims[i] = 1
		if d == 1 {
			lo, hi := c.dim(0, i)
			least *= math.Max(float64(lo), 1) // a symbolic dimension is taken not to be 0
			most *= float64(hi)
			if hi < 0 {
				most = math.Inf(1)
			}
			if hi == 0 {
				least, most = 0, 0
			}
		}
	}
	groups := make([][]Range, size(dims))
	walk(v.dims, [][]int{strides(dims)}, func(i int, at []int) { groups[at[0]] = append(groups[at[0]], v.at(i)) })
	out, limit := v.like(dims), c.accumLimit()
	for i, g := range groups {
		r := f(cells{g, least, most, limit, c.wraps()})
		out.lo[i], out.hi[i] = r.Lo, r.Hi
	}
	out.dims = without(dims, axes, keep)
	return out
}

// without drops the reduced axes unless they are kept.
func without(dims []int, axes []bool, keep bool) []int {
	if keep {
		return dims
	}
	var left []int
	for i, d := range dims {
		if !axes[i] {
			left = append(left, d)
		}
	}
	return left
}

func reduceSum(c *call) *Val {
	v := c.reduce(func(s cells) Range { return s.padded(s.sum()) }).torn()
	a := c.x(0)
	v.nan = v.nan || a.posInf && a.negInf
	v.integer = a.integer
	v = c.sumByBall(c.sumOfWeights(v, a), (*ball).magnitudes)
	if !v.integer && c.p.nonNegative(a) {
		v = v.atLeast(0)
	}
	return c.sumOfGrid(v, a)
}

// sumOfWeights meets the sum of weights, or of weighted values, with what it is: 1, or a mean, for each element
// of the other axes that are summed.
func (c *call) sumOfWeights(v, a *Val) *Val {
	_, axes, keep, ok := c.reduction()
	rank := len(axes)
	at := a.shares.axis
	if at == 0 && a.shares.grid == 0 && a.mix != nil {
		at = a.mix.weights.axis
	}
	if !ok || at == 0 || at > rank || !axes[rank-at] {
		return v
	}
	rows, single := 1.0, true
	for i, on := range axes {
		if on && i != rank-at {
			lo, hi := c.dim(0, i)
			if single = false; lo != hi {
				return v
			}
			rows *= float64(hi)
		}
	}
	_, n := c.dim(0, rank-at)
	e := 4*math.Max(c.p.unit(c.n.Out(0)), a.shares.unit) + 2*math.Min(float64(max(n, 0))*rows, 1<<20)*accumUnit
	if n < 0 {
		e = unknownSum
	}
	if a.shares.axis == at {
		r := Range{rows * (1 - e), rows * (1 + e)}
		if a.shares.most {
			r.Lo = 0
		}
		v = v.meet(scalar(r))
	}
	if m := a.mix; m != nil && m.weights.axis == at && len(m.of.dims) <= rank {
		x := m.of.clone()
		x.dims = pad(x.dims, rank)
		y := m.weights.mean(x, at, e/accumUnit, 0)
		if f := narrowest(behind(c.n.In(0), nil)); f.Bits() < 32 { // each product rounds by half the least number
			y = y.widen(float64(max(n, 1)) * f.MinSubnormal())
		}
		if y.dims = without(y.dims, axes, keep); !single {
			y = scalar(y.Hull().scale(rows))
		}
		v = v.meet(y)
	}
	return v
}

// nonNegative tells whether no element is below 0.
func (p *pass) nonNegative(a *Val) bool { return a.Hull().Lo >= 0 }

// atLeast lifts lower bounds to low: what the widening by rounding took below it.
func (v *Val) atLeast(low float64) *Val {
	return tightened(v, func(x Range) Range { return Range{math.Max(x.Lo, low), math.Max(x.Hi, low)} })
}

func reduceMean(c *call) *Val {
	a := c.x(0)
	v := c.reduce(func(s cells) Range {
		if s.most == 0 || len(s.of) == 0 {
			return all
		}
		r := s.mean()
		k := math.Min(sumError(s.count(), 1), 1) // relative to the mean magnitude
		if math.IsInf(s.count(), 1) {
			k = unknownSum
		}
		e := k * r.MaxAbs()
		if math.IsInf(e, 0) { // of the end that is bounded
			e = k * math.Min(math.Abs(r.Lo), math.Abs(r.Hi))
		}
		if math.IsNaN(e) || math.IsInf(e, 0) {
			e = 0
		}
		if s.wraps && s.total() >= wholeLimit {
			return all
		}
		r = overflowing(r, s.hull(), s.total(), s.limit)
		return ofOneSign(Range{r.Lo - e, r.Hi + e}, r, s.hull(), s.count()+1)
	}).torn()
	v.nan = v.nan || a.posInf && a.negInf || c.empty()
	if n := c.leastCount(); n > 0 {
		v = c.sumByBall(v, func(b *ball) float64 { return b.magnitudes() / n })
	}
	if h := a.Hull(); h.Lo >= 0 {
		return v.atLeast(0)
	}
	return v
}

// leastCount returns the least number of elements that are reduced together, 0 where not known.
func (c *call) leastCount() float64 {
	_, axes, _, ok := c.reduction()
	n := 1.0
	for i, on := range axes {
		if on {
			lo, _ := c.dim(0, i)
			n *= float64(lo)
		}
	}
	if !ok {
		return 0
	}
	return n
}

// empty tells whether the first input has no elements.
func (c *call) empty() bool { return c.elements() == 0 }

func reduceMax(c *call) *Val { return c.extreme(maximum, Range{math.Inf(-1), math.Inf(-1)}) }

func reduceMin(c *call) *Val { return c.extreme(minimum, Range{math.Inf(1), math.Inf(1)}) }

// extreme folds the cells by a maximum or minimum; of nothing it is infinite.
func (c *call) extreme(f func(x, y Range) Range, neutral Range) *Val {
	a := c.x(0)
	v := c.reduce(func(s cells) Range {
		if s.most == 0 {
			return neutral
		}
		r := neutral
		for _, x := range s.of {
			r = f(r, x)
		}
		return r
	})
	h := v.Hull()
	v.posInf, v.negInf = (a.posInf || c.empty()) && math.IsInf(h.Hi, 1), (a.negInf || c.empty()) && math.IsInf(h.Lo, -1)
	v.integer, v.tiny = a.integer, a.tiny
	return v
}

func reduceProd(c *call) *Val {
	a, torn := c.x(0), false
	v := c.reduce(func(s cells) Range {
		p, top := s.product()
		torn = torn || top > s.limit && s.zero()
		if e := sumError(math.Min(s.count(), 1<<16), 1); !s.wraps { // each product rounds
			p = Range{p.Lo - slop(p.Lo, e, 0), p.Hi + slop(p.Hi, e, 0)}
		}
		return p
	})
	v.integer = a.integer
	v.nan = a.nan || torn || a.special() && a.zero()
	return v
}

// product bounds the product of all elements. Partial products, which reach up to top, may overflow
// or vanish before the rest is multiplied.
func (s cells) product() (r Range, top float64) {
	p, low := Range{1, 1}, 1.0
	top = 1
	for _, x := range s.of {
		p = mul(p, x)
		a := absolute(x)
		top, low = top*math.Max(a.Hi, 1), low*math.Min(a.Lo, 1)
	}
	switch n := s.most; {
	case s.least == n && n < 1<<31:
		p = repeated(p, int(n))
	default:
		m := corners(absolute(p), Range{s.least, s.most})
		if p.Lo >= 0 {
			p = m
		} else {
			p = Range{-m.Hi, m.Hi}
		}
	}
	top, low = math.Pow(top, s.most), math.Pow(low, s.most)
	if low < 1/s.limit {
		p = p.join(Range{})
	}
	return overflowing(p, p, top, s.limit), top
}

// repeated is the product of n numbers, each of them anywhere in a range: the signs are free, too.
func repeated(r Range, n int) Range {
	p := Range{1, 1}
	for ; n > 0; n /= 2 {
		if n%2 != 0 {
			p = mul(p, r)
		}
		r = mul(r, r)
	}
	return p
}

// zero tells whether an element may be 0.
func (s cells) zero() bool {
	for _, x := range s.of {
		if x.hasZero() {
			return true
		}
	}
	return false
}

func reduceL1(c *call) *Val {
	return c.reduce(func(s cells) Range {
		s = s.apply(absolute)
		return s.padded(s.sum())
	}).atLeast(0)
}

// squares bounds the sum of squares; each of them may vanish below the least number of FP32.
func (s cells) squares() Range {
	s = s.apply(square)
	r := s.padded(s.sum())
	r.Lo -= product(s.count(), math.SmallestNonzeroFloat32)
	return r
}

func reduceSumSquare(c *call) *Val {
	v := c.reduce(cells.squares).atLeast(0)
	v.integer = c.x(0).integer
	return c.sumByBall(v, func(b *ball) float64 { return b.norm() * b.norm() })
}

func reduceL2(c *call) *Val {
	v := c.reduce(cells.squares).atLeast(0)
	w := map1flags(v, func(x Range) Range { return Range{math.Sqrt(x.Lo), math.Sqrt(x.Hi)} })
	return c.sumByBall(w, (*ball).norm)
}

func reduceLogSum(c *call) *Val {
	v := c.reduce(func(s cells) Range { return s.padded(s.sum()) }).torn()
	neg := v.Hull().Lo < 0 && c.x(0).Hull().Lo < 0
	w := map1flags(v, func(x Range) Range { return Range{math.Log(math.Max(x.Lo, 0)), math.Log(math.Max(x.Hi, 0))} })
	w.nan = w.nan || neg
	return w
}

// reduceLogSumExp lies above the maximum, by at most the logarithm of the number of terms. Kernels
// subtract the maximum, so that nothing overflows.
func reduceLogSumExp(c *call) *Val {
	a := c.x(0)
	v := c.reduce(func(s cells) Range {
		lo, hi := logSumExp(s.of, func(r Range) float64 { return r.Lo }), logSumExp(s.of, func(r Range) float64 { return r.Hi })
		return add(Range{lo, hi}, Range{math.Log(s.least), math.Log(s.most)})
	})
	e := 4 * accumUnit * math.Abs(v.Hull().MaxAbs())
	if math.IsInf(e, 0) {
		e = 0
	}
	v.nan = a.nan || a.special()
	return v.widen(e)
}

func logSumExp(of []Range, end func(Range) float64) float64 {
	top := math.Inf(-1)
	for _, r := range of {
		top = math.Max(top, end(r))
	}
	if math.IsInf(top, 0) {
		return top
	}
	t := 0.0
	for _, r := range of {
		t += math.Exp(end(r) - top)
	}
	return top + math.Log(t)
}
