package rangeprop

import (
	"math"
	"slices"
	"sync"

	"github.com/amplint/amplint/graph"
)

// How balls pass through operators. Each function returns the ball of a node's first output, nil
// where there is none to be had.

// follow is the way of a ball through an operator.
type follow func(c *call) *ball

// followers returns the table of them, built once and never changed.
var followers = sync.OnceValue(func() map[string]follow {
	f := map[string]follow{
		"MatMul": followMatMul, "Gemm": followGemm, "com.microsoft.FusedMatMul": followMatMul,
		"Pow": followPow, "Add": followAdd, "Sub": followSub, "Mul": followMul, "Div": followDiv,
		"LpNormalization": followLength, "LayerNormalization": followNorm(false), "RMSNormalization": followNorm(true), "SimplifiedLayerNormalization": followNorm(true),
		"Identity": followSame, "Cast": followSame, "Dropout": followSame, "Neg": followNeg,
		"Reshape": followReshape, "Squeeze": followReshape, "Unsqueeze": followReshape, "Flatten": followReshape, "Transpose": followTranspose,
		"Slice": followSlice, "Gather": followGather, "Concat": followConcat, "Expand": followExpand,
		"Erf": followBounded, "com.microsoft.SkipLayerNormalization": followSkipNorm(false),
		"com.microsoft.SkipSimplifiedLayerNormalization": followSkipNorm(true),
	}
	for name, l := range lipschitz() {
		f[name] = followLipschitz(l)
	}
	return f
})

// followed gives an output its ball and meets its bounds with it.
func (c *call) followed(i int, v *graph.Value, x *Val) *Val {
	rank := len(v.Type.Shape)
	if rank == 0 || !v.Type.Elem.IsFloat() || c.p.opt.NoBalls {
		return x
	}
	x = x.clone()
	x.ball, x.pieces = nil, nil
	b := c.ballOf(i)
	if b == nil || !b.finite() || !b.fits(v.Type.Shape) {
		return x
	}
	b = b.lossy(c.p.unit(v), c.p.least(v))
	y := x.clone()
	y.ball = b
	y = y.tighten(rank)
	y.ball = y.ball.boxless()
	if f, ok := c.p.resultFormat(v); ok && y.Hull().MaxAbs() > f.Max() {
		y = heldIn(f, y)
		y.ball = nil // an element that overflows lies in no ball
	}
	return y
}

// ballOf returns the ball of output i.
func (c *call) ballOf(i int) *ball {
	if c.n.OpName() == "Split" {
		return c.split(i)
	}
	if f := c.p.follows[c.n.OpName()]; f != nil && i == 0 {
		return f(c)
	}
	return nil
}

// fits tells whether the axes of the ball have the lengths of the shape.
func (b *ball) fits(s graph.Shape) bool {
	for i, a := range b.axes {
		if a >= len(s) || s[a].Known() && s[a].N != int64(b.sizes[i]) || !s[a].Known() {
			return false
		}
	}
	return slices.IsSorted(b.axes)
}

// lossy allows for the rounding of every element in the format it is held in, which has a unit roundoff and a least
// number.
func (b *ball) lossy(unit, least float64) *ball {
	c := *b
	c.loss += 2*unit*(length(b.center)+b.cheapSpread()) + least*math.Sqrt(float64(b.n()))
	if b.box != nil {
		c.box = b.box.widened(func(j int) float64 {
			return 2*unit*(math.Abs(b.center[j])+math.Max(b.box.down[j], b.box.up[j])) + least
		})
	}
	return &c
}

// cheapSpread bounds the spread without a spectral norm: by the norms of the columns.
func (b *ball) cheapSpread() float64 {
	if b.m == nil || b.m.norm > 0 {
		return b.spread()
	}
	return length(b.deviations())
}

func followSame(c *call) *ball { return c.x(0).ball }

func followNeg(c *call) *ball {
	if b := c.x(0).ball; b != nil {
		return b.scaled(nil, -1)
	}
	return nil
}

