package refeval

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// quantizeOps are quantisation and the operators on quantised tensors.
func quantizeOps() []entry {
	list := append(qlinearOps(), qcontribOps()...)
	return append(append(list, nbitsOps()...),
		op("DequantizeLinear", dequantizeLinear),
		op("DynamicQuantizeLinear", dynamicQuantizeLinear),
		op("QuantizeLinear", quantizeLinear),
		op("com.microsoft.DequantizeLinear", dequantizeLinear),
		op("com.microsoft.QuantizeLinear", quantizeLinear),
	)
}

// scales finds the scale of each element: one for all, one for each slice along an axis, or one for
// each block of slices.
type scales struct {
	n, inner int // slices along the axis, and elements of each
	blocks   int // along the axis; 0 where a scale stands for a slice, or for all
	size     int // slices of a block
	single   bool
}

// at returns the place of the scale of element i.
func (s *scales) at(i int) int {
	switch {
	case s.single:
		return 0
	case s.blocks == 0:
		return i / s.inner % s.n
	}
	outer, k := i/(s.n*s.inner), i/s.inner%s.n
	return (outer*s.blocks+k/s.size)*s.inner + i%s.inner
}

// scales works out how the scales of the node lie over a tensor.
func (c *Call) scales(x, scale, zero *Tensor) *scales {
	if zero != nil && zero.Len() != scale.Len() {
		refuse("zero points %s for scales %s", zero, scale)
	}
	block := c.Int("block_size")
	if scale.Len() == 1 && block == 0 {
		return &scales{single: true}
	}
	at := 0
	if x.Rank() != 1 { // a list has but one axis, whatever the attribute says
		at = axis(c.Int("axis"), x.Rank())
	}
	_, n, inner := split3(x.Dims, at)
	s := &scales{n: n, inner: inner}
	if block == 0 {
		if scale.Len() != n {
			refuse("scales %s along axis %d of %s", scale, at, x)
		}
		return s
	}
	return s.blocked(x, scale, at, block)
}

// blocked checks scales that each stand for a block along an axis.
func (s *scales) blocked(x, scale *Tensor, at, block int) *scales {
	if scale.Rank() != x.Rank() || block < 1 {
		refuse("scales %s for blocks of %d in %s", scale, block, x)
	}
	for d, n := range x.Dims {
		if d == at {
			n = (n + block - 1) / block
		}
		if scale.Dims[d] != n {
			refuse("scales %s for blocks of %d along axis %d of %s", scale, block, at, x)
		}
	}
	s.blocks, s.size = scale.Dims[at], block
	return s
}

// quantizeType returns the type that the node quantises to: that of the zero point, or the one
// that an attribute names, else uint8.
func (c *Call) quantizeType(zero *Tensor) graph.ElemType {
	e := graph.ElemType(c.Int("output_dtype"))
	switch {
	case zero == nil && e == graph.Undefined:
		return graph.Uint8
	case zero == nil:
		return e
	case e != graph.Undefined && e != zero.Elem:
		refuse("output_dtype is %s, the zero point is %s", e, zero.Elem)
	}
	return zero.Elem
}

func quantizeLinear(c *Call) error {
	x, scale, zero := c.In(0), c.In(1), c.In(2)
	y := c.Out(0, c.quantizeType(zero), x.Dims)
	saturate := true
	if c.hasAttr("saturate") {
		saturate = c.Int("saturate") != 0
	}
	c.quantize(y, x, scale, zero, c.scales(x, scale, zero), divisionType(x, scale, graph.ElemType(c.Int("precision"))), saturate)
	return nil
}

// divisionType returns the type that x is divided by its scale in: the one an attribute asks for,
// else that of the scale. Powers of two and integers leave it to x.
func divisionType(x, scale *Tensor, asked graph.ElemType) graph.ElemType {
	e := scale.Elem
	if asked != graph.Undefined {
		e = asked
	}
	if e == graph.Float8E8M0 || !e.IsFloat() {
		e = x.Elem
	}
	if !e.IsFloat() {
		e = graph.Float
	}
	return e
}

// quantize sets y to x/scale, rounded to an integer if y holds some, plus the zero point. What lies
// outside the type becomes its nearest end; NaN the lower one, as in onnxruntime.
func (c *Call) quantize(y, x, scale, zero *Tensor, s *scales, division graph.ElemType, saturate bool) {
	to, wide := divider(division), c.x.r.opt.wide(y.Elem)
	lo, hi := -math.MaxFloat64, math.MaxFloat64
	if y.I != nil {
		l, h := intRange(y.Elem)
		lo, hi = float64(l), float64(h)
	}
	c.parallel(x.Len(), 8, func(first, end int) {
		for i := first; i < end; i++ {
			k := s.at(i)
			q := to(to(x.at64(i)) / to(scale.at64(k)))
			z := 0.0
			if zero != nil {
				z = zero.at64(k)
			}
			if y.I == nil {
				y.F[i] = float32(q + z)
				if !wide {
					y.F[i] = float32(roundTo(q+z, y.Elem, saturate))
				}
				continue
			}
			y.I[i] = int64(lo)
			if q = math.RoundToEven(q) + z; q > lo {
				y.I[i] = int64(min(q, hi))
			}
		}
	})
}

// divider returns how operands and results of a division in a type are rounded.
func divider(e graph.ElemType) func(x float64) float64 {
	if e == graph.Float {
		return func(x float64) float64 { return float64(float32(x)) }
	}
	return func(x float64) float64 { return roundTo(x, e, true) }
}

// dequantizeLinear is (x - zero point) * scale.
func dequantizeLinear(c *Call) error {
	x, scale, zero := c.In(0), c.In(1), c.In(2)
	e := graph.ElemType(c.Int("output_dtype"))
	if e == graph.Undefined {
		e = scale.Elem
	}
	if e == graph.Float8E8M0 {
		e = graph.Float
	}
	if zero != nil {
		sameType(x, zero)
	}
	c.dequantize(c.Out(0, e, x.Dims), x, scale, zero, c.scales(x, scale, zero))
	return nil
}

// dequantize sets y, of a float type, to (x - zero) * scale. The product is rounded once.
func (c *Call) dequantize(y, x, scale, zero *Tensor, s *scales) {
	c.parallel(x.Len(), 8, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			k := s.at(i)
			d := x.at64(i)
			if zero != nil {
				d -= zero.at64(k)
			}
			y.put64(i, float64(float32(d))*scale.at64(k))
		}
	})
}

// dynamicQuantizeLinear quantises to uint8 by the range of the elements, which zero always lies in.
func dynamicQuantizeLinear(c *Call) error {
	x := c.In(0)
	y := c.Out(0, graph.Uint8, x.Dims)
	scale, zero := c.Out(1, graph.Float, []int{}), c.Out(2, graph.Uint8, []int{})
	c.dynamicQuantize(y, scale, zero, x)
	return nil
}

// dynamicQuantize sets y, its scale and its zero point, all in float32.
func (c *Call) dynamicQuantize(y, scale, zero, x *Tensor) {
	var lo, hi float32
	for _, v := range x.F {
		lo, hi = min(lo, v), max(hi, v)
	}
	const steps = 255
	scale.F[0] = (hi - lo) / steps
	if hi == lo {
		scale.F[0] = 1.0 / steps
	}
	z := math.RoundToEven(float64(min(max(-lo/scale.F[0], 0), steps)))
	zero.I[0] = floatToInt(z, graph.Uint8)
	c.quantize(y, x, scale, zero, &scales{single: true}, graph.Float, true)
}
