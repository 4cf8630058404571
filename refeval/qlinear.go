package refeval

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// qlinearOps are the products of quantised tensors that the standard has.
func qlinearOps() []entry {
	return []entry{
		op("QLinearConv", qlinearConv),
		op("QLinearMatMul", qlinearMatMul),
		op("com.microsoft.QLinearConv", qlinearConv),
	}
}

// perRow shapes the scales or zero points of the rows of a matrix so that they broadcast to it;
// those of columns, and single ones, do so as they are.
func perRow(t *Tensor) *Tensor {
	if t != nil && t.Rank() == 1 && t.Len() != 1 {
		return t.view([]int{t.Len(), 1})
	}
	return t
}

// single drops the dimensions of a tensor of one element, which may be more than its partner has.
func single(t *Tensor) *Tensor {
	if t != nil && t.Len() == 1 {
		return t.view([]int{})
	}
	return t
}

// qlinearMatMul multiplies integers exactly, and float8 in float32; then comes the scale.
func qlinearMatMul(c *Call) error {
	a, b, ys, zy := c.In(0), c.In(3), single(c.In(6)), single(c.In(7))
	za, zb := perRow(c.In(2)), c.In(5)
	var p *Tensor
	if a.I != nil {
		p = c.matmul(c.less(a, za), c.less(b, zb))
	} else {
		p = c.matmul(c.minus(a, za), c.minus(b, zb))
	}
	m := c.quotient(c.product(single(perRow(c.In(1))), single(c.In(4))), ys)
	c.rescale(0, p, m, zy, zy.Elem)
	return nil
}

// minus returns a tensor as float less a zero point.
func (c *Call) minus(x, zero *Tensor) *Tensor {
	y := c.Clone(c.as(x, graph.Float))
	if zero != nil {
		minusOf := subtraction()
		minusOf.into(c, y, y, c.as(single(zero), graph.Float))
	}
	return y
}

// product multiplies scales in their own type.
func (c *Call) product(x, y *Tensor) *Tensor { return c.scalesOf(x, y, multiplication()) }

// quotient divides scales in their own type.
func (c *Call) quotient(x, y *Tensor) *Tensor {
	return c.scalesOf(x, y, division())
}

func (c *Call) scalesOf(x, y *Tensor, a arith) *Tensor {
	z := c.Temp(sameType(x, y), broadcast(x.Dims, y.Dims))
	a.into(c, z, x, y)
	z.narrow()
	return z
}

// rescale quantises output i from products p by a factor that broadcasts to them, in double: the
// sum of a few dozen bits is exact there.
func (c *Call) rescale(i int, p, factor, zero *Tensor, e graph.ElemType) {
	dims := broadcast(p.Dims, factor.Dims)
	if !slices.Equal(dims, p.Dims) {
		refuse("scales %s for %s", factor, p)
	}
	d := c.as(p, graph.Double)
	multiplication().into(c, d, d, c.as(factor, graph.Double))
	one := c.Temp(graph.Double, []int{})
	one.D[0] = 1
	s := &scales{single: true}
	if zero != nil && zero.Len() != 1 {
		s = &scales{n: p.Dims[p.Rank()-1], inner: 1}
	}
	c.quantize(c.Out(i, e, p.Dims), d, one, zero, s, graph.Double, true)
}

// qlinearConv convolves integers exactly, and adds a bias that is of the scale of the products.
// onnxruntime's own form may have the channels last, in the image alone.
func qlinearConv(c *Call) error {
	x, w := c.In(0), c.In(3)
	last := c.Int("channels_last") != 0
	if last {
		x = c.channelsFirst(x)
	}
	if x.Rank() < 3 || w.Rank() != x.Rank() {
		refuse("weights %s for an image %s", w, x)
	}
	g := c.window(x.Dims[2:], c.kernelShape(w.Dims[2:]))
	p := c.conv(c.shifted(x, c.In(2), 0), c.shifted(w, c.In(5), 0), g, max(c.Int("group"), 1))
	c.addBias(p, c.In(8))
	m := c.quotient(c.product(single(c.In(1)), single(c.In(4))), single(c.In(6)))
	if m.Len() != 1 {
		m = perChannel(m, p.Rank())
	}
	zy := single(c.In(7))
	c.rescale(0, p, m, zy, zy.Elem)
	if last {
		c.Set(0, TensorValue(c.channelsLast(c.out[0].Tensor)))
	}
	return nil
}

// channelsFirst moves the last dimension of an image behind the batch, channelsLast back.
func (c *Call) channelsFirst(x *Tensor) *Tensor {
	perm := allAxes(x.Rank())
	n := len(perm)
	return c.permuted(x, slices.Concat(perm[:1], perm[n-1:], perm[1:n-1]))
}

func (c *Call) channelsLast(x *Tensor) *Tensor {
	perm := allAxes(x.Rank())
	return c.permuted(x, slices.Concat(perm[:1], perm[2:], perm[1:2]))
}

// permuted returns x with its dimensions in another order.
func (c *Call) permuted(x *Tensor, perm []int) *Tensor {
	own := strides(x.Dims)
	dims, from := make([]int, len(perm)), make([]int, len(perm))
	for i, p := range perm {
		dims[i], from[i] = x.Dims[p], own[p]
	}
	y := c.Temp(x.Elem, dims)
	copyBox(y, whole(y), x, layout{strides: from}, dims)
	return y
}
