package refeval

import "github.com/amplint/amplint/graph"

// qcontribOps are onnxruntime's operators on tensors of 8-bit integers. Each computes on the real
// numbers that the integers stand for.
func qcontribOps() []entry {
	return []entry{
		op("com.microsoft.DynamicQuantizeMatMul", dynamicQuantizeMatMul),
		op("com.microsoft.MatMulIntegerToFloat", matMulIntegerToFloat),
		mover("com.microsoft.NhwcMaxPool", nhwcMaxPool),
		op("com.microsoft.QGemm", qgemm),
		op("com.microsoft.QLinearAdd", qlinearPair(addition())),
		op("com.microsoft.QLinearAveragePool", qlinearPool(averagePool)),
		op("com.microsoft.QLinearConcat", qlinearConcat),
		op("com.microsoft.QLinearGlobalAveragePool", qlinearPool(globalPool(additive{post: quotient}))),
		op("com.microsoft.QLinearLeakyRelu", qlinearUnary(unaryWith(leakyRelu))),
		op("com.microsoft.QLinearMul", qlinearPair(multiplication())),
		op("com.microsoft.QLinearReduceMean", qlinearReduceMean),
		op("com.microsoft.QLinearSigmoid", qlinearUnary(unary(sigmoid))),
		op("com.microsoft.QLinearSoftmax", qlinearSoftmax),
		op("com.microsoft.QLinearWhere", qlinearWhere),
	}
}

// real returns the real numbers of a tensor, whose scale and zero point are single.
func (c *Call) real(x, scale, zero *Tensor) *Tensor {
	y := c.Temp(graph.Float, x.Dims)
	c.dequantize(y, x, scale, zero, c.scales(x, scale, zero))
	return y
}

// realIn returns the real numbers of input i, whose scale and zero point follow it.
func (c *Call) realIn(i int) *Tensor { return c.real(c.In(i), c.In(i+1), c.In(i+2)) }

// integers sets output 0 to the integers that stand for y; inputs i and i+1 are scale and zero
// point.
func (c *Call) integers(y *Tensor, e graph.ElemType, i int) error {
	scale, zero := c.In(i), c.In(i+1)
	c.quantize(c.Out(0, e, y.Dims), y, scale, zero, c.scales(y, scale, zero), graph.Float, true)
	return nil
}

// qlinearPair makes a kernel of an operation on two tensors.
func qlinearPair(a arith) func(c *Call) error {
	return func(c *Call) error {
		x, y := c.realIn(0), c.realIn(3)
		z := c.Temp(graph.Float, broadcast(x.Dims, y.Dims))
		a.into(c, z, x, y)
		return c.integers(z, c.In(0).Elem, 6)
	}
}

// qlinearUnary makes a kernel of one that works on one tensor.
func qlinearUnary(run func(c *Call) error) func(c *Call) error {
	return func(c *Call) error {
		return c.integers(c.with(run, 18, c.realIn(0)), c.In(0).Elem, 3)
	}
}

// qlinearPool makes a kernel of a pooling operator; the channels may come last.
func qlinearPool(run func(c *Call) error) func(c *Call) error {
	return func(c *Call) error {
		x, last := c.realIn(0), c.Int("channels_last") != 0
		if last {
			x = c.channelsFirst(x)
		}
		y := c.with(run, 18, x)
		if last {
			y = c.channelsLast(y)
		}
		return c.integers(y, c.In(0).Elem, 3)
	}
}

// qlinearSoftmax follows the opset that an attribute names.
func qlinearSoftmax(c *Call) error {
	soft := func(c *Call) error { return c.softmax(false) }
	return c.integers(c.with(soft, int64(c.Int("opset")), c.realIn(0)), c.In(0).Elem, 3)
}

func qlinearReduceMean(c *Call) error {
	return c.integers(c.with(additive{post: quotient}.run, 13, c.realIn(0)), c.In(0).Elem, 3)
}

// qlinearConcat joins tensors of their own scales, which follow each of them.
func qlinearConcat(c *Call) error {
	var list []*Tensor
	for i := 2; i+2 < c.Len(); i += 3 {
		list = append(list, c.realIn(i))
	}
	if len(list) == 0 {
		refuse("nothing to join")
	}
	e := c.In(2).Elem
	if zero := c.In(1); zero != nil {
		e = zero.Elem
	}
	return c.integers(c.with(concat, 13, list...), e, 0)
}

func qlinearWhere(c *Call) error {
	cond, x, y := c.In(0), c.realIn(1), c.realIn(4)
	return c.integers(c.with(where, 16, cond, x, y), c.In(1).Elem, 7)
}

// qgemm is alpha A B + C, where C is of the scale of the products. Without an output scale the
// result is float.
func qgemm(c *Call) error {
	a, b, bias, zb := c.In(0), c.In(3), c.In(6), c.In(5)
	x := c.turn(c.less(a, c.In(2)), c.Int("transA") != 0)
	y := c.turn(c.shifted(b, nil, 0), c.Int("transB") != 0)
	if zb != nil {
		y = c.less(y, zb)
	}
	p := c.matmul(x, y)
	if bias != nil {
		c.affine(p, nil, bias)
	}
	m := c.Clone(c.product(single(c.In(1)), single(c.In(4))))
	c.scale(m, c.Float("alpha"))
	if ys := c.In(7); ys != nil {
		c.rescale(0, p, c.quotient(m, single(ys)), single(c.In(8)), c.In(8).Elem)
		return nil
	}
	z := c.as(p, graph.Float)
	c.affine(z, m, nil)
	c.Set(0, TensorValue(z))
	return nil
}

func matMulIntegerToFloat(c *Call) error {
	return c.integerProduct(c.In(0), c.In(2), c.In(4), c.In(1), c.In(3), c.In(5), c.In(6))
}

// dynamicQuantizeMatMul quantises its left operand by its range first.
func dynamicQuantizeMatMul(c *Call) error {
	x := c.In(0)
	a, scale, zero := c.Temp(graph.Uint8, x.Dims), c.Temp(graph.Float, []int{}), c.Temp(graph.Uint8, []int{})
	c.dynamicQuantize(a, scale, zero, x)
	return c.integerProduct(a, scale, zero, c.In(1), c.In(2), c.In(3), c.In(4))
}

// integerProduct sets output 0 to the product of two matrices of integers as real numbers, plus a
// bias. The right one may have a scale and a zero point for each column.
func (c *Call) integerProduct(a, as, az, b, bs, bz, bias *Tensor) error {
	p := c.matmul(c.less(a, az), c.less(b, bz))
	y := c.as(p, as.Elem)
	c.affine(y, c.product(single(perRow(as)), single(bs)), bias)
	c.Set(0, TensorValue(y))
	return nil
}

func nhwcMaxPool(c *Call) error {
	x := c.channelsFirst(c.In(0))
	c.Set(0, TensorValue(c.channelsLast(c.with(maxPool, 12, x))))
	return nil
}
