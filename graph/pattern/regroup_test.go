package pattern

import (
	"slices"
	"testing"

	"github.com/amplint/amplint/graph"
)

func shapeOf(dims ...int64) graph.Shape {
	var s graph.Shape
	for _, n := range dims {
		s = append(s, graph.Dim{N: n})
	}
	return s
}

func TestRegrouped(t *testing.T) {
	for _, c := range []struct {
		name string
		s    graph.Shape
		axes []int
		t    graph.Shape
		want []int
		ok   bool
	}{
		{"flattened", shapeOf(2, 8, 16), []int{2}, shapeOf(2, 8, 4, 4), []int{2, 3}, true},
		{"split", shapeOf(2, 8, 4, 4), []int{2, 3}, shapeOf(2, 8, 16), []int{2}, true},
		{"half of a group", shapeOf(2, 4, 4), []int{2}, shapeOf(2, 16), nil, false},
		{"across", shapeOf(4, 6), []int{1}, shapeOf(6, 4), nil, false},
		{"axes of length 1", shapeOf(4, 1, 8), []int{2}, shapeOf(4, 8), []int{1}, true},
		{"a length of 1 that is reduced", shapeOf(4, 1, 8), []int{1, 2}, shapeOf(1, 4, 8, 1), []int{2}, true},
		{"not as many", shapeOf(2, 3), []int{1}, shapeOf(2, 4), nil, false},
		{"a name", graph.Shape{{Sym: "N"}, {N: 16}}, []int{1}, graph.Shape{{Sym: "N"}, {N: 4}, {N: 4}}, []int{1, 2}, true},
		{"no number", graph.Shape{{Sym: "N"}, {N: 4}}, []int{1}, shapeOf(4, 4), nil, false},
	} {
		got, ok := regrouped(c.s, c.axes, c.t)
		if ok != c.ok || ok && !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}
