package refeval

import (
	"math"
	"slices"
)

// gradOps are the gradients that onnxruntime's training graphs are made of.
func gradOps() []entry {
	return []entry{
		op("com.microsoft.BatchNormInternal", batchNormInternal),
		op("com.microsoft.BatchNormalizationGrad", batchNormGrad),
		op("com.microsoft.BiasGeluGrad_dX", biasGeluGrad),
		op("com.microsoft.ConvGrad", convGrad),
		op("com.microsoft.DivGrad", divGrad),
		op("com.microsoft.FastGeluGrad", slope(fastGeluSlope)),
		op("com.microsoft.GatherGrad", gatherGrad),
		op("com.microsoft.GeluGrad", slope(geluSlope)),
		op("com.microsoft.LayerNormalizationGrad", func(c *Call) error { return c.layerNormGrad(true) }),
		op("com.microsoft.LogSoftmaxGrad", func(c *Call) error { return c.softmaxGrad(true, false) }),
		op("com.microsoft.LogSoftmaxGrad_13", func(c *Call) error { return c.softmaxGrad(true, true) }),
		op("com.microsoft.ReluGrad", slope(func(x float64) float64 { return float64(bit(x > 0)) })),
		op("com.microsoft.Scale", scaleNode),
		op("com.microsoft.SimplifiedLayerNormalizationGrad", func(c *Call) error { return c.layerNormGrad(false) }),
		op("com.microsoft.SoftmaxCrossEntropyLossGrad", crossEntropyGrad),
		op("com.microsoft.SoftmaxGrad", func(c *Call) error { return c.softmaxGrad(false, false) }),
		op("com.microsoft.SoftmaxGrad_13", func(c *Call) error { return c.softmaxGrad(false, true) }),
		op("com.microsoft.TanhGrad", slope(func(y float64) float64 { return 1 - y*y })),
	}
}

// slope makes a kernel that multiplies input 0, the gradient of a result, by a function of
// input 1.
func slope(f func(x float64) float64) func(c *Call) error {
	return func(c *Call) error {
		g, x := c.In(0), c.In(1)
		if !slices.Equal(g.Dims, x.Dims) {
			refuse("a gradient %s at %s", g, x)
		}
		y := c.Out(0, g.Elem, g.Dims)
		for i := range y.Len() {
			y.put64(i, g.at64(i)*f(x.at64(i)))
		}
		return nil
	}
}

// geluSlope is the derivative of x Φ(x).
func geluSlope(x float64) float64 {
	return 0.5*(1+math.Erf(x*math.Sqrt2/2)) + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
}

func fastGeluSlope(x float64) float64 {
	t := math.Tanh(geluScale * (x + geluCube*x*x*x))
	return 0.5*(1+t) + 0.5*x*(1-t*t)*geluScale*(1+3*geluCube*x*x)
}

func biasGeluGrad(c *Call) error {
	x := c.Clone(c.In(1))
	c.affine(x, nil, c.In(2))
	c.Set(0, TensorValue(c.with(slope(geluSlope), c.Version, c.In(0), x)))
	return nil
}

// scaleNode multiplies or divides by a number of any type.
func scaleNode(c *Call) error {
	x, by := c.In(0), c.In(1).scalar()
	if c.Int("scale_down") != 0 {
		by = 1 / by
	}
	y := c.Out(0, x.Elem, x.Dims)
	for i := range y.Len() {
		y.put64(i, x.at64(i)*by)
	}
	return nil
}

// total adds numbers, as the sums of the node run.
func (c *Call) total(x []float64) float64 {
	if a := c.accum(); a.low() {
		f := make([]float32, len(x))
		for i, v := range x {
			f[i] = float32(v)
		}
		a.roundAll(f)
		return float64(a.sum(f))
	}
	var s float64
	for _, v := range x {
		s += v
	}
	return s
}

