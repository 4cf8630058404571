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
	if c.n.Str("mode", "nearest") != "cubic" {
		return v
	}
	axes := max(c.rank(0), 2)
	if axes > 2 {
		axes -= 2 // batch and channels are not interpolated
	}
	return overshoot(v, math.Pow(cubic(float64(c.n.Float("cubic_coeff_a", -0.75))), float64(axes)))
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
	g := c.x(1)
	v.nan = v.nan || g.nan
	return v
}

// affineGridOp multiplies theta by coordinates in [-1, 1] and a 1.
func affineGridOp(c *call) *Val {
	n := 4.0
	m := product(n, c.x(0).Hull().MaxAbs())
	v := c.within(Range{-m, m})
	v.nan = c.x(0).nan || c.x(0).special()
	return v
}

func imageDecoderOp(c *call) *Val { return intRange(Range{0, 255}) }
