package rangeprop

import (
	"reflect"
	"testing"
)

// TestNorms computes the norms of matrices with the same elements once, and gives of kept ones what is computed.
func TestNorms(t *testing.T) {
	made := func(first float32, known *norms) *matrix {
		m := &matrix{rows: 256, cols: 300, a: make([]float32, 256*300), norms: known}
		for i := range m.a {
			m.a[i] = float32(i*7919%201-100) / 100
		}
		m.a[0] = first
		return m
	}
	known := newNorms()
	want, got := made(1, nil).splitUp(2), made(1, known).splitUp(2)
	if !reflect.DeepEqual(got, want) {
		t.Error("a norm that is kept is another than that computed")
	}
	if made(1, known).splitUp(2) != got {
		t.Error("the norm of the same elements was computed again")
	}
	if made(0, known).splitUp(2) == got || made(1, known).splitUp(4) == got {
		t.Error("another element, or more squarings, are the same matrix")
	}
	if made(1, known).pick(seq(0, 300)).splitUp(2) != got {
		t.Error("parts of a matrix forget what is kept")
	}
	times := 0
	product := func(a, b *matrix) float64 {
		return known.product(a, b, func() float64 { times++; return float64(times) })
	}
	if x, y, z := product(made(1, known), made(0, known)), product(made(1, nil), made(0, nil)), product(made(0, known), made(1, known)); x != y || z == x || times != 2 {
		t.Errorf("products of two come to %g, %g and %g, computed %d times", x, y, z, times)
	}
	clear(known.known)
	tall := &matrix{rows: 300, cols: 256, a: made(1, nil).a, norms: known}
	if x := tall.bound(); x != (&matrix{rows: 300, cols: 256, a: tall.a}).bound() || len(known.known) != 1 {
		t.Errorf("the norm of a matrix with more rows than columns is %g, %d are kept", x, len(known.known))
	}
}
