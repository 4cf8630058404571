package witness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
)

// The forms of one model, of which the second loses what the first keeps.
const (
	widePower = head + `m (float[2, 8] x) => (float[2, 8] y) { a = Mul(x, x) b = Mul(a, a) y = Sqrt(b) }`
	halfPower = head + `m (float[2, 8] x) => (float[2, 8] y) { h = Cast<to = 10>(x) a = Mul(h, h) b = Mul(a, a) s = Sqrt(b) y = Cast<to = 1>(s) }`
)

func TestTrial(t *testing.T) {
	for _, c := range []struct {
		name, text string
		ends       float64
		fault      bool
		finite     bool
	}{
		{"the model itself", widePower, 200, false, true},
		{"an overflow", halfPower, 200, true, false},
		{"small inputs", halfPower, 2, false, true},
		{"numbers that vanish", halfPower, 1e-3, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, info, inputs := bounded(t, widePower, map[string]rangeprop.Range{"x": {Lo: -c.ends, Hi: c.ends}})
			trial := NewTrial(context.Background(), m, info, inputs, Options{Work: 1e8, Runs: 12})
			if trial.Len() != 12 {
				t.Fatalf("%d inputs, want 12", trial.Len())
			}
			form, _, _ := bounded(t, c.text, nil)
			f, err := trial.Judge(context.Background(), form, 0.05)
			if err != nil {
				t.Fatal(err)
			}
			if (f != nil) != c.fault || f != nil && (f.Output != "y" || f.NotFinite == c.finite) {
				t.Errorf("fault %+v, want one: %t, finite: %t", f, c.fault, c.finite)
			}
		})
	}
}

// A trial that has used up its work says so and does not call the form right.
func TestTrialWork(t *testing.T) {
	m, info, inputs := bounded(t, widePower, map[string]rangeprop.Range{"x": {Lo: -2, Hi: 2}})
	trial := NewTrial(context.Background(), m, info, inputs, Options{Work: 4000, Runs: 12})
	if n := trial.Len(); n == 0 || n == 12 {
		t.Fatalf("%d inputs, want as many as a quarter of the work allows", n)
	}
	var err error
	for range 12 {
		if _, err = trial.Judge(context.Background(), m, 0.05); err != nil {
			return
		}
	}
	t.Error("the work allowed never ends")
}

// A trial keeps nothing of the forms of the model that it has judged.
func TestTrialForgets(t *testing.T) {
	m, info, inputs := bounded(t, widePower, map[string]rangeprop.Range{"x": {Lo: -2, Hi: 2}})
	trial := NewTrial(context.Background(), m, info, inputs, Options{Work: 1e9, Runs: 4})
	var kept []int
	for range 3 {
		form, _, _ := bounded(t, widePower, nil)
		if _, err := trial.Judge(context.Background(), form, 0.05); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, len(trial.dims))
	}
	if kept[0] == 0 || kept[2] != kept[0] {
		t.Errorf("%v values are kept after each form, want as many after the last as after the first", kept)
	}
}

// A size in the file decides what a run takes; a trial that nobody asked for does without it.
func TestTrialMemory(t *testing.T) {
	m, info, inputs := bounded(t, head+`m (float[2] x) => (float[2] y) <int64[1] n = {1500000000}> { c = ConstantOfShape(n) s = ReduceSum<keepdims = 0>(c) y = Add(x, s) }`,
		map[string]rangeprop.Range{"x": {Lo: -2, Hi: 2}})
	if n := NewTrial(context.Background(), m, info, inputs, Options{Work: 1e12, Runs: 12}).Len(); n != 0 {
		t.Errorf("%d inputs ran, want none: a constant takes 6 GB", n)
	}
}

// A trial that is taken up again judges as the first time, with the work that was left then.
func TestTrialAgain(t *testing.T) {
	m, info, inputs := bounded(t, widePower, map[string]rangeprop.Range{"x": {Lo: -200, Hi: 200}})
	form, _, _ := bounded(t, halfPower, nil)
	trial := NewTrial(context.Background(), m, info, inputs, Options{Work: 1 << 20, Runs: 12})
	first, err := trial.Again().Judge(context.Background(), form, 0.05)
	if err != nil || first == nil {
		t.Fatalf("fault %+v, error %v", first, err)
	}
	for range 40 {
		again := trial.Again()
		f, err := again.Judge(context.Background(), form, 0.05)
		if err != nil || f == nil || f.Error != first.Error || again.Len() != trial.Len() {
			t.Fatalf("fault %+v, error %v, want %+v", f, err, first)
		}
	}
}