// softmaxGrad is y (g - Σ g y) along the axes of the softmax, or g - exp(y) Σ g of its logarithm.
func (c *Call) softmaxGrad(log, one bool) error {
	at := axis(c.Int("axis"), c.In(1).Rank())
	list := []int{at}
	if !one {
		list = allAxes(c.In(1).Rank())[at:]
	}
	g, n := c.rows(c.In(0), list)
	y, _ := c.rows(c.In(1), list)
	z := c.Temp(g.Elem, g.Dims)
	p := make([]float64, n)
	for r := 0; r < z.Len(); r += n {
		for k := range p {
			p[k] = g.at64(r + k)
			if !log {
				p[k] *= y.at64(r + k)
			}
		}
		s := c.total(p)
		for k := range p {
			v := y.at64(r + k)
			if log {
				z.put64(r+k, g.at64(r+k)-math.Exp(v)*s)
				continue
			}
			z.put64(r+k, v*(g.at64(r+k)-s))
		}
	}
	c.unrows(z, list, c.In(0).Dims)
	return nil
}

// crossEntropyGrad is the softmax less 1 at the target, times the gradient of the loss and the
// weight of the target, by the sum of those where the loss is a mean.
func crossEntropyGrad(c *Call) error {
	g, target, x := c.In(0), c.In(2), c.In(1)
	logs, n := c.rows(x, []int{1})
	w := targetWeights{weight: c.In(3), ignored: c.hasAttr("ignore_index"), ignore: c.Int("ignore_index")}
	list := target.ints()
	weights := make([]float64, len(list))
	for i, k := range list {
		weights[i], _ = w.at(k, n)
	}
	by := 1.0
	if c.Str("reduction") == "mean" {
		by = c.total(weights)
	}
	y := c.Temp(x.Elem, logs.Dims)
	for i, k := range list {
		d := g.at64(pick(g.Len() == 1, 0, i)) * weights[i] / by
		for j := range n {
			if weights[i] != 0 {
				y.put64(i*n+j, d*(math.Exp(logs.at64(i*n+j))-float64(bit(j == k))))
			}
		}
	}
	c.unrows(y, []int{1}, x.Dims)
	return nil
}

// gatherGrad adds the gradient of each gathered slice to where it came from.
func gatherGrad(c *Call) error {
	shape, index, g := c.In(0).ints(), c.In(1).ints(), c.In(2)
	at := axis(c.Int("axis"), len(shape))
	y := c.Out(0, g.Elem, shape)
	outer, n, inner := split3(shape, at)
	if g.Len() != outer*len(index)*inner {
		refuse("a gradient %s of %d slices of the shape %v", g, len(index), shape)
	}
	a := c.accum()
	for o := range outer {
		for k, i := range index {
			to, from := (o*n+axis(i, n))*inner, (o*len(index)+k)*inner
			for j := range inner {
				y.put64(to+j, y.at64(to+j)+g.at64(from+j))
			}
			if y.F != nil {
				a.roundAll(y.F[to : to+inner])
			}
		}
	}
	return nil
}

// divGrad of a/b is g/b and -g a/b², each summed to the shape of its operand.
func divGrad(c *Call) error {
	g, a, b := c.In(0), c.In(1), c.In(2)
	div := division()
	da, db := c.Temp(g.Elem, g.Dims), c.Temp(g.Elem, g.Dims)
	div.into(c, da, g, b)
	if c.Wants(0) {
		c.Set(0, TensorValue(c.summedTo(da, a.Dims)))
	}
	if c.Wants(1) {
		multiplication().into(c, db, da, a)
		div.into(c, db, db, b)
		c.scale(db, -1)
		c.Set(1, TensorValue(c.summedTo(db, b.Dims)))
	}
	return nil
}

// summedTo undoes a broadcast: it adds up the elements that one of the shape was spread to.
func (c *Call) summedTo(t *Tensor, dims []int) *Tensor {
	var list []int
	lead := t.Rank() - len(dims)
	for d := range t.Dims {
		if d < lead || dims[d-lead] == 1 && t.Dims[d] != 1 {
			list = append(list, d)
		}
	}
	if len(list) == 0 {
		return t.view(dims)
	}
	r, n := c.rows(t, list)
	y := c.Temp(t.Elem, dims)
	additive{}.into(c, y, r, n)
	return y
}