// scaled multiplies the vector by factors, or all of it by one.
func (b *ball) scaled(k []float64, all float64) *ball {
	b = b.boxless()
	if k == nil {
		return b.stretched(all)
	}
	if uniform(k) {
		return b.stretched(k[0])
	}
	c := *b
	c.center = multiplied(b.center, k)
	top := greatest(k)
	c.loss, c.l1 = b.loss*top, b.l1*top
	switch {
	case b.m != nil:
		c.m = b.m.scale(k)
	case b.diag != nil:
		c.diag = make([]float64, b.n())
		for i, x := range b.diag {
			c.diag[i] = x * k[i]
		}
	default:
		c.diag = k
	}
	return &c
}

func uniform(k []float64) bool {
	for _, x := range k {
		if x != k[0] {
			return false
		}
	}
	return len(k) > 0
}

// stretched multiplies all of the vector by one factor: the radius takes it, so that the map and its
// norm stay shared.
func (b *ball) stretched(k float64) *ball {
	c := *b
	c.center, c.radius = make([]float64, b.n()), make([]float64, len(b.radius))
	for i, x := range b.center {
		c.center[i] = x * k
	}
	for g, r := range b.radius {
		c.radius[g] = r * math.Abs(k)
	}
	c.loss, c.l1 = b.loss*math.Abs(k), b.l1*math.Abs(k)
	return &c
}

// moved adds a vector to the center.
func (b *ball) moved(d []float64, sign float64) *ball {
	c := *b
	c.center = make([]float64, b.n())
	for i, x := range b.center {
		c.center[i] = x + sign*d[i]
	}
	c.l1 = 0
	return &c
}

// exactly returns a value as a vector along the axes of a ball, where it is one number for each.
func exactly(v *Val, b *ball, rank int) ([]float64, bool) {
	if v.basis != Constant || v.nan {
		return nil, false
	}
	lo, hi, ok := v.vector(b.axes, b.sizes, rank)
	if !ok || !slices.Equal(lo, hi) {
		return nil, false
	}
	for _, x := range lo {
		if math.IsInf(x, 0) {
			return nil, false
		}
	}
	return lo, true
}

func (c *call) outRank() int { return len(c.shapeOut(0)) }

// aligned returns the ball of an input with its axes counted as those of the output, to which the
// input may be broadcast from fewer dimensions.
func (c *call) aligned(i int) *ball {
	b := c.x(i).ball
	if b == nil {
		return nil
	}
	off := c.outRank() - c.rank(i)
	if off == 0 {
		return b
	}
	a := *b
	a.axes = shifted(b.axes, off)
	return &a
}

func followAdd(c *call) *ball { return c.sum(1) }

func followSub(c *call) *ball { return c.sum(-1) }

// sum adds two balls, or moves one by a constant vector.
func (c *call) sum(sign float64) *ball {
	a, b := c.aligned(0), c.aligned(1)
	switch {
	case a != nil && b != nil:
		return a.plus(b, sign)
	case a != nil:
		if d, ok := exactly(c.x(1), a, c.outRank()); ok {
			return a.moved(d, sign)
		}
		return a.plus(c.box(1, a), sign)
	case b != nil:
		if sign < 0 {
			b = b.scaled(nil, -1)
		}
		if d, ok := exactly(c.x(0), b, c.outRank()); ok {
			return b.moved(d, 1)
		}
		return b.plus(c.box(0, b), 1)
	}
	return nil
}

// box is the ball around an input's intervals, along the axes of another ball.
func (c *call) box(i int, b *ball) *ball {
	lo, hi, ok := c.x(i).vector(b.axes, b.sizes, c.outRank())
	if !ok || c.x(i).nan || !c.x(i).Hull().Bounded() {
		return nil
	}
	return boxed(b.axes, b.sizes, lo, hi)
}

// plus adds the norms; the maps of two sources do not combine.
func (b *ball) plus(d *ball, sign float64) *ball {
	if d == nil || !slices.Equal(b.axes, d.axes) || !slices.Equal(b.sizes, d.sizes) {
		return nil
	}
	center := make([]float64, b.n())
	for i := range center {
		center[i] = b.center[i] + sign*d.center[i]
	}
	out := newBall(b.axes, b.sizes, center, 0)
	out.groups, out.radius = b.heads(), b.spreads()
	for g, r := range d.spreads() {
		out.radius[g] += r
	}
	return out
}

