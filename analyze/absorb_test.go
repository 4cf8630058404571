package analyze

import (
	"fmt"
	"testing"

	"github.com/amplint/amplint/rules"
)

// TestAbsorbed lets runs tell what a lost epsilon does where reasoning cannot: the reciprocals are read by
// a minimum beside others.
func TestAbsorbed(t *testing.T) {
	const model = `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[0,1]"]>
m (float[4, 8] x) => (y)
<float eps = {1e-8}, float[4, 1] most = {5, 6, 7, 8}>
{ a = Add(x, eps) b = Reciprocal(a) c = Concat<axis = 1>(b, most) y = %s }`
	for body, want := range map[string]rules.Severity{
		"ReduceMin<axes = [1]>(c)": rules.Note,
		"ReduceMax<axes = [1]>(c)": rules.Error,
	} {
		found := false
		for _, f := range checked(t, fmt.Sprintf(model, body)).Findings {
			if f.Rule == "tiny-epsilon" {
				found = true
				if f.Severity != want || (want == rules.Note) != (f.Consequence == rules.Absorbed) {
					t.Errorf("%s: %s %q, want %s", body, f.Severity, f.Consequence, want)
				}
			}
		}
		if !found {
			t.Errorf("%s: nothing is said of the epsilon", body)
		}
	}
}
