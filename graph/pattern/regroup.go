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
	one := graph.Dim{N: 1}
	for i, j := 0, 0; i < len(s) || j < len(t); {
		m, n, ok := group(s[i:], t[j:])
		reduced, kept := false, false
		for end := i + m; i < end; i++ {
			in := slices.Contains(axes, i)
			reduced, kept = reduced || in && s[i] != one, kept || !in && s[i] != one
		}
		if !ok || reduced && kept {
			return nil, false
		}
		for end := j + n; j < end; j++ {
			if reduced && t[j] != one {
				out = append(out, j)
			}
		}
	}
	return out, true
}

// group counts the first dimensions of two shapes that have equally many elements between them, as few as can
// be but one at least.
func group(s, t graph.Shape) (m, n int, ok bool) {
	if len(s) > 0 && len(t) > 0 && s[0].Sym != "" && s[0] == t[0] {
		return 1, 1, true
	}
	a, b := int64(1), int64(1)
	for m+n == 0 || a != b {
		switch {
		case a <= b && m < len(s):
			if !s[m].Known() {
				return 0, 0, false
			}
			a *= s[m].N
			m++
		case n < len(t) && t[n].Known():
			b *= t[n].N
			n++
		default:
			return 0, 0, false
		}
	}
	return m, n, true
}
