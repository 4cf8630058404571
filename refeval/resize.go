package refeval

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// resizer is how Resize and Upsample map the elements of a result to those of an image.
type resizer struct {
	mode, coord, nearest string
	cubic, outside       float64
	exclude, antialias   bool
	scale                []float64 // of each dimension
	from, to             []float64 // the region of each dimension that is cut out, 0 to 1
	out                  []int
}

func resize(c *Call) error {
	x := c.In(0)
	r := resizer{mode: c.Str("mode"), coord: c.Str("coordinate_transformation_mode"), nearest: c.Str("nearest_mode"),
		cubic: c.FloatOr("cubic_coeff_a", -0.75), outside: c.Float("extrapolation_value"),
		exclude: c.Int("exclude_outside") != 0, antialias: c.Int("antialias") != 0}
	if c.Version < 11 {
		r.coord, r.nearest = "asymmetric", "simple"
		r.setScales(x, allAxes(x.Rank()), c.In(1))
		return c.resize(x, &r)
	}
	list := c.Ints("axes")
	if list == nil {
		list = allAxes(x.Rank())
	}
	for i, a := range list {
		list[i] = axis(a, x.Rank())
	}
	r.setRegion(x, list, c.In(1))
	scales, sizes := c.In(2), c.In(3)
	switch {
	case sizes != nil && sizes.Len() > 0:
		r.setSizes(x, list, sizes.ints(), c.Str("keep_aspect_ratio_policy"))
	case scales != nil && scales.Len() > 0:
		r.setScales(x, list, scales)
	default:
		refuse("neither scales nor sizes")
	}
	return c.resize(x, &r)
}

// upsample is Resize as it was before opset 10; opset 1 names height and width alone.
func upsample(c *Call) error {
	x := c.In(0)
	r := resizer{mode: c.Str("mode"), coord: "asymmetric", nearest: "floor"}
	var scales *Tensor
	switch {
	case c.Version >= 9:
		scales = c.In(1)
	case c.Version >= 7:
		list := c.Floats("scales")
		scales = FloatTensor([]int{len(list)}, list...)
	default:
		scales = FloatTensor([]int{4}, 1, 1, float32(c.Float("height_scale")), float32(c.Float("width_scale")))
	}
	r.setScales(x, allAxes(x.Rank()), scales)
	return c.resize(x, &r)
}

// setRegion sets what of the dimensions is cut out: under tf_crop_and_resize alone.
func (r *resizer) setRegion(x *Tensor, list []int, roi *Tensor) {
	if r.coord != "tf_crop_and_resize" {
		return
	}
	n := len(list)
	if roi == nil || roi.Len() != 2*n {
		refuse("a region for %d dimensions is missing", n)
	}
	r.from, r.to = make([]float64, x.Rank()), make([]float64, x.Rank())
	for d := range r.to {
		r.to[d] = 1
	}
	for i, d := range list {
		r.from[d], r.to[d] = roi.at64(i), roi.at64(n+i)
	}
}

// setScales sets the size from scales. It is computed in float, as other tools do: 10 times 0.7 is
// 7.
func (r *resizer) setScales(x *Tensor, list []int, scales *Tensor) {
	if scales.Len() != len(list) {
		refuse("%d scales for %d dimensions", scales.Len(), len(list))
	}
	r.start(x)
	for i, d := range list {
		s := float32(scales.at64(i))
		if !(s > 0) || s > math.MaxInt32 {
			refuse("a scale of %v", s)
		}
		n := float32(x.Dims[d])
		if r.from != nil {
			n *= float32(r.to[d] - r.from[d])
		}
		r.scale[d], r.out[d] = float64(s), int(math.Floor(float64(n*s)))
	}
}

// start sets the size of the result to that of the image.
func (r *resizer) start(x *Tensor) {
	r.out, r.scale = slices.Clone(x.Dims), make([]float64, x.Rank())
	for d := range r.scale {
		r.scale[d] = 1
	}
}

// setSizes sets the size itself, or the largest or smallest that keeps the proportions.
func (r *resizer) setSizes(x *Tensor, list, sizes []int, policy string) {
	if len(sizes) != len(list) {
		refuse("%d sizes for %d dimensions", len(sizes), len(list))
	}
	r.start(x)
	one := math.NaN()
	for i, d := range list {
		s := float64(sizes[i]) / float64(x.Dims[d])
		r.scale[d], r.out[d] = s, sizes[i]
		if one != one || policy == "not_larger" && s < one || policy == "not_smaller" && s > one {
			one = s
		}
	}
	if policy != "not_larger" && policy != "not_smaller" {
		return
	}
	for _, d := range list {
		r.scale[d], r.out[d] = one, int(one*float64(x.Dims[d])+0.5)
	}
}

// resize resizes one dimension after the other. What only picks elements does so in any type.
func (c *Call) resize(x *Tensor, r *resizer) error {
	y := c.rawOut(0, x.Elem, r.out)
	if y.Len() == 0 {
		return nil
	}
	if x.Len() == 0 {
		refuse("nothing to resize in %s", x)
	}
	if r.mode == "nearest" && r.from == nil {
		maps := make([][]int, x.Rank())
		for d, n := range x.Dims {
			for i := range r.out[d] {
				maps[d] = append(maps[d], r.pick(d, r.place(d, i, n), n))
			}
		}
		pickBox(y, x, maps)
		return nil
	}
	t := c.as(x, graph.Double)
	for d := range x.Dims {
		if !r.stays(d, x.Dims[d]) {
			t = c.resizeAlong(t, d, r)
		}
	}
	for i := range y.Len() {
		y.putRounded(i, t.D[i])
	}
	return nil
}

