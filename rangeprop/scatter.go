package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// scatterOp joins data and updates, or lets the updates that can meet at one place act on it.
func scatterOp(updates int) func(c *call) *Val {
	return func(c *call) *Val {
		data, u := c.x(0).flat(), c.x(updates).flat()
		n := c.count(updates)
		switch c.n.Str("reduction", "none") {
		case "none", "":
			v := joined(data, u)
			return v
		case "add":
			v := plus(data, map1flags(u, func(x Range) Range { return mul(x, Range{0, n}) }))
			return c.summed(v, n+1, data.Hull().MaxAbs()+product(n, u.Hull().MaxAbs()))
		case "mul":
			m := corners(Range{0, math.Max(u.Hull().MaxAbs(), 1)}, Range{0, n})
			return joined(data, times(data, scalar(Range{-m.Hi, m.Hi})))
		case "max":
			return joined(data, variadicOf(data, u, maximum))
		case "min":
			return joined(data, variadicOf(data, u, minimum))
		}
		return c.anything()
	}
}

func variadicOf(a, b *Val, f func(x, y Range) Range) *Val {
	v := zip(a, b, f)
	v.posInf, v.negInf = a.posInf || b.posInf, a.negInf || b.negInf
	return v
}

// count returns the greatest number of elements of an input, infinite where not known.
func (c *call) count(i int) float64 {
	if c.rank(i) < 0 {
		return math.Inf(1)
	}
	n := 1.0
	for d := range c.shape(i) {
		_, hi := c.dim(i, d)
		if hi < 0 {
			return math.Inf(1)
		}
		n *= float64(hi)
	}
	return n
}

// padOp adds a constant, or repeats elements, at the ends of axes.
func padOp(c *call) *Val {
	v, ok := c.full(0)
	pads := c.n.Ints("pads")
	if pads == nil {
		pads, _ = c.ints(1)
	}
	if !ok || len(pads) != 2*len(v.dims) || c.has(3) {
		v = v.flat()
	} else {
		keep := make([]bool, len(v.dims))
		for i := range keep {
			keep[i] = pads[i] == 0 && pads[i+len(keep)] == 0
		}
		v = v.collapse(keep)
	}
	if c.n.Str("mode", "constant") != "constant" {
		return v
	}
	fill := scalar(Range{float64(c.n.Float("value", 0)), float64(c.n.Float("value", 0))})
	if c.has(2) {
		fill = c.in[2].flat()
	}
	return joined(v, fill)
}

// triluOp puts zeros on one side of the diagonal.
func triluOp(c *call) *Val {
	v, ok := c.full(0)
	if !ok || len(v.dims) < 2 {
		return withZero(c)
	}
	k, known := c.number(1)
	if c.has(1) && !known {
		return joined(v, scalar(Range{}))
	}
	upper := c.n.Int("upper", 1) != 0
	rows, cols := v.dims[len(v.dims)-2], v.dims[len(v.dims)-1]
	if s := c.shape(0); s[len(s)-2] != (graph.Dim{N: int64(rows)}) || s[len(s)-1] != (graph.Dim{N: int64(cols)}) {
		return joined(v, scalar(Range{}))
	}
	out := v.with(v.dims, append([]float64{}, v.lo...), append([]float64{}, v.hi...))
	for i := range out.lo {
		row, col := float64(i/cols%rows), float64(i%cols)
		if upper && col < row+k || !upper && col > row+k {
			out.lo[i], out.hi[i] = 0, 0
		}
	}
	return out
}

func uniqueOp(c *call) []*Val {
	n := c.index(0, false)
	if c.rank(0) >= 0 {
		n = scalar(Range{0, c.elements()})
		n.integer = true
	}
	return []*Val{c.x(0).flat(), n, n, n}
}

// castOp converts to another type: exact but for the rounding into a smaller format, and truncated
// toward zero for integers.
func castOp(c *call) []*Val {
	v := c.x(0)
	from := graph.Undefined
	if x := c.n.In(0); x != nil {
		from = x.Type.Elem
	}
	to := c.elem(0)
	switch {
	case from == graph.String:
		return []*Val{anyOf(c)}
	case to == graph.Bool:
		return []*Val{truth(v)}
	case to.IsInt() && (v.nan || v.special()): // has no integer: kernels give anything
		return []*Val{c.within(all)}
	case to.IsInt() && !v.integer:
		w := map1(v, monotone(math.Trunc))
		w.integer = true
		return []*Val{w}
	}
	if to == graph.Float4E2M1 || c.n.Int("saturate", 1) != 0 {
		if _, ok := saturated(to, Range{}); ok {
			w := map1flags(v, func(x Range) Range { r, _ := saturated(to, x); return r })
			w.posInf, w.negInf, w.nan = false, false, v.nan && to != graph.Float4E2M1
			return []*Val{w}
		}
	}
	w := v.clone()
	w.integer, w.tiny = v.integer, v.tiny
	return []*Val{w}
}

// truth is whether elements are not 0.
func truth(v *Val) *Val {
	w := map1(v, func(x Range) Range {
		switch {
		case x.Lo == 0 && x.Hi == 0:
			return never
		case !x.hasZero():
			return always
		}
		return maybe
	})
	w.nan, w.integer = false, true
	if v.nan {
		return joined(w, scalar(always))
	}
	return w
}

// bitCastOp reads the bits as another type.
func bitCastOp(c *call) *Val {
	v := c.within(all)
	if c.elem(0).IsFloat() {
		v.nan, v.posInf, v.negInf = true, true, true
	}
	return v
}
