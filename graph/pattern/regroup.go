package pattern

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// alike tells whether two values hold the same elements in the same order, in one shape or in two.
func (f *finder) alike(a, b *graph.Value) bool {
	a, b = f.same(a), f.same(b)
	if a == b {
		return true
	}
	of := f.shaped(a)
	return f.shaped(b) == of && asLarge(of.Type.Shape, a.Type.Shape) && asLarge(of.Type.Shape, b.Type.Shape)
}

// asLarge tells whether two shapes are known to have equally many elements.
func asLarge(s, t graph.Shape) bool {
	n, named, ok := volume(s)
	m, others, ok2 := volume(t)
	return ok && ok2 && n == m && slices.Equal(named, others)
}

// volume multiplies the dimensions that have a number, and lists the names of the others.
func volume(s graph.Shape) (n int64, names []string, ok bool) {
	if !settled(s) {
		return 0, nil, false
	}
	n = 1
	for _, d := range s {
		if d.Known() {
			n *= d.N
		} else {
			names = append(names, d.Sym)
		}
	}
	slices.Sort(names)
	return n, names, n > 0
}

// restated returns a reduction of a value in another shape as one of x, which holds the same elements: the
// mean over an image that was flattened is that over its rows and columns.
func (f *finder) restated(r *reduction, x *graph.Value) (*reduction, bool) {
	x = f.same(x)
	if r.of == x {
		return r, true
	}
	if !f.alike(r.of, x) {
		return nil, false
	}
	return r.reshaped(x)
}

// reshaped is the reduction over the same elements of x, which has the shape that the operand has or another one.
func (r *reduction) reshaped(x *graph.Value) (*reduction, bool) {
	q := *r
	q.of = x
	if r.all || slices.Equal(r.of.Type.Shape, x.Type.Shape) {
		return &q, true
	}
	axes, ok := regrouped(r.of.Type.Shape, r.axes, x.Type.Shape)
	q.axes, q.all = axes, len(axes) == len(x.Type.Shape)
	return &q, ok
}

// regrouped says which axes of the shape t hold what axes of the shape s hold of the same elements.
func regrouped(s graph.Shape, axes []int, t graph.Shape) (out []int, ok bool) {
	i, j := 0, 0
	for i < len(s) || j < len(t) {
		if i < len(s) && j < len(t) && s[i].Sym != "" && s[i] == t[j] {
			if slices.Contains(axes, i) {
				out = append(out, j)
			}
			i, j = i+1, j+1
			continue
		}
		a, b := int64(1), int64(1)
		kept, reduced := false, false
		from := j
		for first := true; first || a != b; first = false {
			switch {
			case a <= b && i < len(s):
				if !s[i].Known() {
					return nil, false
				}
				in := slices.Contains(axes, i)
				reduced, kept = reduced || in && s[i].N != 1, kept || !in && s[i].N != 1
				a *= s[i].N
				i++
			case j < len(t) && t[j].Known():
				b *= t[j].N
				j++
			default:
				return nil, false
			}
		}
		if kept && reduced {
			return nil, false
		}
		for k := from; k < j && reduced; k++ {
			if t[k].N != 1 {
				out = append(out, k)
			}
		}
	}
	return out, true
}
