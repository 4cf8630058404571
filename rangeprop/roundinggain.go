package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// gain is what a mean square error of input k becomes in output i: the mean square of the derivative,
// summed over the elements that go into one.
func (e *rounding) gain(c *call, i, k int) float64 {
	n := c.n
	switch name := n.OpName(); {
	case name == "Concat":
		return c.shareOf(k)
	case moves(name):
		return first(k)
	case name == "Add" || name == "Sub" || name == "Sum":
		return 1
	case name == "Mul":
		if n.In(0) == n.In(1) {
			return 2 * e.square(n.In(0)) // half of 4x²: it is asked for each
		}
		return e.square(n.In(1 - k))
	case name == "Div":
		return e.quotient(n, k)
	case elementwise(n):
		return e.slope(c, k)
	case i > 0:
		return e.relative(n, i, k)
	}
	return e.summed(c, k)
}

// call is a node with what is known of its inputs.
func (e *rounding) call(n *graph.Node) *call {
	c := &call{p: e.p, n: n, in: make([]*Val, len(n.Inputs))}
	for k, v := range n.Inputs {
		if v != nil {
			c.in[k] = e.p.val(v)
		}
	}
	return c
}

// first is 1 for the input that is moved.
func first(k int) float64 {
	if k == 0 {
		return 1
	}
	return 0
}

// shareOf is the share of a Concat's elements that come from input k.
func (c *call) shareOf(k int) float64 {
	all, own := 0, 0
	for j := range c.in {
		n := count(c.shape(j))
		if n <= 0 {
			return 1 / float64(len(c.in))
		}
		if all += n; j == k {
			own = n
		}
	}
	return float64(own) / float64(all)
}

// quotient: a/b moves by 1/b with a, and by a/b² with b.
func (e *rounding) quotient(n *graph.Node, k int) float64 {
	d := e.square(n.In(1))
	if d == 0 {
		return 0
	}
	if k == 0 {
		return 1 / d
	}
	return e.square(n.In(0)) / (d * d)
}

// slope is the mean square of an elementwise function's derivative; of one of several inputs, which a
// selection takes one of, an equal share.
func (e *rounding) slope(c *call, k int) float64 {
	of := c.n.In(k)
	inputs := 0
	for j, in := range c.in {
		if in != nil && !in.number() && c.n.Inputs[j].Type.Float() {
			inputs++
		}
	}
	switch {
	case inputs > 1:
		return 1 / float64(inputs)
	case c.in[k].number():
		return 0 // an exponent, or the end of a Clip: taken as it is
	}
	m, h := e.p.moments(of), c.in[k].Hull()
	if len(m.mean) > maxSlopes {
		m = m.flat()
	}
	var pairs []float64
	for i, x := range m.points(h) {
		mean, sd := m.mean[i/perRule], math.Sqrt(m.vari[i/perRule])
		d := slopeStep * math.Max(sd, math.Abs(mean)/256)
		pairs = append(pairs, math.Max(x-d, h.Lo), math.Min(x+d, h.Hi))
	}
	y := c.tried(of, pairs, 0)
	if y == nil {
		return e.relative(c.n, 0, k)
	}
	return meanSlope(pairs, y)
}

// maxSlopes is the number of channels over which a derivative is integrated one by one.
const maxSlopes = 64

// slopeStep is the step of a difference quotient in deviations.
const slopeStep = 1e-3

// steep is from where on a mean square of derivatives is one of a few points.
const steep = 16

// meanSlope is the weighted mean of squared difference quotients of the pairs around points, or that for errors
// which grow with the value where it is far less: a root is infinitely steep at 0, but what lies there
// was rounded to as many digits as the rest.
func meanSlope(pairs []float64, y *Val) float64 {
	sum, total, grown, squares := 0.0, 0.0, 0.0, 0.0
	for i := range len(pairs) / 2 {
		a, b, w := 2*i, 2*i+1, ruleWeight(i)
		d := (y.lo[b] + y.hi[b] - y.lo[a] - y.hi[a]) / 2 / (pairs[b] - pairs[a])
		x := (pairs[a] + pairs[b]) / 2
		if !math.IsNaN(d) && !math.IsInf(d, 0) {
			sum, total = sum+w*d*d, total+w
			grown, squares = grown+w*d*d*x*x, squares+w*x*x
		}
	}
	if total == 0 || squares == 0 {
		return 0
	}
	if s := sum / total; s <= steep*grown/squares {
		return s
	}
	return grown / squares
}

