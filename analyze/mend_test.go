package analyze

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amplint/amplint/config"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules"
)

// TestMend fixes a model in which two values overflow, one behind the other, and no rule may say so: runs of
// the result come upon them in turn.
func TestMend(t *testing.T) {
	off := &config.Config{Rules: map[string]string{}}
	for _, r := range rules.All() {
		off.Rules[r.Name] = "off"
	}
	path := written(t, `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[1,300]"]>
m (float[2, 4] x) => (float[2, 4] y)
<float small = {0.001}, float k = {400}>
{ t = Neg(x) a = Mul(t, t) b = Mul(a, small) c = Mul(b, k) d = Mul(c, k) e = Mul(d, small) f = Tanh(b) ["last"] y = Sub(e, f) }`)
	opt := FixOptions{Options: Options{Target: FP16, Effort: "quick", Config: off}, Out: filepath.Join(t.TempDir(), "o.onnxtxt")}
	f, err := Fix(context.Background(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	note := strings.Join(f.Summary.Notes, " ")
	if f.Refused != "" || !strings.Contains(note, `"a"`) || !strings.Contains(note, `"d"`) || strings.Contains(note, `"f"`) {
		t.Errorf("refused %q, notes %q: want a and d held in FP32", f.Refused, note)
	}
}

// TestWhere names the place at which a run broke last.
func TestWhere(t *testing.T) {
	m, err := onnxtxt.Parse("case", []byte(`<ir_version: 8, opset_import: ["" : 17]> m (float x) => (float y) { ["last"] y = Exp(x) }`))
	if err != nil {
		t.Fatal(err)
	}
	p := &proof{model: m}
	if !strings.Contains(p.where(), "amplint trace") {
		t.Errorf("%q names no way to find the place", p.where())
	}
	p.breaks = append(p.breaks, m.Graph.Lookup("y"))
	if !strings.Contains(p.where(), `"y" (Exp at node "last")`) {
		t.Errorf("%q does not name the node", p.where())
	}
}

// TestSways says of a model that magnifies any rounding that it does, and nothing of another.
func TestSways(t *testing.T) {
	for _, c := range []struct {
		body string
		want bool
	}{{"a = Mul(x, k) y = Sin(a)", true}, {"a = Mul(x, k) y = Sqrt(a)", false}} {
		path := written(t, `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[1,3]"]>
m (float[2, 64] x) => (float[2, 64] y) <float k = {1000}> { `+c.body+` }`)
		opt := Options{Effort: "quick"}
		a, err := load(context.Background(), path, &opt, true)
		if err != nil {
			t.Fatal(err)
		}
		defer a.model.Close()
		p := &proof{plan: &rewrite.Plan{Target: numfmt.FP16}, model: a.model, trial: a.newTrial(context.Background(), trials["quick"])}
		if got := p.sways(context.Background()); (got != "") != c.want || c.want && !strings.Contains(got, "magnifies any rounding") {
			t.Errorf("%s: %q", c.body, got)
		}
	}
}
