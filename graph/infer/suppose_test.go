package infer

import (
	"testing"

	"github.com/amplint/amplint/graph"
)

// TestSuppose asks what the length of a signal is where sizes that follow from it are supposed.
func TestSuppose(t *testing.T) {
	type let struct {
		of string
		n  int64
	}
	for _, c := range []struct {
		name       string
		dims       map[string]DimRange
		lets       []let
		x, a, b, w int64
	}{
		{name: "nothing", x: -1, a: -1, b: -1, w: -1},
		{name: "the greatest that gives one step", lets: []let{{"b", 1}}, x: 4, a: 2, b: 1, w: -1},
		{name: "within what the user says", dims: map[string]DimRange{"s": {1, 3}}, lets: []let{{"b", 1}}, x: 3, a: 2, b: 1, w: -1},
		{name: "not beyond it", dims: map[string]DimRange{"s": {8, 9}}, lets: []let{{"b", 1}}, x: -1, a: -1, b: -1, w: -1},
		{name: "what the user fixes stays", dims: map[string]DimRange{"s": {8, 8}}, lets: []let{{"b", 1}}, x: 8, a: 4, b: 2, w: -1},
		{name: "the first counts", lets: []let{{"a", 8}, {"b", 1}}, x: 16, a: 8, b: 4, w: -1},
		{name: "two symbols", lets: []let{{"w", 7}}, x: -1, a: -1, b: -1, w: -1},
		{name: "one after the other", lets: []let{{"a", 2}, {"w", 7}}, x: 4, a: 2, b: 1, w: 7},
		{name: "no such size", lets: []let{{"d", 7}}, x: -1, a: -1, b: -1, w: -1},
		{name: "no end to it", lets: []let{{"m", 5}}, x: -1, a: -1, b: -1, w: -1},
	} {
		m := parse(t, `g (float[1,1,s] x, float[1,1,z] y, float[1,1,1] k) => () {
			a = Conv<pads = [1, 0], kernel_shape = [2], strides = [2]>(x, k2)
			b = Conv<pads = [1, 0], kernel_shape = [2], strides = [2]>(a, k2)
			k2 = Concat<axis = 2>(k, k)
			w = Concat<axis = 2>(x, y)
			d = Concat<axis = 2>(x, x)
			m = Slice(x, zero, five, two)
			zero = Constant<value_ints = [0]>()
			two = Constant<value_ints = [2]>()
			five = Constant<value_ints = [5]>()
		}`)
		info, err := Run(m, Options{Dims: c.dims})
		if err != nil {
			t.Fatal(err)
		}
		last := func(name string) graph.Dim { return m.Graph.Lookup(name).Type.Shape[2] }
		s := info.Suppose()
		for _, l := range c.lets {
			s.Let(last(l.of), l.n)
		}
		for name, want := range map[string]int64{"x": c.x, "a": c.a, "b": c.b, "w": c.w} {
			if got := s.Size(last(name)); got != want {
				t.Errorf("%s: %s is %d, want %d", c.name, name, got, want)
			}
		}
		if lo, hi := info.Bounds(last("x")); len(c.dims) == 0 && (lo != 0 || hi != -1) {
			t.Errorf("%s: bounds [%d, %d] of what was only supposed", c.name, lo, hi)
		}
		if s.Size(graph.UnknownDim) != -1 || s.Size(graph.Dim{N: 7}) != 7 {
			t.Errorf("%s: sizes of dimensions without a symbol", c.name)
		}
	}
}
