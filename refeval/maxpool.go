package refeval

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// maxPool also gives the place of each result in the whole input.
func maxPool(c *Call) error {
	x, g := c.poolWindow()
	y := c.poolOut(0, x.Elem, g)
	place := c.poolOut(1, graph.Int64, g)
	in, out := size(g.in), size(g.out)
	c.eachPlane(x, g, func(p int) {
		at := place.I[p*out : (p+1)*out]
		switch storeOf(x.Elem) {
		case storeF:
			maxPlane(&g, y.F[p*out:(p+1)*out], x.F[p*in:(p+1)*in], at, float32(math.Inf(-1)))
		case storeD:
			maxPlane(&g, y.D[p*out:(p+1)*out], x.D[p*in:(p+1)*in], at, math.Inf(-1))
		case storeI:
			least, _ := intRange(x.Elem)
			maxPlane(&g, y.I[p*out:(p+1)*out], x.I[p*in:(p+1)*in], at, least)
		default:
			refuse("no order of %s", x.Elem)
		}
	})
	c.places(place, g)
	return nil
}

// maxPlane sets dst to the largest element that the window sees at each step, the first NaN if
// there is one, and place to where that stands in the plane, -1 for nowhere.
func maxPlane[T number](g *window, dst, plane []T, place []int64, least T) {
	for i := range dst {
		dst[i], place[i] = least, -1
	}
	last := len(g.in) - 1
	g.eachTap(func(_ int, k []int) {
		lo, hi := g.seen(k[last])
		g.eachRow(k, func(o, src int) {
			p := src + g.at(last, lo, k[last])
			for i := o + lo; i < o+hi; i++ {
				if v := plane[p]; v > dst[i] || place[i] < 0 || v != v && dst[i] == dst[i] {
					dst[i], place[i] = v, int64(p)
				}
				p += g.stride[last]
			}
		})
	})
}

// places turns places in planes into places in the whole input; under storage_order 1 the first
// spatial dimension runs fastest.
func (c *Call) places(place *Tensor, g window) {
	in, out := size(g.in), size(g.out)
	column := c.Int("storage_order") != 0
	for i, p := range place.I {
		if p < 0 {
			continue
		}
		if column {
			at := unravel(int(p), g.in)
			p = 0
			for d := len(at) - 1; d >= 0; d-- {
				p = p*int64(g.in[d]) + int64(at[d])
			}
		}
		place.I[i] = int64(i/out*in) + p
	}
}

// maxUnpool puts each element back to where MaxPool found it. The places are those of the input
// that the window says there was; a larger output_shape leaves the rest zero.
func maxUnpool(c *Call) error {
	x, place := c.In(0), c.In(1)
	if x.Rank() < 3 || !slices.Equal(x.Dims, place.Dims) {
		refuse("places %s for %s", place, x)
	}
	kernel := c.Ints("kernel_shape")
	n := x.Rank() - 2
	stride, pads := c.IntsOr("strides", n, 1), c.IntsOr("pads", 2*n, 0)
	dims := slices.Clone(x.Dims)
	for d := range n {
		dims[2+d] = (x.Dims[2+d]-1)*stride[d] - pads[d] - pads[n+d] + kernel[d]
	}
	y := c.Temp(x.Elem, dims)
	for i, p := range place.I {
		copyRun(y, index(p, y.Len()), x, i, 1)
	}
	c.Set(0, TensorValue(y))
	if c.Has(2) {
		shape := c.In(2).ints()
		if len(shape) != len(dims) {
			refuse("the shape %v for a result %v", shape, dims)
		}
		inlay(c.Out(0, x.Elem, shape), y, make([]int, len(dims)))
	}
	return nil
}

// maxRoiPool takes the largest element of each bin of each region; empty bins are zero.
func maxRoiPool(c *Call) error {
	x, rois := c.In(0), c.In(1)
	shape, scale := c.Ints("pooled_shape"), c.Float("spatial_scale")
	if x.Rank() != 4 || rois.Rank() != 2 || rois.Dims[1] != 5 || len(shape) != 2 {
		refuse("regions %s of %s", rois, x)
	}
	y := c.Out(0, x.Elem, []int{rois.Dims[0], x.Dims[1], shape[0], shape[1]})
	for i := range y.Len() {
		at := unravel(i, y.Dims)
		roi := at[0] * 5
		b := index(int64(rois.at64(roi)), x.Dims[0])
		h0, h1 := roiBin(rois.at64(roi+2)*scale, rois.at64(roi+4)*scale, at[2], shape[0], x.Dims[2])
		w0, w1 := roiBin(rois.at64(roi+1)*scale, rois.at64(roi+3)*scale, at[3], shape[1], x.Dims[3])
		plane := (b*x.Dims[1] + at[1]) * x.Dims[2] * x.Dims[3]
		for h := h0; h < h1 && w0 < w1; h++ {
			from := plane + h*x.Dims[3] + w0
			k := from + x.best(from, w1-w0, 1, false)
			if h == h0 || x.at64(k) > y.at64(i) {
				copyRun(y, i, x, k, 1)
			}
		}
	}
	return nil
}

// roiBin returns the elements of bin k of n along a dimension of a region.
func roiBin(start, end float64, k, n, limit int) (lo, hi int) {
	first := math.Round(start)
	each := max(math.Round(end)-first+1, 1) / float64(n)
	bound := func(x float64) int { return int(max(0, min(x+first, float64(limit)))) }
	return bound(math.Floor(float64(k) * each)), bound(math.Ceil(float64(k+1) * each))
}
