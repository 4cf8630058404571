package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
)

// pieces hold a value as a function of one source, element by element: the range of the source is
// cut into pieces, and each is carried through the same operators. Where the source meets itself
// again, as in x·sigmoid(x), intervals forget that both are one; the pieces do not. So GELU, SiLU,
// Mish, softplus and their like are bounded in every spelling without being recognised.
type pieces struct {
	of   *graph.Value
	v    *Val  // one bound for each piece
	seed *Val  // the pieces of the source
	ball *ball // of the source, nil where it has none

	beside bool // other values had a part in it, for each piece anywhere in their bounds
}

// pieceCount is the number of cuts of each of two sequences, one even and one that is denser
// around 0, where activations bend.
const pieceCount = 320

// cutUp cuts a range of numbers whose least magnitude is given. Around 0 the cuts follow powers, and 0
// is a piece of its own: there logarithms and quotients have no bound.
func cutUp(r Range, least float64) *Val {
	cuts := []float64{r.Lo, r.Hi}
	u, w := math.Asinh(r.Lo), math.Asinh(r.Hi)
	for i := 1; i < pieceCount; i++ {
		t := float64(i) / pieceCount
		cuts = append(cuts, r.Lo+(r.Hi-r.Lo)*t, math.Sinh(u+(w-u)*t))
	}
	for x := 1.0; x > least/2 && r.hasZero(); x /= 16 {
		cuts = append(cuts, math.Max(x, least), -math.Max(x, least))
	}
	if r.hasZero() {
		cuts = slices.DeleteFunc(cuts, func(x float64) bool { return math.Abs(x) < least })
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	v := &Val{basis: Constant}
	for i := range cuts[1:] {
		lo, hi := math.Max(cuts[i], r.Lo), math.Min(cuts[i+1], r.Hi)
		if cuts[i] == -least && cuts[i+1] == least { // nothing but 0 lies between the least numbers
			lo, hi = math.Max(math.Copysign(0, -1), r.Lo), math.Min(0, r.Hi) // -0 where there are negative numbers
		}
		if lo < hi || lo == 0 && hi == 0 {
			v.lo, v.hi = append(v.lo, lo), append(v.hi, hi)
		}
	}
	v.dims = []int{len(v.lo)}
	return v
}

// elementwise are the operators whose output elements depend on the input elements at the same
// place alone.
func elementwise(n *graph.Node) bool {
	switch n.OpName() {
	case "Add", "Sub", "Mul", "Div", "Neg", "Abs", "Reciprocal", "Sqrt", "Max", "Min", "Sum", "Mean", "Pow", "Clip", "Where", "Floor", "Ceil", "Round", "Sign",
		"Exp", "Log", "Tanh", "Sigmoid", "Erf", "Softsign", "Atan", "Softplus", "Asinh", "Sinh", "Cosh", "Sin", "Cos", "Relu", "LeakyRelu", "Elu", "Selu", "Celu",
		"HardSigmoid", "HardSwish", "Identity", "Dropout", "Cast", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Not", "And", "Or", "Gelu", "PRelu",
		"ThresholdedRelu", "Shrink", "Mish", "CastLike":
		return true
	}
	return false
}

// source finds the value that all inputs other than single constants are functions of.
func (c *call) source() (of *graph.Value, ok bool) {
	for i, in := range c.in {
		if in == nil || in.number() || c.n.Op == "CastLike" && i == 1 {
			continue
		}
		s := c.origin(i)
		if of != nil && s != of {
			return nil, false
		}
		of = s
	}
	return of, of != nil
}

// origin is the value that an input is taken for a function of. One that is a function of another value beside
// others, and is read more than once, is better a source of its own: it meets itself.
func (c *call) origin(i int) *graph.Value {
	v, in := pattern.Bare(c.n.In(i)), c.in[i]
	if in.pieces == nil || in.pieces.beside && readers(v) > 1 {
		return v
	}
	return in.pieces.of
}

// main picks, where the inputs are not functions of one value, the one that is read most, or the wider one: for each of its
// pieces the others may be anything in their bounds. So a loss that is linear in its target, such as
// softplus(x) - x·t, is bounded for each x. What comes out has to have the shape of that value. What has but
// a constant added, as a bias, is better the source of what follows: it has a ball of its own.
func (c *call) main(v *graph.Value) (of *graph.Value) {
	switch c.n.OpName() {
	case "Add", "Sub", "Mul", "Div", "Max", "Min", "Sum":
	default:
		return nil
	}
	free := 0
	wide := 0.0
	for i, in := range c.in {
		if in == nil || in.number() || c.n.In(i).Const != nil {
			continue
		}
		h := in.Hull()
		free++
		s := c.origin(i)
		if sameShape(s.Type.Shape, v.Type.Shape) && (of == nil || readers(s) > readers(of) || readers(s) == readers(of) && h.Hi-h.Lo > wide) {
			of, wide = s, h.Hi-h.Lo
		}
	}
	if free < 2 {
		return nil
	}
	return of
}

// readers counts the nodes that read a value, up to some.
func readers(v *graph.Value) int {
	n := 0
	for i, u := range v.Uses[:min(len(v.Uses), 64)] {
		if !slices.ContainsFunc(v.Uses[:i], func(w graph.Use) bool { return w.Node == u.Node }) {
			n++
		}
	}
	return n
}

// sameShape tells whether two shapes are known to be one.
func sameShape(s, t graph.Shape) bool {
	return s != nil && slices.Equal(s, t) && !slices.ContainsFunc(s, func(d graph.Dim) bool { return !d.Known() && d.Sym == "" })
}

// number tells whether all elements of a value are one number.
func (v *Val) number() bool {
	if len(v.lo) == 0 || v.nan || math.IsInf(v.lo[0], 0) {
		return false
	}
	for i, lo := range v.lo {
		if lo != v.lo[0] || v.hi[i] != lo {
			return false
		}
	}
	return true
}

// away are the pieces of a value whose elements were moved since.
type away struct {
	from   *graph.Value
	pieces *pieces
}

// moved keeps the pieces of what changes of shape and transpositions read, for the value that has all
// elements at their places again.
func (c *call) moved(v *graph.Value, x *Val) *Val {
	switch c.n.OpName() {
	case "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose":
	default:
		return x
	}
	a := c.in[0].away
	if c.in[0].pieces != nil {
		a = &away{from: c.n.In(0), pieces: c.in[0].pieces}
	}
	if a == nil {
		return x
	}
	y := x.clone()
	y.away = a
	if pattern.Returned(v) == a.from {
		y.pieces = a.pieces
	}
	return y
}

// pieced carries the pieces of the inputs through the node and meets the output's bounds with them.
func (c *call) pieced(v *graph.Value, x *Val, o op) *Val {
	if v.Index != 0 || c.n.Call != nil || len(c.in) == 0 || c.in[0] == nil {
		return x
	}
	if !elementwise(c.n) {
		return c.moved(v, x)
	}
	if c.n.Op == "Mul" && (c.p.logApart(c.n.In(0), c.n.In(1)) || c.p.logApart(c.n.In(1), c.n.In(0))) {
		return x // see clippedLog
	}
	of, ok := c.source()
	if !ok {
		if of = c.main(v); of == nil {
			return x
		}
	}
	d := &call{p: c.p, n: c.n, in: slices.Clone(c.in)}
	p := &pieces{of: of}
	for i, in := range c.in {
		switch {
		case in == nil || c.n.Op == "CastLike" && i == 1:
		case in.number():
			d.in[i] = in.flat()
		case in.pieces != nil && in.pieces.of == of:
			d.in[i], p.seed, p.ball, p.beside = in.pieces.v, in.pieces.seed, in.pieces.ball, p.beside || in.pieces.beside
		case pattern.Bare(c.n.In(i)) == of:
			if p.seed == nil && (len(of.Uses) > 1 || len(c.n.In(i).Uses) > 1 || in.dense()) { // else it never meets itself
				p.seed = c.p.cut(of, in)
			}
			if d.in[i], p.ball = p.seed, in.ball; p.seed == nil {
				return x
			}
		case ok || !in.Hull().Bounded():
			return x
		default:
			d.in[i] = in.flat()
		}
	}
	if !ok {
		p.ball, p.beside = nil, true
	}
	return c.carry(d, p, v, x, o)
}

// dense tells whether the value has a ball whose elements mix those of a smaller one.
func (v *Val) dense() bool { return v.ball != nil && v.ball.m != nil }

// cut cuts the range of a source, nil where it has none or where its elements may be infinite. That they
// may be NaN is said of every piece, as it is of the whole.
func (p *pass) cut(of *graph.Value, x *Val) *Val {
	h := x.Hull()
	if x.special() || !h.Bounded() || h.Lo == h.Hi || len(x.lo) == 0 || !of.Type.Elem.IsFloat() {
		return nil
	}
	f, ok := held(of.Type.Elem)
	if !ok {
		return nil
	}
	s := cutUp(h, f.MinSubnormal())
	s.basis, s.why, s.nan = x.basis, x.why, x.nan
	return s
}

// carry completes the pieces of a value by what the node makes of those in d.
func (c *call) carry(d *call, p *pieces, v *graph.Value, x *Val, o op) *Val {
	n := 0
	for _, in := range d.in {
		if in != nil {
			n = max(n, len(in.lo))
		}
	}
	outs := o.f(d)
	if len(outs) == 0 || outs[0] == nil || len(outs[0].lo) != n || n < 2 {
		return x
	}
	out := d.finish(v, outs[0], o).clone()
	out.dims = []int{n}
	h := out.Hull()
	y := x.meet(scalar(h))
	y.basis, y.why = x.basis, x.why
	y.nan, y.posInf, y.negInf = x.nan && out.nan, x.posInf && out.posInf, x.negInf && out.negInf
	p.v = out.plain()
	y.pieces = p
	return y
}
