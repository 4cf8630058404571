package minimize

import (
	"cmp"
	"slices"

	"github.com/amplint/amplint/graph"
	inference "github.com/amplint/amplint/graph/infer"
)

// infer sets the types and constants of a part, as far as they can be known.
func infer(m *graph.Model) { _, _ = inference.Run(m, inference.Options{}) }

// lengths are what the length of a dimension is tried to be, the smallest first.
var lengths = []int64{1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024}

// dim is a dimension that occurs in the part: a length, or a name.
type dim struct {
	n   int64
	sym string
}

// smaller shortens dimensions until none can be shorter.
func (r *reducer) smaller() {
	for r.left > 0 && r.shorter() {
	}
}

// shorter shortens all dimensions of one length at once, one length after the other: where a part
// has two of a length they mostly belong together.
func (r *reducer) shorter() bool {
	any := false
	for _, d := range dims(r.best.Graph) {
		for _, n := range lengths {
			if d.sym == "" && n >= d.n || r.left <= 0 {
				break
			}
			if r.try(resized(r.best, d, n, false)) || r.left > 0 && r.try(resized(r.best, d, n, true)) {
				any = true
				break
			}
		}
	}
	return any
}

// dims lists the dimensions of inputs and initializers, the longest first, named ones before them.
func dims(g *graph.Graph) []dim {
	var list []dim
	add := func(d dim) {
		if (d.n > 1 || d.sym != "") && !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	for _, v := range g.Inputs {
		for _, d := range v.Type.Shape {
			if d.Known() {
				add(dim{n: d.N})
			} else {
				add(dim{sym: d.Sym})
			}
		}
	}
	for _, v := range g.Inits() {
		for _, n := range v.Init.Dims {
			add(dim{n: n})
		}
	}
	slices.SortStableFunc(list, func(a, b dim) int {
		return cmp.Or(-cmp.Compare(a.sym, b.sym), -cmp.Compare(a.n, b.n))
	})
	return list
}

// resized gives a dimension another length everywhere: in the types of inputs and outputs, in
// weights, whose first elements are kept or whose last, and in lists of integers, which may be shapes.
func resized(base *graph.Model, d dim, n int64, last bool) (*graph.Model, error) {
	m := base.Clone()
	g := m.Graph
	for _, v := range g.Inputs {
		v.Declare(retyped(v.Type, d, n))
	}
	for _, v := range g.Outputs {
		t := v.Type
		t.Shape = nil // inference says it
		v.Declare(t)
	}
	for _, v := range append([]*graph.Value{}, g.Inits()...) {
		t, err := sliced(v.Init, d, n, last)
		if err != nil {
			return nil, err
		}
		if t != v.Init {
			v.SetInit(t)
		}
	}
	again, err := Reread(m)
	if err != nil {
		return nil, err
	}
	infer(again)
	for _, v := range again.Graph.Outputs {
		v.Declare(v.Type)
	}
	return again, nil
}

func retyped(t graph.Type, d dim, n int64) graph.Type {
	t.Shape = slices.Clone(t.Shape)
	for i, x := range t.Shape {
		if d.sym != "" && !x.Known() && x.Sym == d.sym || d.sym == "" && x.Known() && x.N == d.n {
			t.Shape[i] = graph.Dim{N: n}
		}
	}
	return t
}

// sliced returns the tensor with the dimension cut, itself where it has none of that length.
func sliced(t *graph.Tensor, d dim, n int64, last bool) (*graph.Tensor, error) {
	if d.sym != "" {
		return t, nil
	}
	if t.Elem == graph.Int64 && len(t.Dims) <= 1 && t.Len() <= 16 {
		list, err := t.Int64s()
		if err != nil {
			return nil, err
		}
		if slices.Contains(list, d.n) {
			for i, x := range list {
				if x == d.n {
					list[i] = n
				}
			}
			return graph.IntTensor(t.Name, t.Dims, list...), nil
		}
	}
	if !slices.Contains(t.Dims, d.n) {
		return t, nil
	}
	return shortened(t, d.n, n, last)
}

// shortened keeps n elements along every axis of length from, the first or the last.
func shortened(t *graph.Tensor, from, n int64, last bool) (*graph.Tensor, error) {
	raw, err := t.Bytes()
	if err != nil || t.Elem.Bits()%8 != 0 || t.Elem.Bits() == 0 {
		return t, err
	}
	size := int64(t.Elem.Bits() / 8)
	shape := slices.Clone(t.Dims)
	for axis := range shape {
		if shape[axis] != from {
			continue
		}
		inner := size
		for _, x := range shape[axis+1:] {
			inner *= x
		}
		var out []byte
		skip := int64(0)
		if last {
			skip = (from - n) * inner
		}
		for at := int64(0); at < int64(len(raw)); at += from * inner {
			out = append(out, raw[at+skip:at+skip+n*inner]...)
		}
		raw, shape[axis] = out, n
	}
	return graph.NewTensor(t.Name, t.Elem, shape, raw), nil
}
