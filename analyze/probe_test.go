package analyze

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/amplint/amplint/rules"
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
	path := filepath.Join(t.TempDir(), "m.onnxtxt")
	if err := os.WriteFile(path, []byte(probed), 0o666); err != nil {
		t.Fatal(err)
	}
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
