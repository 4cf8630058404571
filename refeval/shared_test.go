package refeval

import (
	"context"
	"fmt"
	"testing"
	"unsafe"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// TestSharedConstants holds runners of one model that share its constants, and hold them in turn in different formats
// and layouts, against such as do not.
func TestSharedConstants(t *testing.T) {
	m := parse(t, fmt.Sprintf(weightsText, "", weightsAsConstants))
	in := map[string]*Value{"x": TensorValue(FloatTensor([]int{2, 3}, 0.1, -2, 0.3, 3, 0, 1))}
	all := func(*graph.Value, *Tensor) {}
	plans := []Options{
		{}, {Accumulate: Target, As: numfmt.FP16}, {As: numfmt.FP16}, {As: numfmt.BF16, Observe: all}, {Observe: all}, {Accumulate: Target},
		{As: numfmt.FP16, Keep: func(v *graph.Value) bool { return v.Name == "w" || v.Name == "u" }}, {As: numfmt.FP16, FlushSubnormals: true},
	}
	run := func(o Options) *Tensor {
		r, err := New(m, o)
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.Run(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		return out["y"].Tensor
	}
	shared := NewShared()
	for i := range 2 * len(plans) { // the second time all there is to share is there
		o := plans[i%len(plans)]
		want := run(o)
		if o.Shared = shared; !run(o).EqualBits(want) {
			t.Errorf("plan %d: %v with what the others left, %v without", i, run(o).F, want.F)
		}
	}
}

func TestSharedConstantsAreReadOnce(t *testing.T) {
	m := parse(t, fmt.Sprintf(weightsText, "", weightsAsConstants))
	shared := NewShared()
	elements := func(o Options) *float32 {
		o.Observe, o.Shared = func(*graph.Value, *Tensor) {}, shared
		r, err := New(m, o)
		if err != nil {
			t.Fatal(err)
		}
		return unsafe.SliceData(r.constants[0].t.F)
	}
	first := elements(Options{})
	if elements(Options{}) != first {
		t.Error("a second runner reads the constants again")
	}
	if low := elements(Options{As: numfmt.FP16}); low == first || elements(Options{As: numfmt.FP16}) != low {
		t.Error("constants in FP16 are those in FP32, or read again")
	}
}