// heads is the number of parts of a vector along all of its axes but the last; a vector without axes, of one
// element, is one.
func (b *ball) heads() int { return size(b.sizes[:max(len(b.sizes)-1, 0)]) }

// spreads bounds the norm of value - center for each head.
func (b *ball) spreads() []float64 {
	list := make([]float64, b.heads())
	for h := range list {
		list[h] = b.head(h, len(list)).spread()
	}
	return list
}

// norms bounds the norm of the value for each head.
func (b *ball) norms() []float64 {
	list := b.spreads()
	k := b.n() / len(list)
	for h := range list {
		list[h] += length(b.center[h*k:(h+1)*k]) * grow
	}
	return list
}

func followMul(c *call) *ball {
	a, b := c.aligned(0), c.aligned(1)
	switch {
	case a != nil && b != nil:
		return c.gated(a, b)
	case a != nil:
		return c.times(a, 1)
	case b != nil:
		return c.times(b, 0)
	}
	return nil
}

// times multiplies by a constant vector, or by anything bounded: that keeps only the norm.
func (c *call) times(b *ball, other int) *ball {
	if k, ok := exactly(c.x(other), b, c.outRank()); ok {
		return b.scaled(k, 0)
	}
	lo, hi, ok := c.x(other).vector(b.axes, b.sizes, c.outRank())
	if !ok || !c.x(other).Hull().Bounded() {
		return nil
	}
	m := make([]float64, len(lo))
	for i := range m {
		m[i] = math.Max(-lo[i], hi[i])
	}
	out := newBall(b.axes, b.sizes, make([]float64, b.n()), 0)
	out.groups, out.radius, out.diag = b.heads(), b.norms(), m
	return out
}

// gated multiplies two vectors: the sum of magnitudes of the product is at most the product of the
// norms, and its norm at most that of one by the greatest element of the other.
func (c *call) gated(a, b *ball) *ball {
	if !slices.Equal(a.axes, b.axes) || !slices.Equal(a.sizes, b.sizes) {
		return nil
	}
	return c.gatedBy(a, b, c.x(0).Hull().MaxAbs(), c.x(1).Hull().MaxAbs())
}

// gatedBy is gated with the greatest elements of both.
func (c *call) gatedBy(a, b *ball, topA, topB float64) *ball {
	na, nb := a.norm(), b.norm()
	r := math.Min(na*nb, math.Min(na*topB, nb*topA))
	out := newBall(a.axes, a.sizes, make([]float64, a.n()), r)
	out.l1 = na * nb * grow
	return out
}

// followPow follows squares: their sum is the square of the norm.
func followPow(c *call) *ball {
	b := c.x(0).ball
	if e, ok := c.number(1); b == nil || !ok || e != 2 || c.rank(0) != c.outRank() {
		return nil
	}
	return c.gatedBy(b, b, c.x(0).Hull().MaxAbs(), c.x(0).Hull().MaxAbs())
}

func followDiv(c *call) *ball {
	a := c.aligned(0)
	if a == nil {
		return nil
	}
	k, ok := exactly(c.x(1), a, c.outRank())
	if !ok || !inverted(k) {
		return nil
	}
	return a.scaled(k, 0)
}

// lipschitz lists elementwise functions with their Lipschitz constants.
func lipschitz() map[string]float64 {
	return map[string]float64{"Relu": 1, "Tanh": 1, "Sigmoid": 0.25, "Gelu": 1.13, "com.microsoft.Gelu": 1.13, "com.microsoft.QuickGelu": 1.1,
		"Clip": 1, "HardSwish": 1.5, "Softplus": 1, "Sin": 1, "Cos": 1, "Abs": 1, "Swish": 1.1, "Mish": 1.09, "Atan": 1, "Softsign": 1}
}