// What a run takes at least is what one takes where all shapes are known, and nothing where none is.
func TestForeseen(t *testing.T) {
	for _, c := range []struct {
		text  string
		known bool
	}{
		{head + `m (float[2, 8] x, float[8, 4] w) => (float[2, 4] y) { a = MatMul(x, w) y = Relu(a) }`, true},
		{head + `m (float[1, 3, 6, 6] x, float[4, 3, 3, 3] w) => (float[1, 4, 4, 4] y) { a = Conv(x, w) y = Relu(a) }`, true},
		{head + `m (float[N, 8] x, float[8, 4] w) => (float[N, 4] y) { a = MatMul(x, w) y = Relu(a) }`, false},
		{`<ir_version: 9, opset_import: ["" : 18, "com.microsoft" : 1]>
m (float[5, 1, 8] x) => (float[5, 1, 1, 4] y)
<uint8[1, 8, 16] w = {` + strings.TrimSuffix(strings.Repeat("1, ", 128), ", ") + `}, uint8[1, 4, 16] r = {` + strings.TrimSuffix(strings.Repeat("1, ", 64), ", ") + `}, float[1] s = {0.1}, uint8[1] z = {1}>
{ y = com.microsoft.DynamicQuantizeLSTM<hidden_size = 4>(x, w, r, "", "", "", "", "", s, z, s, z) }`, true},
	} {
		m, info, inputs := bounded(t, c.text, map[string]rangeprop.Range{"x": {Lo: -1, Hi: 1}, "w": {Lo: -1, Hi: 1}})
		trial := NewTrial(context.Background(), m, info, inputs, Options{Work: 1 << 20, Runs: 1})
		if trial.Len() != 1 {
			t.Fatal("the model was not run")
		}
		want := trial.made
		if !c.known {
			want = 0
		}
		if got := settled(m); got != want {
			t.Errorf("%s: %d operations are foreseen, want %d", c.text, got, want)
		}
	}
}

// The work suffices for some runs of a model that is larger than it was meant for, up to a limit.
func TestLeastRuns(t *testing.T) {
	m, _, _ := bounded(t, head+`m (float[N, 64] x, float[64, 64] w) => (float[N, 64] y) { y = MatMul(x, w) }`, nil)
	run := int64(64 * (64 + perElement))
	for _, c := range []struct {
		opt  Options
		want int64
	}{
		{Options{Work: 100}, 100},
		{Options{Work: 100, Least: 3, Most: 10 * run}, 3 * run},
		{Options{Work: 100, Least: 30, Most: 10 * run}, 10 * run},
		{Options{Work: 1e9, Least: 30, Most: 10 * run}, 1e9},
		{Options{Work: 100, Least: 30, Most: 2 * run, Must: 3, Far: 5 * run}, 3 * run},
	} {
		if got := c.opt.work(m); got != c.want {
			t.Errorf("%+v: %d operations, want %d", c.opt, got, c.want)
		}
	}
}

// A model of which not even the runs that it takes to show anything may be made is not run at all.
func TestFits(t *testing.T) {
	m, info, inputs := bounded(t, head+`m (float[N, 64] x, float[64, 64] w) => (float[N, 64] y) { y = MatMul(x, w) }`, map[string]rangeprop.Range{"x": {Lo: -1, Hi: 1}, "w": {Lo: -1, Hi: 1}})
	run := int64(64 * (64 + perElement))
	for _, must := range []int{4, 40} {
		opt := Options{Work: 100, Must: must, Far: 10 * run, Runs: 4}
		fits := must == 4
		if opt.Fits(m) != fits {
			t.Errorf("%d runs fit: %t", must, !fits)
		}
		if n := NewTrial(context.Background(), m, info, inputs, opt).Len(); n > 0 != fits {
			t.Errorf("%d runs: %d inputs", must, n)
		}
	}
}

// A model that takes long to run is run on one input at a time.
func TestHeavy(t *testing.T) {
	for _, c := range []struct{ rows, first int }{{64, 2}, {8192, 1}} {
		m, info, inputs := bounded(t, fmt.Sprintf(head+`m (float[N, %d, 512] x, float[512, 2048] w) => (float[N, %[1]d, 2048] y) { y = MatMul(x, w) }`, c.rows),
			map[string]rangeprop.Range{"x": {Lo: -1, Hi: 1}, "w": {Lo: -1, Hi: 1}})
		for s, err := range spaces(m, info, inputs, false, nil) {
			if err != nil || s[0].dims[0] != c.first {
				t.Errorf("%d rows: %v, %v, want a length of %d", c.rows, s[0].dims, err, c.first)
			}
			break
		}
	}
}

