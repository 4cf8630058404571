package refeval

import "math"

// lrn divides by a power of the mean square over neighbouring channels.
func lrn(c *Call) error {
	x := c.In(0)
	if x.Rank() < 2 {
		refuse("%s has no channels", x)
	}
	p := lrnOf(c, x)
	y := c.Out(0, x.Elem, x.Dims)
	c.parallel(x.Dims[0]*x.Dims[1], p.inner*p.size, func(lo, hi int) {
		switch storeOf(x.Elem) {
		case storeF:
			lrnRows(p, y.F, x.F, lo, hi)
		case storeD:
			lrnRows(p, y.D, x.D, lo, hi)
		default:
			refuse("%s is not of a float type", x)
		}
	})
	return nil
}

type lrnShape struct {
	channels, inner, size int
	alpha, beta, bias     float64
	a                     accum
}

func lrnOf(c *Call, x *Tensor) lrnShape {
	p := lrnShape{x.Dims[1], size(x.Dims[2:]), c.Int("size"),
		c.Float("alpha"), c.Float("beta"), c.Float("bias"), c.accum()}
	if p.size < 1 {
		refuse("the mean over %d channels", p.size)
	}
	return p
}

// lrnRows computes the channels lo to hi, counted through the batch.
func lrnRows[T floating](p lrnShape, y, x []T, lo, hi int) {
	total, term := make([]T, p.inner), make([]T, p.inner)
	for r := lo; r < hi; r++ {
		k := r % p.channels
		first, last := max(0, k-(p.size-1)/2), min(p.channels-1, k+p.size/2)
		clear(total)
		for j := first; j <= last; j++ {
			at := (r - k + j) * p.inner
			for i := range term {
				term[i] = x[at+i] * x[at+i]
			}
			roundReal(p.a, term)
			for i, v := range term {
				total[i] += v
			}
			roundReal(p.a, total)
		}
		at := r * p.inner
		for i, s := range total {
			d := math.Pow(p.bias+p.alpha/float64(p.size)*float64(s), p.beta)
			y[at+i] = T(float64(x[at+i]) / d)
		}
	}
}
