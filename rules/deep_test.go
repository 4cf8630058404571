package rules

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
)

// deep returns a chain of 1×1 convolutions of random weights with a normalisation over the channels
// behind it. Its numbers stay small, its bounds do not: nothing between the layers brings them back.
func deep(layers int, weight float64) string {
	return deepBefore(layers, weight, "mean = ReduceMean(%[1]s, axis) d = Sub(%[1]s, mean) q = Mul(d, d) v = ReduceMean(q, axis) e = Add(v, eps) s = Sqrt(e) y = Div(d, s)")
}

// deepBefore is deep with something else behind the convolutions.
func deepBefore(layers int, weight float64, end string) string {
	r := rand.New(rand.NewSource(1))
	var constants, body []string
	for i := range layers {
		w := make([]string, 16*16)
		for k := range w {
			w[k] = fmt.Sprintf("%.3f", weight*(2*r.Float64()-1))
		}
		constants = append(constants, fmt.Sprintf("float[16, 16, 1, 1] w%d = {%s}", i, strings.Join(w, ", ")))
		body = append(body, fmt.Sprintf("c%d = Conv(r%d, w%d) r%d = Relu(c%d)", i, i, i, i+1, i))
	}
	return fmt.Sprintf(`<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.r0": "[-1,1]"]>
m (float[1, 16, 4, 4] r0) => (y)
<%s, int64[1] axis = {1}, float eps = {0.00001}>
{ %s %s }`,
		strings.Join(constants, ", "), strings.Join(body, " "), fmt.Sprintf(end, fmt.Sprintf("r%d", layers)))
}

// TestDeepNorm: a square behind layers that let bounds grow is no warning by its bound alone, but one
// where its numbers are expected to be large as well.
func TestDeepNorm(t *testing.T) {
	for _, c := range []struct {
		layers int
		weight float64
		want   bool
	}{{24, 0.55, false}, {8, 2.5, true}} {
		var squares []string
		for _, line := range summary(Run(prepareText(t, deep(c.layers, c.weight)))) {
			if strings.Contains(line, "sum-of-squares") {
				squares = append(squares, line)
			}
		}
		if diff := cmp.Diff(c.want, len(squares) > 0); diff != "" {
			t.Errorf("weights of %g: %v (-want +got):\n%s", c.weight, squares, diff)
		}
	}
}

// TestDeepAngle: the sine of an activation, as in vocoders, is no warning where only the bound of what
// it is taken of is large.
func TestDeepAngle(t *testing.T) {
	for _, c := range []struct {
		layers int
		weight float64
		want   bool
	}{{6, 0.55, false}, {3, 2.5, true}} {
		loud := false
		for _, f := range Run(prepareText(t, deepBefore(c.layers, c.weight, "y = Sin(%s)"))) {
			loud = loud || f.Rule == rotaryAngle.Name && f.Severity > Note
		}
		if loud != c.want {
			t.Errorf("weights of %g: a warning: %v, want %v", c.weight, loud, c.want)
		}
	}
}

// TestDeepGrowth: among layers that let numbers grow, and bounds faster, the one at which the numbers are expected to
// pass the limit is a warning, and no other, and the one where they come near it a note; layers whose bounds alone grow are none. Weights of 2.5 let the
// standard deviation grow four times with each layer, from 1.9 on.
func TestDeepGrowth(t *testing.T) {
	for _, c := range []struct {
		layers int
		weight float64
		want   []string
		near   string // the notes on what is expected near the limit
	}{{24, 0.55, nil, ""}, {12, 2.5, []string{"c6"}, "c4 c5"}} {
		var loud, near []string
		for _, f := range Run(prepareText(t, deepBefore(c.layers, c.weight, "y = Tanh(%s)"))) {
			if f.Evidence == Near {
				for _, at := range f.Places() {
					near = append(near, at.Value.Name)
				}
			}
			if f.Severity > Note {
				loud = append(loud, f.Value.Name)
				if !strings.Contains(f.Message, "is expected to reach") || !strings.Contains(f.Reason, "expected up to") || len(f.Edits) == 0 {
					t.Errorf("%s: %q, %q, %d edits", f.Value.Name, f.Message, f.Reason, len(f.Edits))
				}
			}
		}
		if diff := cmp.Diff(c.want, loud); diff != "" {
			t.Errorf("weights of %g (-want +got):\n%s", c.weight, diff)
		}
		if got := strings.Join(near, " "); got != c.near {
			t.Errorf("weights of %g: near the limit are %q, want %q", c.weight, got, c.near)
		}
	}
}

// TestDeepRuns: where there were runs, the layer at which numbers are expected to pass the limit is a warning only if a
// run took it near there.
func TestDeepRuns(t *testing.T) {
	for _, c := range []struct {
		close float64
		want  bool
	}{{40000, true}, {20000, false}} {
		in := prepareText(t, deepBefore(12, 2.5, "y = Tanh(%s)"))
		in.Seen = func(*graph.Value) (Sighting, bool) { return Sighting{}, false }
		in.Close = func(*graph.Value) float64 { return c.close }
		loud := false
		for _, f := range Run(in) {
			loud = loud || f.Severity > Note && f.Value.Name == "c6"
		}
		if loud != c.want {
			t.Errorf("a run took it to %g, a warning: %t", c.close, loud)
		}
	}
}

// TestDeepRegion: what is expected to pass the limit is held in FP32 however far it goes, and what only bounds speak
// against, not where it is expected far below.
func TestDeepRegion(t *testing.T) {
	for _, layers := range []int{12, 50} {
		held := map[string]bool{}
		for _, f := range Run(prepareText(t, deepBefore(layers, 2.5, "s = Mul(%s, eps) y = Tanh(s)"))) {
			if f.Severity > Note {
				for _, e := range f.Edits {
					held[e.(rewrite.Widen).Value.Name] = true
				}
			}
		}
		if last := fmt.Sprintf("r%d", layers); !held[last] {
			t.Errorf("%d layers: %s is not held, only %d values", layers, last, len(held))
		}
		if layers == 12 && held["s"] {
			t.Error("s is held, which is expected far below the limit")
		}
	}
}
