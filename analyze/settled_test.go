package analyze

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
)

// TestSettled plans a mixed model anew where that leaves markedly fewer nodes in FP32 and runs show nothing wrong,
// at any effort; a few of many stay where they are.
func TestSettled(t *testing.T) {
	for _, c := range []struct {
		wide   int
		effort string
		want   bool
	}{{8, "quick", true}, {8, "off", true}, {2, "quick", false}} {
		text := `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-2,2]"]>
m (float16[2, 8] x) => (float16[2, 8] y) {
  v0 = Identity(x)
`
		for i := range 30 {
			text += fmt.Sprintf("  v%d = Sin(v%d)\n", i+1, i)
		}
		text += "  w0 = Cast<to = 1>(v30)\n"
		for i := range c.wide {
			text += fmt.Sprintf("  w%d = Sin(w%d)\n", i+1, i)
		}
		text += fmt.Sprintf("  u = Cast<to = 10>(w%d)\n  y = Sin(u)\n}", c.wide)
		opt := FixOptions{Options: Options{Target: FP16, Effort: c.effort}, Out: filepath.Join(t.TempDir(), "o.onnxtxt")}
		f, err := Fix(context.Background(), written(t, text), opt)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Summary.Changed && f.Summary.FP32 == 0; got != c.want {
			t.Errorf("%d nodes in FP32, effort %s: %+v", c.wide, c.effort, f.Summary)
		}
	}
}
