package analyze

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/amplint/amplint/config"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/rules"
	"github.com/amplint/amplint/samples"
)

// probed holds a product that no bound decides: the row is centred, so its elements depend on one
// another.
const probed = `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[-400,400]"]>
m (float[2, 16] x) => (float[2, 16] y)
<int64[1] last = {-1}, float small = {0.0001}>
{
  m = ReduceMean(x, last)
  d = Sub(x, m)
  q = Mul(d, d)
  y = Mul(q, small)
}`

func TestProbe(t *testing.T) {
	path := written(t, probed)
	for effort, want := range map[string]rules.Evidence{"off": rules.Unproved, "quick": rules.Witness} {
		r, err := Check(context.Background(), path, Options{Target: FP16, Effort: effort})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) != 1 || r.Findings[0].Evidence != want {
			t.Errorf("%s: %d findings, want one with evidence %s: %+v", effort, len(r.Findings), want, r.Findings)
		}
	}
}

// interrupted is a context that ends once it was asked a number of times.
type interrupted struct {
	context.Context
	left *int
}

func (i interrupted) Err() error {
	if *i.left--; *i.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterrupted interrupts a check and a fix at every place that asks: none reports half of what
// it would have found, and nothing is written.
func TestInterrupted(t *testing.T) {
	path, out := written(t, probed), filepath.Join(t.TempDir(), "o.onnxtxt")
	opt := Options{Target: FP16, Effort: "off"}
	for after := range 5 { // load asks at four nodes, then what calls it
		left := after
		if _, err := Check(interrupted{context.Background(), &left}, path, opt); !errors.Is(err, context.Canceled) {
			t.Errorf("check after %d: %v", after, err)
		}
		left = after
		if _, err := Fix(interrupted{context.Background(), &left}, path, FixOptions{Options: opt, Out: out}); !errors.Is(err, context.Canceled) {
			t.Errorf("fix after %d: %v", after, err)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("an interrupted fix wrote")
	}
}

// unforeseen divides by a difference that FP16 rounds to zero.
const unforeseen = `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[2.1,2.4]"]>
m (float[2, 16] x) => (float[2, 16] y)
<float fine = {0.0001}>
{
  a = Add(x, fine)
  d = Sub(a, x)
  y = Div(x, d)
}`

func TestUnexplained(t *testing.T) {
	path := written(t, unforeseen)
	off := &config.Config{Rules: map[string]string{}}
	for _, r := range rules.All() {
		if r.Name != "value-overflow" {
			off.Rules[r.Name] = "off"
		}
	}
	r, err := Check(context.Background(), path, Options{Target: FP16, Effort: "quick", Config: off})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 {
		t.Fatalf("%d findings, want the one that a run shows: %+v", len(r.Findings), r.Findings)
	}
	f := r.Findings[0]
	if f.Value.Name != "y" || f.Severity != rules.Error || f.Evidence != rules.Witness || f.Input == nil {
		t.Errorf("%s of %s, %s, evidence %s, input %v", f.Rule, f.Value.Name, f.Severity, f.Evidence, f.Input)
	}
}

// TestSampleTypes: samples are run in the types that the model declares, and those that are not of their kind
// are left out.
func TestSampleTypes(t *testing.T) {
	m, err := onnxtxt.Parse("types", []byte(`<ir_version: 8, opset_import: ["" : 17]>
m (float16[2] h, float[2] s, double[2] d, int64[2] i, int32[2] j, bool[2] b, float[2] k) => (float[2] y) { y = Neg(s) }`))
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]*samples.Value{}
	for name, x := range map[string]*graph.Tensor{
		"h": graph.FloatTensor("", []int64{2}, 0.1, 70000),
		"s": graph.FloatTensor("", []int64{2}, 0.1, 2).Converted(graph.Double, false),
		"d": graph.FloatTensor("", []int64{2}, 0.5, 2), // what it rounds to before is not known
		"i": graph.FloatTensor("", []int64{2}, 1, 2),
		"j": graph.IntTensor("", []int64{2}, -3, 4),
		"b": graph.IntTensor("", []int64{2}, 0, 1),
		"k": graph.IntTensor("", []int64{2}, 5, 6),
	} {
		given[name] = samples.TensorValue(x)
	}
	feed := (&inputs{given: []*samples.Sample{{Inputs: given}}}).feeds(m)[0]
	for name, want := range map[string]string{"h": "float16[2] [0.099975586 +Inf]", "s": "float[2] [0.1 2]", "j": "int32[2] [-3 4]", "b": "bool[2] [0 1]"} {
		got := "nothing"
		if v := feed[name]; v != nil {
			got = v.Tensor.String() + fmt.Sprint(" ", v.Tensor.F)
			if v.Tensor.F == nil {
				got = v.Tensor.String() + fmt.Sprint(" ", v.Tensor.I)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"d", "i", "k"} {
		if feed[name] != nil {
			t.Errorf("%s is run as %v", name, feed[name].Tensor)
		}
	}
}
