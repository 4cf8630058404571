package pattern

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// Rotation is a·cos θ ± b·sin θ, as rotary embeddings turn pairs of elements: its square is at most
// Radius²·(a² + b²).
type Rotation struct {
	A, B   *graph.Value
	Radius float64 // of cos and sin together, 1 where nothing scales them
}

// rotation reads a sum of two products of which one has the cosine and the other the sine of one angle.
func (f *finder) rotation(v *graph.Value) {
	ts, c := f.terms(v)
	if len(ts) != 2 || c != 0 || !pair(ts[0].product) || !pair(ts[1].product) || math.Abs(ts[0].coef) != math.Abs(ts[1].coef) {
		return
	}
	for _, g := range ts[0].factors {
		for _, h := range ts[1].factors {
			r, ok := f.circle(g.base, h.base, maxDepth)
			if !ok {
				r, ok = f.circle(h.base, g.base, maxDepth)
			}
			if !ok {
				continue
			}
			a, _ := ts[0].without(g.base, 1).single(1)
			b, _ := ts[1].without(h.base, 1).single(1)
			if a != nil && b != nil {
				f.set.rotations[v] = &Rotation{A: a, B: b, Radius: r * math.Abs(ts[0].coef)}
			}
			return
		}
	}
}

// rotated reads the operator, which may leave some elements as they are.
func (f *finder) rotated(n *graph.Node) {
	if n.In(1) == nil || n.In(2) == nil {
		return
	}
	if r, ok := f.circle(n.In(1), n.In(2), maxDepth); ok {
		f.set.rotations[n.Out(0)] = &Rotation{A: n.In(0), B: n.In(0), Radius: math.Max(r, 1/math.Sqrt2)}
	}
}

// pair tells whether a product has two factors.
func pair(p *product) bool {
	return len(p.factors) == 2 && p.factors[0].pow == 1 && p.factors[1].pow == 1
}

// circle tells that c and s are, element by element, cosine and sine of one angle, times a radius, in the same
// layout.
func (f *finder) circle(c, s *graph.Value, depth int) (radius float64, ok bool) {
	c, s = f.same(c), f.same(s)
	if c.Const != nil && s.Const != nil {
		return onCircle(c.Const, s.Const)
	}
	n, m := c.Producer, s.Producer
	if n == nil || m == nil || depth == 0 || c.Const != nil || s.Const != nil || n.In(0) == nil || m.In(0) == nil || c.Index != s.Index {
		return 0, false
	}
	if n.OpName() == "Cos" && m.OpName() == "Sin" {
		return 1, f.same(n.In(0)) == f.same(m.In(0)) && n.In(0).Type.Elem == m.In(0).Type.Elem // large angles round to others
	}
	if n.OpName() != m.OpName() || len(n.Inputs) != len(m.Inputs) || attrs(n) != attrs(m) {
		return 0, false
	}
	switch n.OpName() {
	case "Unsqueeze", "Squeeze", "Reshape", "Flatten", "Transpose", "Slice", "Gather", "Expand", "Tile", "Split", "GatherND", "GatherElements":
		if !f.sameBut0(n, m) {
			return 0, false
		}
		return f.circle(n.In(0), m.In(0), depth-1)
	case "Mul":
		for i := range 2 {
			for j := range 2 {
				k, ok := f.number1(f.orNil(n.In(i)))
				l, ok2 := f.number1(f.orNil(m.In(j)))
				if ok && ok2 && k == l {
					radius, ok = f.circle(n.In(1-i), m.In(1-j), depth-1)
					return radius * math.Abs(k), ok
				}
			}
		}
	case "Concat":
		for i := range n.Inputs {
			r, ok := f.circle(n.In(i), m.In(i), depth-1)
			if !ok {
				return 0, false
			}
			radius = max(radius, r)
		}
		return radius, true
	}
	return 0, false
}

// maxTable is the number of elements up to which tables of cosines and sines are read.
const maxTable = 1 << 20

// onCircle returns the largest root of c² + s² of two tables of one shape.
func onCircle(c, s *graph.Tensor) (radius float64, ok bool) {
	if !slices.Equal(c.Dims, s.Dims) || c.Len() < 1 || c.Len() > maxTable || !c.Elem.IsFloat() || !s.Elem.IsFloat() {
		return 0, false
	}
	xs, err := c.Float64s()
	ys, err2 := s.Float64s()
	if err != nil || err2 != nil {
		return 0, false
	}
	for i, x := range xs {
		radius = math.Max(radius, math.Hypot(x, ys[i]))
	}
	return radius, !math.IsNaN(radius) && !math.IsInf(radius, 0)
}