// A model that magnifies what its inputs are off by is told from one that does not.
func TestSway(t *testing.T) {
	for _, c := range []struct {
		text   string
		lo, hi float64 // of the sway, in units
	}{
		{head + `m (float[2, 64] x) => (float[2, 64] y) { a = Add(x, x) y = Tanh(a) }`, 0.1, 2},
		{head + `m (float[2, 64] x) => (float[2, 64] y) <float k = {1000}> { a = Mul(x, k) y = Sin(a) }`, 100, 2000},
	} {
		m, info, inputs := bounded(t, c.text, map[string]rangeprop.Range{"x": {Lo: 0.1, Hi: 0.9}})
		trial := NewTrial(context.Background(), m, info, inputs, Options{Work: 1e8, Runs: 3})
		sway := trial.Sway(context.Background(), m, numfmt.FP16) / numfmt.FP16.Unit()
		if sway < c.lo || sway > c.hi {
			t.Errorf("%s: outputs move by %g units, want %g to %g", c.text, sway, c.lo, c.hi)
		}
	}
}

// A recurrent layer of 8 bits takes as many operations as one of floats.
func TestForeseenRecurrent(t *testing.T) {
	ones := func(n int) string { return strings.TrimSuffix(strings.Repeat("1, ", n), ", ") }
	text := `<ir_version: 9, opset_import: ["" : 18, "com.microsoft" : 1]>
m (float[5, 1, 8] x) => (float[5, 1, 1, 4] y) <%s> { y = %s }`
	var work []int64
	for _, c := range [][2]string{
		{"float[1, 16, 8] w = {" + ones(128) + "}, float[1, 16, 4] r = {" + ones(64) + "}", "LSTM<hidden_size = 4>(x, w, r)"},
		{"uint8[1, 8, 16] w = {" + ones(128) + "}, uint8[1, 4, 16] r = {" + ones(64) + "}, float[1] s = {0.1}, uint8[1] z = {1}",
			`com.microsoft.DynamicQuantizeLSTM<hidden_size = 4>(x, w, r, "", "", "", "", "", s, z, s, z)`},
	} {
		m, _, _ := bounded(t, fmt.Sprintf(text, c[0], c[1]), map[string]rangeprop.Range{"x": {Lo: -1, Hi: 1}})
		work = append(work, settled(m))
	}
	if work[0] != work[1] || work[0] == 0 {
		t.Errorf("%d operations are foreseen", work)
	}
}

// Inputs have the lengths that operators demand, none has more elements than a trial keeps, and lengths that the work
// does not suffice for are left out.
func TestLengths(t *testing.T) {
	given := map[string]rangeprop.Range{"x": {Lo: -1, Hi: 1}, "k": {Lo: -1, Hi: 1}}
	first := func(text string) []int {
		m, info, inputs := bounded(t, text, given)
		for s, err := range spaces(m, info, inputs, false, nil) {
			if err == nil {
				return s[0].dims
			}
		}
		return nil
	}
	if dims := first(head + `m (float[N, F, C] x, float[80, 3] k) => (float[N, F, C] y) { y = Mul(x, k) }`); !slices.Equal(dims, []int{2, 80, 3}) {
		t.Errorf("lengths of %v beside a shape of [80 3]", dims)
	}
	m, info, inputs := bounded(t, head+`m (float[A, B, C] x) => (float[A, B, C] y) { y = Relu(x) }`, given)
	n := 0
	for s, err := range spaces(m, info, inputs, false, nil) {
		if n++; err == nil && size(s[0].dims) > maxKept {
			t.Errorf("an input of %v", s[0].dims)
		}
	}
	if n != len(attempts) {
		t.Errorf("%d attempts, want each of %d once", n, len(attempts))
	}
	m, info, inputs = bounded(t, head+`m (float[1, N, 64] x, float[64, 64] w) => (float[1, N, 64] y) { y = MatMul(x, w) }`, map[string]rangeprop.Range{"x": {Lo: -1, Hi: 1}, "w": {Lo: -1, Hi: 1}})
	run := int64(64 * (64 + perElement))
	trial := NewTrial(context.Background(), m, info, inputs, Options{Work: 100, Must: 6, Far: 60 * run, Runs: 4})
	if trial.Len() == 0 || trial.cases[0].in["x"].Tensor.Dims[1] != 8 {
		t.Errorf("%d inputs where a length of 8 is all that the work suffices for", trial.Len())
	}
}