// relative lets an error keep its size relative to the value: of operators that nothing more is known of.
func (e *rounding) relative(n *graph.Node, i, k int) float64 {
	if v := n.In(k); v != nil && v.Type.Float() {
		if q := e.square(v); q > 0 {
			return e.square(n.Out(i)) / q
		}
	}
	return 0
}

// summed is the gain of operators that add up or normalise.
func (e *rounding) summed(c *call, k int) float64 {
	n := c.n
	switch n.OpName() {
	case "MatMul", "Gemm", "com.microsoft.FusedMatMul":
		return e.product(c, k)
	case "Conv", "ConvTranspose", "com.microsoft.FusedConv":
		return e.kernel(c, k)
	case "ReduceMean", "GlobalAveragePool", "AveragePool":
		return 1 / c.elementsOf(n.Op)
	case "ReduceSum":
		return c.elementsOf(n.Op)
	case "ReduceMax", "ReduceMin", "MaxPool", "GlobalMaxPool", "Pad", "LogSoftmax":
		return first(k)
	case "Softmax":
		return e.square(n.Out(0))
	case "LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization", "InstanceNormalization", "GroupNormalization", "BatchNormalization":
		return e.normed(c, k)
	}
	return e.relative(n, 0, k)
}

// elementsOf is the number of elements that one result is made of.
func (c *call) elementsOf(name string) float64 {
	n := 0.0
	switch name {
	case "GlobalAveragePool":
		n = c.trailingCount(0, 2)
	case "AveragePool":
		n = c.kernel()
	default:
		n = c.leastCount()
	}
	if n < 1 || math.IsInf(n, 0) {
		return manyTerms
	}
	return n
}

// product: each of the terms of a sum moves by its other factor. Where one side are weights that sum to
// 1, little of the other side's error is averaged away.
func (e *rounding) product(c *call, k int) float64 {
	if k > 1 {
		return 1
	}
	if k == 1 && c.x(0).shares.axis == 1 {
		return attended
	}
	alpha := float64(c.n.Float("alpha", 1))
	return alpha * alpha * c.terms() * e.square(c.n.In(1-k))
}

// terms is the number of terms of each sum in a product.
func (c *call) terms() float64 {
	at := c.rank(0) - 1
	if c.n.Int("transA", 0) != 0 && at > 0 {
		at--
	}
	if _, hi := c.dim(0, at); hi > 0 {
		return float64(hi)
	}
	return rowTerms
}

// rowTerms is what the length of a row without a number is taken for, as softmaxMoments does.
const rowTerms = 16

// kernel is product for a convolution: its terms are the taps that reach a position.
func (e *rounding) kernel(c *call, k int) float64 {
	if k > 1 {
		return 1
	}
	s := c.shape(1)
	if len(s) < 3 {
		return e.relative(c.n, 0, k)
	}
	terms := float64(count(s)) / math.Max(float64(s[0].N), 1)
	if c.n.Op == "ConvTranspose" {
		terms = float64(count(s)) / math.Max(float64(s[1].N), 1) / math.Max(float64(c.n.Int("group", 1)), 1)
		for _, d := range c.n.Ints("strides") {
			terms /= math.Max(float64(d), 1)
		}
	}
	learnt := 1.0
	if k == 0 && s[1].N > 1 {
		learnt = trained // behind the first layer errors go together as what they are errors of does
	}
	return learnt * math.Max(terms, 1) * e.square(c.n.In(1-k))
}

// normed: a normalisation divides by the spread of its input.
func (e *rounding) normed(c *call, k int) float64 {
	n := c.n
	centred := n.Op != "RMSNormalization" && n.Op != "SimplifiedLayerNormalization"
	switch {
	case k == 1:
		return e.relative(n, 0, 1)
	case k > 1:
		return 1
	}
	scale := 1.0
	if c.has(1) {
		scale = e.square(n.In(1))
	}
	d := e.spread(n.In(0), centred)
	if n.Op == "BatchNormalization" && c.has(4) {
		if m := e.p.moments(n.In(4)).flat(); len(m.mean) > 0 {
			d = m.mean[0]
		}
	}
	return scale / (d + c.epsilon(1e-5))
}
