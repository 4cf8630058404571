package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

func softmaxOps() map[string]op {
	return map[string]op{
		"Softmax": within(0, 1, softmaxOp), "LogSoftmax": approx(logSoftmaxOp), "Hardmax": choice(hardmaxOp),
		"com.microsoft.BiasSoftmax": within(0, 1, biasSoftmaxOp),
	}
}

// softmaxAxes marks the axes that are normalised together: all from axis on before opset 13.
func (c *call) softmaxAxes(rank int) ([]bool, bool) {
	def := int64(-1)
	if c.n.Version() < 13 {
		def = 1
	}
	axis, ok := c.axis("axis", def, rank)
	if !ok {
		return nil, false
	}
	axes := make([]bool, rank)
	for i := range axes {
		axes[i] = i == axis || i > axis && c.n.Version() < 13
	}
	return axes, true
}

func softmaxOp(c *call) *Val {
	v := c.softmax(c.x(0), c.rank(0), share)
	e := c.chained(0)
	if k := (1 + e) * math.Exp(c.offLogits()); e > 0 {
		v = map1flags(v, func(r Range) Range { return Range{r.Lo / k, math.Min(r.Hi*k, 1)} })
	}
	if axes, ok := c.softmaxAxes(c.rank(0)); ok {
		v = v.ranked(c.shape(0)).clone()
		v.sharing(axes)
		v.shares.unit = e / 4
	}
	return v
}

// chained is the relative error of weights whose sum over the elements of some inputs is rounded at each
// step, as the standard defines softmax and attention for bfloat16: the evaluator adds blocks of 32, and
// their sums. For other types it is 0.
func (c *call) chained(inputs ...int) float64 {
	if c.elem(0) != graph.BFloat16 {
		return 0
	}
	n, adds := 1.0, 3.0
	for _, i := range inputs {
		longest := 1.0
		for d := range c.shape(i) {
			if _, hi := c.dim(i, d); hi >= 0 {
				longest = math.Max(longest, float64(hi))
			} else {
				longest = 1 << 20
			}
		}
		n += longest
	}
	for ; n > 1; n = math.Ceil(n / 32) {
		adds += math.Min(n, 32)
	}
	return adds * numfmt.BF16.Unit()
}

// softmax bounds every element by itself at one end and the others of its row at the other end.
// bound gets the element, the others, and how many elements each cell stands for.
func (c *call) softmax(v *Val, rank int, bound func(x Range, others Range) Range) *Val {
	axes, ok := c.softmaxAxes(rank)
	if !ok || len(v.dims) > rank {
		out := map1(v.flat(), func(x Range) Range { return bound(x, Range{math.Inf(-1), math.Inf(1)}) })
		out.nan = v.nan || v.special()
		return out
	}
	if len(v.dims) < rank {
		v = v.clone()
		v.dims = pad(v.dims, rank)
	}
	lo := c.reduceOver(v, axes, true, func(s cells) Range { return s.logSum() })
	dead := c.reduceOver(v, axes, true, func(s cells) Range { return s.dead(v) })
	out := v.like(v.dims)
	steps := strides(lo.dims)
	walk(v.dims, [][]int{steps}, func(i int, at []int) {
		r := bound(v.at(i), others(v.at(i), lo.at(at[0])))
		out.lo[i], out.hi[i] = r.Lo, r.Hi
	})
	out.nan = v.nan || v.posInf || dead.Hull().Hi > 0
	return out
}

// logSum is the logarithm of the sum of exponentials.
func (s cells) logSum() Range {
	lo, hi := logSumExp(s.of, func(r Range) float64 { return r.Lo }), logSumExp(s.of, func(r Range) float64 { return r.Hi })
	return add(Range{lo, hi}, Range{math.Log(s.least), math.Log(s.most)})
}

// dead tells whether all elements of a row may be -Inf: then its softmax is NaN.
func (s cells) dead(v *Val) Range {
	for _, r := range s.of {
		if !v.negInf || !math.IsInf(r.Lo, -1) {
			return never
		}
	}
	return maybe
}

// others takes one element out of the logarithm of a sum of exponentials. The bounds of the rest
// come out a little loose where the element dominates the sum, which costs nothing: then the
// rest does not matter.
func others(x, sum Range) Range {
	return Range{logLess(sum.Lo, x.Lo, -1), logLess(sum.Hi, x.Hi, 1)}
}

// logLess bounds log(exp(a) - exp(b)) for b ≤ a from above, or for a side of -1 from below: next to a
// large number the logarithm of how many there are is lost.
func logLess(a, b, side float64) float64 {
	if math.IsInf(a, 0) || math.IsInf(b, 1) {
		return a
	}
	d := -math.Expm1(b-a) + side*(1e-12+math.Abs(a)*0x1p-50)
	if d <= 0 {
		return math.Inf(-1)
	}
	return a + math.Log(d)
}

// share bounds exp(x) / (exp(x) + exp(others)). The rounding of x less the maximum is a relative
// error of the share.
func share(x, others Range) Range {
	e, m := kernelError, math.Max(x.MaxAbs(), others.MaxAbs())
	lost := finiteOr0(x.MaxAbs()) * 0x1p-45 // what this computation itself rounds off
	r := Range{shareOf(x.Lo-lost, others.Hi), shareOf(x.Hi+lost, others.Lo)}
	if m < 1<<20 {
		e *= 1 + m
	}
	return Range{math.Max(r.Lo-e*r.Lo, 0), math.Min(r.Hi+e*r.Hi+1e-37, 1)}
}

// shareOf is 0 or 1 where one side is infinite; below 1e-37 kernels may flush to 0.
func shareOf(x, others float64) float64 {
	switch {
	case math.IsInf(others, 1), math.IsInf(x, -1):
		return 0
	case math.IsInf(others, -1), math.IsInf(x, 1):
		return 1
	}
	if p := logistic(x - others); p > 1e-37 {
		return p
	}
	return 0
}

// logSoftmaxOp is the logarithm of a share.
func logSoftmaxOp(c *call) *Val {
	v := c.softmax(c.x(0), c.rank(0), logShare)
	if e := c.chained(0) + c.offLogits(); e > 0 {
		v = map1flags(v, func(r Range) Range { return Range{r.Lo - e, math.Min(r.Hi+e, 0)} })
	}
	return v
}

// offLogits is how far off logits less their maximum are where that difference is rounded, too.
func (c *call) offLogits() float64 {
	if h := c.x(0).Hull(); c.elem(0) == graph.BFloat16 && h.Bounded() {
		return numfmt.BF16.Unit() * (h.Hi - h.Lo)
	}
	return 0
}

func logShare(x, others Range) Range {
	lo, hi := -softplusOf(others.Hi-x.Lo), -softplusOf(others.Lo-x.Hi)
	e := 4 * accumUnit * math.Max(math.Max(x.MaxAbs(), math.Abs(lo)), 1)
	if math.IsInf(e, 0) || math.IsNaN(e) {
		e = 0
	}
	return Range{lo - e, math.Min(hi+e, 0)}
}

func softplusOf(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return softplus(x)
}

func hardmaxOp(c *call) *Val {
	v := c.within(maybe)
	v.nan, v.integer = false, true
	return v
}

// biasSoftmaxOp adds a bias, broadcast, before the softmax.
func biasSoftmaxOp(c *call) *Val {
	v := c.within(maybe)
	v.nan = v.nan || plus(c.x(0), c.x(1)).negInf || c.x(0).posInf || c.x(1).posInf
	return v
}
