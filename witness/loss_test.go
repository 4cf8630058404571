package witness

import (
	"context"
	"math"
	"testing"

	"github.com/amplint/amplint/rangeprop"
)

// TestLoss takes a tenth off an output. No element is a fault by the tolerance, and the loss is that tenth.
func TestLoss(t *testing.T) {
	const whole = head + `m (float[2, 8] x) => (float[2, 8] y, float[2, 8] z) { y = Abs(x) z = Neg(x) }`
	const less = head + `m (float[2, 8] x) => (float[2, 8] y, float[2, 8] z) <float k = {0.9}> { a = Abs(x) y = Mul(a, k) z = Neg(x) }`
	m, info, inputs := bounded(t, whole, map[string]rangeprop.Range{"x": {Lo: -2, Hi: 2}})
	trial := NewTrial(context.Background(), m, info, inputs, Options{Work: 1e8, Runs: 12})
	form, _, _ := bounded(t, less, nil)
	f, l, err := trial.JudgeLoss(context.Background(), form, 2)
	if err != nil || f != nil || l.Output != "y" || math.Abs(l.Share-0.1) > 1e-6 {
		t.Errorf("fault %v, loss %v, %v; want no fault and y off by 0.1", f, l, err)
	}
	if _, l, err = trial.JudgeLoss(context.Background(), m, 2); err != nil || l.Share != 0 {
		t.Errorf("loss %v, %v of the model itself, want none", l, err)
	}
}

// TestAnything: without a range that somebody vouches for there are no inputs, unless any will do.
func TestAnything(t *testing.T) {
	m, info, inputs := bounded(t, widePower, nil)
	for _, anything := range []bool{false, true} {
		if n := NewTrial(context.Background(), m, info, inputs, Options{Work: 1e8, Runs: 4, Anything: anything}).Len(); (n > 0) != anything {
			t.Errorf("%d inputs with anything %t", n, anything)
		}
	}
}
