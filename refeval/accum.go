package refeval

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// blockLen is how many terms [Blocked] adds before it starts another partial sum.
const blockLen = 32

// accum is how a kernel rounds and adds on its way to a result. The zero value computes in
// float32.
type accum struct {
	format numfmt.Format // what partial results are rounded to, Invalid for float32
	block  int           // terms of a partial sum, 0 for one sum
	flush  bool
}

// accum returns how the sums of an output run under the options.
func (o *Options) accum(v *graph.Value, e graph.ElemType) accum {
	if o.Accumulate == FP32 {
		return accum{}
	}
	a := accum{format: o.hold(v, e), flush: o.FlushSubnormals}
	if o.Accumulate == Blocked {
		a.block = blockLen
	}
	return a
}

// accumIn returns the accumulation that an attribute asks for, such as stash_type: partial results
// in the type. Types that are no narrower than float32 keep a.
func (a accum) accumIn(e graph.ElemType) accum {
	if f, ok := e.Format(); ok && f != numfmt.FP32 && f != numfmt.FP64 {
		a.format = f
	}
	return a
}

// accumIn returns the accumulation that an attribute asks for; see [accum.accumIn]. The reference
// run asks for none.
func (c *Call) accumIn(a accum, e graph.ElemType) accum { return a.accumIn(c.heldAs(e)) }

// heldAs returns the type that an attribute asks for, float where the run holds it unrounded.
func (c *Call) heldAs(e graph.ElemType) graph.ElemType {
	if c.x.r.opt.wide(e) {
		return graph.Float
	}
	return e
}

// low tells whether partial results are rounded at all.
func (a accum) low() bool { return a.format != numfmt.Invalid && a.format != numfmt.FP32 }

// round rounds one partial result.
func (a accum) round(x float32) float32 {
	if !a.low() {
		return x
	}
	r := [1]float32{x}
	a.roundAll(r[:])
	return r[0]
}

// roundAll rounds partial results in place. Many at a time are several times faster than one.
func (a accum) roundAll(x []float32) {
	if !a.low() {
		return
	}
	serial().Round(a.format, x, a.flush)
}

// sum adds numbers.
func (a accum) sum(x []float32) float32 {
	if !a.low() {
		return serial().SumRow(x)
	}
	if a.block == 0 {
		return a.chain(x)
	}
	for len(x) > 1 {
		var parts []float32
		for i := 0; i < len(x); i += a.block {
			parts = append(parts, a.chain(x[i:min(i+a.block, len(x))]))
		}
		x = parts
	}
	return a.chain(x)
}

// chain adds one after the other.
func (a accum) chain(x []float32) float32 {
	var s float32
	for _, v := range x {
		s = a.round(s + v)
	}
	return s
}

// dot adds the products of two vectors of one length. The conversion keeps a product from being
// fused with the sum, which would make results depend on the processor.
func (a accum) dot(x, y []float32) float32 {
	p := make([]float32, len(x))
	for i, v := range x {
		p[i] = float32(v * y[i])
	}
	a.roundAll(p)
	return a.sum(p)
}
