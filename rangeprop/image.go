package rangeprop

import "math"

func imageOps() map[string]op {
	return map[string]op{
		"Resize": rounded(resizeOp), "Upsample": rounded(resizeOp), "GridSample": rounded(gridSampleOp), "AffineGrid": rounded(affineGridOp),
		"ImageDecoder": choice(imageDecoderOp), "com.microsoft.GridSample": rounded(gridSampleOp),
	}
}

// cubic is the sum of the magnitudes of the cubic weights along one axis: the two outer ones are
// a·t·(1-t) together, not below a/4, and all four sum to 1.
func cubic(a float64) float64 { return 1 - a/2 }

// resizeOp interpolates: nearest and linear stay in the hull, cubic leaves it.
func resizeOp(c *call) *Val {
	v := c.channels(0)
	if c.n.Str("coordinate_transformation_mode", "") == "tf_crop_and_resize" {
		e := float64(c.n.Float("extrapolation_value", 0))
		v = joined(v, scalar(Range{e, e}))
	}
	switch c.n.Str("mode", "nearest") {
	case "nearest":
		return v
	case "cubic":
		v = overshoot(v, math.Pow(cubic(float64(c.n.Float("cubic_coeff_a", -0.75))), float64(c.resizedAxes())))
	}
	return blended(v)
}

// resizedAxes counts the axes that an interpolation may change.
func (c *call) resizedAxes() int {
	rank := c.rank(0)
	if rank < 0 {
		return 8 // no image has more
	}
	n := rank
	scales := c.scales()
	for d := range rank {
		if d < len(scales) && len(scales) == rank && scales[d] == 1 {
			n--
		}
	}
	return n
}

// scales returns the constant scales of a Resize, nil where there are none or more is changed than
// they say.
func (c *call) scales() []float64 {
	if c.n.Attr("axes") != nil || c.n.Str("coordinate_transformation_mode", "") == "tf_crop_and_resize" {
		return nil
	}
	if c.n.Version() >= 11 && !c.has(2) && c.has(3) && c.n.Str("keep_aspect_ratio_policy", "stretch") == "stretch" {
		return c.ratios()
	}
	i := 2
	if c.n.Version() < 11 {
		i = 1
	}
	v := c.n.In(i)
	if v == nil || v.Const == nil || v.Const.Len() > 64 {
		return nil
	}
	x, err := v.Const.Float64s()
	if err != nil {
		return nil
	}
	return x
}

// ratios is 1 for each axis that keeps its known size.
func (c *call) ratios() []float64 {
	from, to := c.shape(0), c.shapeOut(0)
	if len(from) != len(to) {
		return nil
	}
	r := make([]float64, len(from))
	for d := range r {
		if from[d].Known() && from[d] == to[d] {
			r[d] = 1
		}
	}
	return r
}

// overshoot widens a hull for weights that sum to 1 and whose magnitudes sum to k.
func overshoot(v *Val, k float64) *Val {
	return map1flags(v, func(x Range) Range {
		d := (k - 1) / 2 * (x.Hi - x.Lo)
		return Range{x.Lo - d, x.Hi + d}
	})
}

func gridSampleOp(c *call) *Val {
	v := c.channels(0)
	if c.n.Str("padding_mode", "zeros") == "zeros" {
		v = joined(v, scalar(Range{}))
	}
	if m := c.n.Str("mode", "linear"); m == "cubic" || m == "bicubic" {
		w := cubic(-0.75)
		v = overshoot(v, math.Pow(w, float64(max(c.rank(0)-2, 1))))
	}
	if c.n.Str("mode", "linear") != "nearest" {
		v = blended(v)
	}
	g := c.x(1)
	v = v.clone()
	v.nan = v.nan || g.nan
	return v
}

// affineGridOp multiplies theta by coordinates in [-1, 1] and a 1.
func affineGridOp(c *call) *Val {
	n := 4.0
	m := product(n, c.x(0).Hull().MaxAbs())
	v := c.mid(c.within(Range{-m, m})).torn()
	v.nan = v.nan || c.x(0).nan || c.x(0).special()
	return v
}

func imageDecoderOp(c *call) *Val { return intRange(Range{0, 255}) }
