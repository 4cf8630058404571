package refeval

import "math"

// batchNorm normalises each channel: by given moments, or in training by those of the batch.
func batchNorm(c *Call) error {
	x := c.In(0)
	shape := x.Dims
	switch {
	case len(shape) == 0:
		refuse("%s has no channels", x)
	case len(shape) == 1: // one channel
		x = x.view([]int{shape[0], 1})
	case c.Version < 9 && c.Int("spatial") == 0: // each place is a channel of its own
		x = x.view([]int{shape[0], size(shape[1:])})
	}
	for i := 1; i < 5; i++ {
		if c.In(i).Len() != x.Dims[1] {
			refuse("%s for %d channels", c.In(i), x.Dims[1])
		}
	}
	if c.training() {
		c.batchNormTraining(x)
	} else {
		c.batchNormGiven(x)
		for i := 1; i < 3 && c.Version >= 14; i++ { // asked for though nothing moves them on
			if c.Wants(i) {
				c.View(i, c.In(i+2), c.In(i+2).Dims)
			}
		}
	}
	c.View(0, c.out[0].Tensor, shape)
	return nil
}

// training tells which of its two forms BatchNormalization has: by an attribute, or in the
// versions between by the number of outputs.
func (c *Call) training() bool {
	switch {
	case c.Version >= 14:
		return c.Int("training_mode") != 0
	case c.Version < 7:
		return c.Int("is_test") == 0
	}
	return c.Wants(1) || c.Wants(2) || c.Wants(3) || c.Wants(4)
}

// batchNormGiven is one multiplication and one addition for each element, rounded once.
func (c *Call) batchNormGiven(x *Tensor) {
	scale, bias, mean, variance := c.In(1), c.In(2), c.In(3), c.In(4)
	y := c.over(x.Elem, x.Dims, 0)
	inner := size(x.Dims[2:])
	eps := c.Float("epsilon")
	c.parallel(x.Dims[0]*x.Dims[1], 4*inner, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			k := r % x.Dims[1]
			m, b := mean.at64(k), bias.at64(k)
			s := scale.at64(k) / math.Sqrt(variance.at64(k)+eps)
			switch storeOf(x.Elem) {
			case storeF:
				normalise(y.F[r*inner:(r+1)*inner], x.F[r*inner:], m, s, b)
			case storeD:
				normalise(y.D[r*inner:(r+1)*inner], x.D[r*inner:], m, s, b)
			default:
				refuse("%s is not of a float type", x)
			}
		}
	})
}

// normalise sets y to (x - m) s + b. The conversion keeps the product from being fused with the
// sum, which would make results depend on the processor.
func normalise[T floating](y, x []T, m, s, b float64) {
	for i := range y {
		y[i] = T(float64((float64(x[i])-m)*s) + b)
	}
}

// batchNormTraining also moves the running moments on by those of the batch.
func (c *Call) batchNormTraining(x *Tensor) {
	rank := x.Rank()
	z := normalizer{a: c.accum(), eps: c.Float("epsilon"), center: true}
	z.mean, z.variance = c.Temp(c.In(3).Elem, c.In(3).Dims), c.Temp(c.In(4).Elem, c.In(4).Dims)
	y := c.norm(x, append([]int{0}, allAxes(rank)[2:]...), z)
	c.affine(y, perChannel(c.In(1), rank), perChannel(c.In(2), rank))
	momentum := c.Float("momentum")
	for i, now := range []*Tensor{z.mean, z.variance} {
		old := c.In(3 + i)
		r := c.Out(1+i, old.Elem, old.Dims)
		for k := range r.Len() {
			r.put64(k, old.at64(k)*momentum+now.at64(k)*(1-momentum))
		}
		c.Set(3+i, TensorValue(now))
	}
}