// followLipschitz moves the center by the function and multiplies the spread by its constant.
func followLipschitz(l float64) follow {
	return func(c *call) *ball {
		b := c.x(0).ball
		if b == nil || c.n.OpName() == "Swish" && c.n.Float("alpha", 1) != 1 {
			return nil
		}
		center, ok := c.image(b.center)
		if !ok {
			return nil
		}
		out := newBall(b.axes, b.sizes, center, l*b.spread())
		out.loss = kernelError * math.Sqrt(float64(b.n())) * 4
		return out
	}
}

// image applies the node's own transfer function to a vector of numbers.
func (c *call) image(x []float64) ([]float64, bool) {
	d := &call{p: c.p, n: c.n, in: slices.Clone(c.in)}
	d.in[0] = &Val{dims: []int{len(x)}, lo: x, hi: x, basis: Constant}
	for i := 1; i < len(d.in); i++ {
		if d.in[i] != nil && (len(d.in[i].lo) != 1 || d.in[i].lo[0] != d.in[i].hi[0]) {
			return nil, false
		}
	}
	v := c.p.ops[c.n.OpName()].f(d)[0]
	if len(v.lo) != len(x) {
		return nil, false
	}
	out := make([]float64, len(x))
	for i := range out {
		out[i] = v.lo[i]/2 + v.hi[i]/2
	}
	return out, !math.IsNaN(length(out)) && !math.IsInf(length(out), 0)
}

// followBounded is followLipschitz of Erf, whose slope is 2/√π.
func followBounded(c *call) *ball { return followLipschitz(1.1284)(c) }

// followNorm: a normalised row has the norm √n, whatever ε.
func followNorm(rms bool) follow {
	return func(c *call) *ball {
		axis, ok := c.axis("axis", -1, c.rank(0))
		if !ok || axis != c.rank(0)-1 {
			return nil
		}
		return c.normBall(0, c.given(1), c.given(2), rms)
	}
}

// followLength: a row that is divided by its length has the length 1.
func followLength(c *call) *ball {
	rank := c.rank(0)
	axis, ok := c.axis("axis", -1, rank)
	if !ok || axis != rank-1 || c.n.Int("p", 2) != 2 || !c.shape(0)[axis].Known() || c.shape(0)[axis].N > maxChannels {
		return nil
	}
	n := int(c.shape(0)[axis].N)
	return newBall([]int{axis}, []int{n}, make([]float64, n), 1+1e-5)
}

// followSkipNorm has its scale and bias behind the residual.
func followSkipNorm(rms bool) follow {
	return func(c *call) *ball {
		if rms {
			return c.normBall(0, c.given(2), nil, true)
		}
		return c.normBall(0, c.given(2), c.given(3), false)
	}
}

func (c *call) normBall(i int, scale, bias *Val, rms bool) *ball {
	rank := c.rank(i)
	if rank < 1 || !c.shape(i)[rank-1].Known() || c.shape(i)[rank-1].N > maxChannels {
		return nil
	}
	n := int(c.shape(i)[rank-1].N)
	b := newBall([]int{rank - 1}, []int{n}, make([]float64, n), math.Sqrt(float64(n))*(1+1e-5))
	if scale != nil {
		k, ok := exactly(scale, b, rank)
		if !ok {
			return nil
		}
		b = b.scaled(k, 0)
	}
	if bias != nil {
		d, ok := exactly(bias, b, rank)
		if !ok {
			return nil
		}
		b = b.moved(d, 1)
	}
	return b
}

// sumByBall meets a sum over the axes of a ball, or some of them, with what its vectors allow.
func (c *call) sumByBall(v *Val, bound func(b *ball) float64) *Val {
	b := c.x(0).ball
	_, axes, _, ok := c.reduction()
	if b == nil || !ok {
		return v
	}
	for i, on := range axes {
		if on && !slices.Contains(b.axes, i) {
			return v
		}
	}
	m := bound(b) * (1 + 1e-5)
	if math.IsInf(m, 0) || math.IsNaN(m) || m < 0 {
		return v
	}
	return v.meet(scalar(Range{-m, m}))
}

// magnitudes bounds the sum of magnitudes of a vector.
func (b *ball) magnitudes() float64 {
	m := b.norm() * math.Sqrt(float64(b.n()))
	if b.l1 > 0 {
		m = math.Min(m, b.l1)
	}
	return m
}
