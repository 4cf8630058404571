package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/rewrite"
)

// TestJoin: what is asked for, or follows, at several places is told once, in the order of the places.
func TestJoin(t *testing.T) {
	m, err := onnxtxt.Parse("case", []byte(`<ir_version: 9, opset_import: ["" : 18]> m (float[4] v) => (w) { w = Tanh(v) }`))
	if err != nil {
		t.Fatal(err)
	}
	v, w := m.Graph.Lookup("v"), m.Graph.Lookup("w")
	at := func(consequences []string, edits ...rewrite.Edit) *located {
		return &located{Finding: Finding{Consequences: consequences, Edits: edits}}
	}
	f := at([]string{"a", "b"}, rewrite.Widen{Value: v})
	f.join(at([]string{"b", "c"}, rewrite.Widen{Value: v}, rewrite.Widen{Value: w}))
	f.join(at([]string{"a", "d"}, rewrite.Widen{Value: w}))
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, f.Consequences); diff != "" {
		t.Errorf("consequences (-want +got):\n%s", diff)
	}
	if want := []rewrite.Edit{rewrite.Widen{Value: v}, rewrite.Widen{Value: w}}; !slices.Equal(f.Edits, want) {
		t.Errorf("edits %v, want %v", f.Edits, want)
	}
	if len(f.Occurrences) != 2 {
		t.Errorf("%d further places, want 2", len(f.Occurrences))
	}
}

// BenchmarkManyPlaces judges one hazard at many places whose results meet in one sum: time goes with their number.
func BenchmarkManyPlaces(b *testing.B) {
	for _, n := range []int{1000, 2000, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var body, terms []string
			for i := range n {
				body = append(body, fmt.Sprintf("m%d = Mul(x, c) t%d = Tanh(m%d) y%d = Mul(x, t%d)", i, i, i, i, i))
				terms = append(terms, fmt.Sprintf("y%d", i))
			}
			m, err := onnxtxt.Parse("case", fmt.Appendf(nil, `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[-10,10]"]>
m (float[4] x) => (y) <float c = {100000}> { %s y = Sum(%s) }`, strings.Join(body, " "), strings.Join(terms, ", ")))
			if err != nil {
				b.Fatal(err)
			}
			in := prepare(b, m, false)
			for b.Loop() {
				if len(Run(in)) == 0 {
					b.Fatal("nothing is found")
				}
			}
		})
	}
}
