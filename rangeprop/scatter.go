package rangeprop

import (
	"encoding/binary"
	"math"

	"github.com/amplint/amplint/graph"
)

// scatterOp joins data and updates, or lets the updates that can meet at one place act on it.
func scatterOp(c *call) *Val {
	data, u, n := c.x(0).flat(), c.x(2).flat(), c.hits()
	switch c.n.Str("reduction", "none") {
	case "none", "":
		return joined(data, u)
	case "add":
		v := plus(data, map1flags(u, func(x Range) Range { return mul(x, Range{0, n}) }))
		v.nan = v.nan || n > 1 && u.posInf && u.negInf
		return c.summed(v, all, n+1, data.Hull().MaxAbs()+product(n, u.Hull().MaxAbs()))
	case "mul":
		return c.scatterProducts(data, u, n)
	case "max":
		return joined(data, variadicOf(data, u, maximum))
	case "min":
		return joined(data, variadicOf(data, u, minimum))
	}
	return c.anything()
}

// scatterProducts multiplies elements of data by up to n updates.
func (c *call) scatterProducts(data, u *Val, n float64) *Val {
	h := u.Hull()
	p := powers(h, n)
	v := joined(data, times(data, scalar(p)))
	if n > 1 { // what is small may vanish before the rest is multiplied
		v = joined(v, scalar(Range{}))
	}
	top := product(data.Hull().MaxAbs(), math.Pow(math.Max(h.MaxAbs(), 1), n))
	v.integer, v.tiny = data.integer && u.integer, 0
	v.nan = v.nan || u.nan || (u.special() || top > c.accumLimit()) && (data.zero() || u.zero()) || data.special() && u.zero()
	return map1flags(v, func(r Range) Range { return overflowing(r, r, top, c.accumLimit()) })
}

// powers bounds products of up to n numbers of a range, 1 where there are none.
func powers(x Range, n float64) Range {
	const few = 64
	r, p := Range{1, 1}, Range{1, 1}
	if n > few {
		m := corners(absolute(x), Range{0, n})
		if x.Lo < 0 {
			m.Lo = -m.Hi
		}
		return m
	}
	for range int(n) {
		p = mul(p, x)
		r = r.join(p)
	}
	return r
}

// hits returns the greatest number of updates that one place can get: as many as the most frequent
// of constant indices; else, along an axis all that the updates have there, and all of ScatterND's.
func (c *call) hits() float64 {
	shape := c.shape(1)
	if len(shape) == 0 {
		return math.Inf(1)
	}
	if c.n.Op == "ScatterND" {
		width := shape[len(shape)-1]
		if at, ok := c.ints(1); ok && width.Known() && width.N > 0 {
			return c.repeated(at, int(width.N))
		}
		n := 1.0
		for d := range len(shape) - 1 {
			n = product(n, c.most(1, d))
		}
		return n
	}
	axis, ok := c.axis("axis", 0, len(shape))
	if !ok {
		return math.Inf(1)
	}
	n := c.most(1, axis)
	if at, ok := c.ints(1); ok && len(shape) == 1 {
		return c.repeated(at, 1)
	}
	return n
}

// most is the greatest size of a dimension, infinite where it has none.
func (c *call) most(i, d int) float64 {
	if _, hi := c.dim(i, d); hi >= 0 {
		return float64(hi)
	}
	return math.Inf(1)
}

// repeated counts the most frequent of indices into the first axes of the data.
func (c *call) repeated(at []int64, width int) float64 {
	seen, most := map[string]int{}, 0
	for ; len(at) >= width; at = at[width:] {
		key := make([]byte, 0, 8*width)
		for i, k := range at[:width] {
			if s := c.shape(0); k < 0 && i < len(s) {
				if !s[i].Known() {
					return math.Inf(1)
				}
				k += s[i].N
			}
			key = binary.BigEndian.AppendUint64(key, uint64(k))
		}
		seen[string(key)]++
		most = max(most, seen[string(key)])
	}
	return float64(most)
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
	if to == graph.Float8E8M0 {
		w := map1flags(v, powerOfTwo)
		w.integer, w.nan, w.posInf, w.negInf = false, v.nan || v.Hull().MaxAbs() > 0x1p127, false, false
		return []*Val{w}
	}
	if _, small := miniOf(to); small || c.n.Int("saturate", 1) != 0 {
		if _, ok := saturated(to, Range{}); ok {
			w := map1flags(v, func(x Range) Range { r, _ := saturated(to, x); return r })
			w.posInf, w.negInf, w.nan, w.integer = false, false, v.nan && !small, v.integer && !small
			if v.nan && small { // kernels give anything
				w = map1flags(w, func(Range) Range { r, _ := saturated(to, all); return r })
			}
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

// bitCastOp reads the bits as another type. Those of floating-point numbers are ordered as integers:
// upwards from 0, and without the sign downwards.
func bitCastOp(c *call) *Val {
	v := c.within(all)
	from, to := c.n.In(0).Type.Elem, c.elem(0)
	if decode := decoder(to); decode != nil && from.IsInt() && to.Bits() == from.Bits() {
		return c.decoded(decode, to.Bits())
	}
	if to.IsFloat() {
		v.nan, v.posInf, v.negInf = true, true, true
	}
	return v
}

// decoder reads a floating-point type whose infinity is followed by its NaNs, nil for others.
func decoder(t graph.ElemType) func(code uint64) float64 {
	switch t {
	case graph.Double:
		return math.Float64frombits
	case graph.Float, graph.Float16, graph.BFloat16:
		f, _ := held(t)
		return func(code uint64) float64 { return f.Decode(uint32(code)) }
	}
	return nil
}

// decoded bounds what the codes of numbers of so many bits stand for: those with the sign apart from
// those without. An unsigned code with the sign is that of a negative number.
func (c *call) decoded(decode func(code uint64) float64, bits int) *Val {
	half := math.Exp2(float64(bits - 1))
	v, out := c.within(all), Range{math.Inf(1), math.Inf(-1)}
	add := func(from, to, sign float64) {
		h := c.x(0).Hull()
		from, to = math.Max(h.Lo, from), math.Min(h.Hi, math.Nextafter(to, from))
		if from > to {
			return
		}
		low := uint64(1)<<(bits-1) - 1
		a, b := decode(code(from)&low), decode(code(to)&low)
		if v.nan = v.nan || math.IsNaN(b); math.IsNaN(a) {
			return
		}
		if math.IsNaN(b) {
			b = math.Inf(1)
		}
		out = out.join(Range{math.Min(sign*a, sign*b), math.Max(sign*a, sign*b)})
	}
	add(-half, 0, -1)
	add(0, half, 1)
	add(half, 2*half, -1)
	if out.Lo > out.Hi { // NaN, whatever the code
		out = Range{}
	}
	v = v.with(nil, []float64{out.Lo}, []float64{out.Hi})
	v.infinities()
	return v
}

// code returns the bits of an integer.
func code(x float64) uint64 {
	if x < 0 {
		return uint64(int64(math.Floor(x)))
	}
	return uint64(x)
}