// putRounded sets an element to a real number; integers are rounded and stay in their range.
func (t *Tensor) putRounded(i int, x float64) {
	if t.I == nil {
		t.put64(i, x)
		return
	}
	lo, hi := intRange(t.Elem)
	t.put64(i, min(max(math.RoundToEven(x), float64(lo)), float64(hi)))
}

// stays tells whether a dimension of n is left alone.
func (r *resizer) stays(d, n int) bool {
	return r.out[d] == n && math.Abs(r.scale[d]-1) < 1e-9 && (r.from == nil || r.from[d] == 0 && r.to[d] == 1)
}

// resizeAlong resizes one dimension.
func (c *Call) resizeAlong(x *Tensor, d int, r *resizer) *Tensor {
	outer, n, inner := split3(x.Dims, d)
	dims := slices.Clone(x.Dims)
	dims[d] = r.out[d]
	y := c.Temp(graph.Double, dims)
	list := make([]taps, r.out[d])
	for i := range list {
		list[i] = r.taps(d, i, n)
	}
	c.parallel(outer*len(list), 4*inner, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			t, to := list[k%len(list)], y.D[k*inner:(k+1)*inner]
			if t.at == nil {
				for i := range to {
					to[i] = r.outside
				}
			}
			for j, p := range t.at {
				from := x.D[(k/len(list)*n+p)*inner:][:inner]
				for i, v := range from {
					to[i] += t.weight[j] * v
				}
			}
		}
	})
	return y
}

// place returns where element i of the result lies in a dimension of n. It is computed in float, as
// runtimes do: 4 / 1.3333334 is 3 there and 2.9999999 in double, of which floor makes another
// element.
func (r *resizer) place(d, i, n int) float64 {
	x, s := float32(i), float32(r.scale[d])
	width := s * float32(n) // the size of the result, before it is cut to an integer
	switch r.coord {
	case "align_corners":
		if width == 1 {
			return 0
		}
		return float64(x * float32(n-1) / (width - 1))
	case "asymmetric":
		return float64(x / s)
	case "tf_crop_and_resize":
		return r.cropped(d, i, n)
	case "pytorch_half_pixel":
		if r.out[d] == 1 {
			return 0
		}
	case "half_pixel_symmetric":
		offset := float32(n) / 2 * (1 - float32(r.out[d])/width)
		return float64(offset + ((x+0.5)/s - 0.5))
	case "half_pixel":
	default:
		refuse("unknown coordinate_transformation_mode %q", r.coord)
	}
	return float64((x+0.5)/s - 0.5)
}

// cropped is place under tf_crop_and_resize.
func (r *resizer) cropped(d, i, n int) float64 {
	last := float64(n - 1)
	if r.out[d] == 1 {
		return (r.from[d] + r.to[d]) / 2 * last
	}
	return r.from[d]*last + float64(i)*(r.to[d]-r.from[d])*last/float64(r.out[d]-1)
}

// pick returns the element next to a place.
func (r *resizer) pick(d int, x float64, n int) int {
	switch r.nearest {
	case "", "round_prefer_floor":
		x = math.Ceil(x - 0.5)
	case "round_prefer_ceil":
		x = math.Floor(x + 0.5)
	case "floor":
		x = math.Floor(x)
	case "ceil":
		x = math.Ceil(x)
	case "simple": // opset 10 does not say; this is what its runtimes did
		x = pick(r.scale[d] < 1, math.Ceil(x), math.Floor(x))
	default:
		refuse("unknown nearest_mode %q", r.nearest)
	}
	return int(min(max(x, 0), float64(n-1)))
}

// taps returns what element i of the result is made of; nothing where it lies outside the image
// and is to be the extrapolation value.
func (r *resizer) taps(d, i, n int) taps {
	x := r.place(d, i, n)
	if r.from != nil && (x < 0 || x > float64(n-1)) {
		return taps{}
	}
	kernel, reach := func(t float64) float64 { return max(0, 1-math.Abs(t)) }, 1.0
	switch r.mode {
	case "nearest":
		return taps{[]int{r.pick(d, x, n)}, []float64{1}}
	case "linear", "bilinear":
	case "cubic":
		kernel, reach = func(t float64) float64 { return cubicWeight(t, r.cubic) }, 2
	default:
		refuse("unknown mode %q", r.mode)
	}
	s := 1.0
	if r.antialias {
		s = min(r.scale[d], 1)
	}
	return r.weigh(x, n, s, reach/s, kernel)
}

// weigh returns the elements within reach of a place. Those outside are the nearest inside, or do
// not count.
func (r *resizer) weigh(x float64, n int, s, reach float64, kernel func(t float64) float64) taps {
	var t taps
	var sum float64
	for k := int(math.Ceil(x - reach)); k <= int(math.Floor(x+reach)); k++ {
		w := kernel((float64(k) - x) * s)
		if w == 0 || r.exclude && (k < 0 || k >= n) {
			continue
		}
		t.at, t.weight = append(t.at, min(max(k, 0), n-1)), append(t.weight, w)
		sum += w
	}
	if r.antialias || r.exclude {
		for i := range t.weight {
			t.weight[i] /= sum
		}
	}
	return t
}
