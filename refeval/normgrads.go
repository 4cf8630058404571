package refeval

import (
	"math"
	"slices"
)

// batchNormInternal is BatchNormalization in training; its last output is the inverse of the
// standard deviation.
func batchNormInternal(c *Call) error {
	x := c.In(0)
	if x.Rank() < 2 {
		refuse("%s has no channels", x)
	}
	c.batchNormTraining(x)
	v := c.out[4].Tensor
	inv := c.Out(4, v.Elem, v.Dims)
	eps := c.Float("epsilon")
	for i := range inv.Len() {
		inv.put64(i, 1/math.Sqrt(v.at64(i)+eps))
	}
	return nil
}

// normRow is a row that was normalised: the gradient of the result and the normalised elements.
type normRow struct{ g, hat []float64 }

// back returns the gradient of the elements that were normalised, by their mean too if centered
// says so, given the factor that follows the norm at each place.
func (c *Call) back(dst []float64, r normRow, factor func(k int) float64, inv float64, centered bool) {
	n := float64(len(dst))
	product := make([]float64, len(dst))
	for k := range dst {
		dst[k] = r.g[k] * factor(k)
		product[k] = dst[k] * r.hat[k]
	}
	mean, along := 0.0, c.total(product)/n
	if centered {
		mean = c.total(dst) / n
	}
	for k := range dst {
		dst[k] = inv * (dst[k] - mean - r.hat[k]*along)
	}
}

// layerNormGrad is the gradient of LayerNormalization, or of its form without a mean.
func (c *Call) layerNormGrad(centered bool) error {
	g, x, scale := c.In(0), c.In(1), c.In(2)
	at := axis(c.Int("axis"), x.Rank())
	n := size(x.Dims[at:])
	inv := c.In(3)
	var mean *Tensor
	if centered {
		mean, inv = c.In(3), c.In(4)
	}
	if scale.Len() != n || inv.Len()*n != x.Len() || !slices.Equal(g.Dims, x.Dims) {
		refuse("a gradient %s at %s, the scale %s and the deviation %s", g, x, scale, inv)
	}
	y, hat := c.Out(0, x.Elem, x.Dims), c.Temp(x.Elem, x.Dims)
	r, d := normRow{make([]float64, n), make([]float64, n)}, make([]float64, n)
	for row := range inv.Len() {
		m := 0.0
		if centered {
			m = mean.at64(row)
		}
		for k := range n {
			r.g[k], r.hat[k] = g.at64(row*n+k), (x.at64(row*n+k)-m)*inv.at64(row)
			hat.put64(row*n+k, r.hat[k])
		}
		c.back(d, r, scale.at64, inv.at64(row), centered)
		for k, v := range d {
			y.put64(row*n+k, v)
		}
	}
	c.parameterGrads(g, hat, scale, allAxes(x.Rank())[:at], centered)
	return nil
}

// parameterGrads sets outputs 1 and 2 to the gradients of a scale and a bias: sums of g x̂ and of g
// over the axes that they are spread along.
func (c *Call) parameterGrads(g, hat, scale *Tensor, list []int, bias bool) {
	p := c.Temp(g.Elem, g.Dims)
	multiplication().into(c, p, g, hat)
	rows, n := c.rows(p, list)
	ds := c.Temp(g.Elem, scale.Dims)
	additive{}.into(c, ds, rows, n)
	c.Set(1, TensorValue(c.as(ds, scale.Elem)))
	if bias {
		rows, n = c.rows(g, list)
		db := c.Temp(g.Elem, scale.Dims)
		additive{}.into(c, db, rows, n)
		c.Set(2, TensorValue(c.as(db, scale.Elem)))
	}
}

