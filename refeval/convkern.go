package refeval

import (
	"slices"

	"github.com/amplint/amplint/refeval/kern"
)

// convBiased is conv plus a number for each channel, which may be nil.
func (c *Call) convBiased(x, w, bias *Tensor, g window, group int) *Tensor {
	if !c.fits(x, w, &g, group) {
		y := c.conv(x, w, g, group)
		c.addBias(y, bias)
		return y
	}
	checkBias(bias, w.Dims[0])
	y := c.Raw(x.Elem, slices.Concat([]int{x.Dims[0], w.Dims[0]}, g.out))
	k := g.kern(x.Dims[0], x.Dims[1], w.Dims[0], group)
	k.Sum = c.accum().products()
	c.engine().Conv(y.F, x.F, w.F, floats(c.as(bias, x.Elem)), k)
	return y
}

// checkBias refuses a bias that does not go with the channels.
func checkBias(bias *Tensor, channels int) {
	if bias != nil && bias.Len() != channels {
		refuse("a bias %s for %d channels", bias, channels)
	}
}

// floats returns the elements of a tensor that may be nil.
func floats(t *Tensor) []float32 {
	if t == nil {
		return nil
	}
	return t.F
}

// kern returns the window as the kernels know it.
func (g *window) kern(batch, in, out, group int) *kern.Conv {
	return &kern.Conv{Batch: batch, In: in, Out: out, Groups: group, Size: g.in, Kernel: g.kernel,
		Stride: g.stride, Dilation: g.dilation, Begin: g.begin, End: g.end}
}

// fits tells whether the kernels take a convolution: one of float32 that is not empty, whose
// borders are not so wide that padding the image would take memory out of all proportion.
func (c *Call) fits(x, w *Tensor, g *window, group int) bool {
	if x.F == nil || w.F == nil || x.Len() == 0 || w.Len() == 0 || size(g.out) == 0 {
		return false
	}
	each := w.Dims[1]
	if x.Dims[1] != each*group || w.Dims[0]%group != 0 {
		return false // conv says why
	}
	padded := float64(each)
	for d := range g.in {
		if g.begin[d] < 0 || g.end[d] < 0 {
			return false
		}
		plane := float64(g.out[d]) + float64(g.kernel[d]-1)*float64(g.dilation[d])/float64(g.stride[d])
		padded *= plane * float64(min(g.kernel[d], g.stride[d]))
	}
	const always, most = 1 << 20, 16
	return padded <= always+most*float64(x.Len()+w.Len())
}