// batchNormGrad is the gradient of a batch normalisation in training.
func batchNormGrad(c *Call) error {
	x, scale, mean, inv := c.In(1), c.In(2), c.In(3), c.In(4)
	list := append([]int{0}, allAxes(max(x.Rank(), 2))[2:]...)
	if x.Rank() < 2 || scale.Len() != x.Dims[1] || mean.Len() != x.Dims[1] || inv.Len() != x.Dims[1] || !slices.Equal(c.In(0).Dims, x.Dims) {
		refuse("a gradient %s at %s, the scale %s and the moments %s and %s", c.In(0), x, scale, mean, inv)
	}
	g, n := c.rows(c.In(0), list)
	t, _ := c.rows(x, list)
	y, hat := c.Temp(x.Elem, t.Dims), c.Temp(x.Elem, t.Dims)
	r, d := normRow{make([]float64, n), make([]float64, n)}, make([]float64, n)
	for ch := range x.Dims[1] {
		for k := range n {
			r.g[k], r.hat[k] = g.at64(ch*n+k), (t.at64(ch*n+k)-mean.at64(ch))*inv.at64(ch)
			hat.put64(ch*n+k, r.hat[k])
		}
		c.back(d, r, func(int) float64 { return scale.at64(ch) }, inv.at64(ch), true)
		for k, v := range d {
			y.put64(ch*n+k, v)
		}
	}
	c.unrows(y, list, x.Dims)
	c.parameterGrads(g, hat, scale, allAxes(g.Rank())[1:], true)
	return nil
}

// convGrad is the gradient of a convolution: of the image, the weights and the bias.
func convGrad(c *Call) error {
	dy, x, w := c.In(0), c.In(1), c.In(2)
	checkImage(x, w)
	g := c.window(x.Dims[2:], c.kernelShape(w.Dims[2:]))
	group := max(c.Int("group"), 1)
	n, m, each := x.Dims[0], w.Dims[0], w.Dims[1]
	if x.Dims[1] != each*group || m%group != 0 || !slices.Equal(dy.Dims, append([]int{n, m}, g.out...)) {
		refuse("a gradient %s of weights %s in %d groups for an image %s", dy, w, group, x)
	}
	if c.Wants(0) || c.Wants(1) {
		c.convGrads(dy, x, w, g, group)
	}
	if c.Wants(2) {
		rows, k := c.rows(dy, append([]int{0}, allAxes(dy.Rank())[2:]...))
		additive{}.into(c, c.Out(2, dy.Elem, []int{m}), rows, k)
	}
	return nil
}

// convGrads goes through the products of the convolution, each a matrix of rows of weights with
// the columns of the image.
func (c *Call) convGrads(dy, x, w *Tensor, g window, group int) {
	dx, dw := c.Out(0, x.Elem, x.Dims), c.Out(1, w.Elem, w.Dims)
	outs, rows, depth := size(g.out), w.Dims[0]/group, w.Dims[1]*g.taps()
	cols, turned := c.Temp(x.Elem, []int{depth, outs}), c.Temp(x.Elem, []int{outs, depth})
	part, weights := c.Temp(w.Elem, []int{rows, depth}), c.Temp(w.Elem, []int{depth, rows})
	for i := range x.Dims[0] * group {
		at, k := i*w.Dims[1]*size(g.in), i%group*rows*depth
		c.unfold(cols, x, at, g)
		copyBox(turned, whole(turned), cols, layout{strides: []int{1, outs}}, turned.Dims)
		c.matmulOf(part, 0, dy, i*rows*outs, turned, 0, rows, depth, outs)
		for j := range part.Len() {
			dw.put64(k+j, dw.at64(k+j)+part.at64(j))
		}
		copyBox(weights, whole(weights), w, layout{off: k, strides: []int{1, depth}}, weights.Dims)
		c.matmulOf(cols, 0, weights, 0, dy, i*rows*outs, depth, outs, rows)
		c.collect(dx, at, cols, 0, g, w.Dims[1])
	}
	if dw.F != nil {
		c.accum().roundAll(dw.F)
	}
}
