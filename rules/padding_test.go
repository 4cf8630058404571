package rules

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// paddedModel is self-attention as torch's exporter spells it, with the mask as an input beside the
// token ids.
const paddedModel = `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.mask": "[%s]", "amplint.range.ids": "[0,9]"]>
m (int64[%s] ids, int64[%s] mask) => (out)
<float[10, 4] table = {0.1, 0.3, -1, 0.4, 0.2, 1, -0.5, 0.3, 0.7, -0.2, 0.3, 0.1, 0.9, -0.4, 0.1, 0.2, 0.3, -0.8, 0.4, 0.1, 0.3, -1, 0.4, 0.2, 1, -0.5, 0.3, 0.7, -0.2, 0.3, 0.1, 0.9, -0.4, 0.1, 0.2, 0.3, -0.8, 0.4, 0.5, 0.1},
 float zero = {0}, float low = {-3.4028235e38}, int64[1] a1 = {1}, int64[1] a2 = {2}>
{
  h = Gather(table, ids)
  t = Transpose<perm = [0, 2, 1]>(h)
  s = MatMul(h, t)
  bits = Cast<to = 9>(mask)
  key = Unsqueeze(bits, a1)
  query = Unsqueeze(bits, a2)
  %s
  c = Add(s, w)
  p = Softmax<axis = -1>(c)
  out = MatMul(p, h)
}`

// TestPaddingMasks looks at what the padding of a sequence closes: keys leave every row a place
// unless the sequence is empty; queries close a row of their own, and a mask that hides nothing
// closes none.
func TestPaddingMasks(t *testing.T) {
	keys, both := "w = Where(key, zero, low)", "k = And(key, query) w = Where(k, zero, low)"
	for _, c := range []struct{ name, r, ids, mask, body, want string }{
		{"keys", "0,1", "2, 6", "2, 6", keys, "warning likely  mask-constant low"},
		{"keys, sizes of other names", "0,1", "ids_axis_0, ids_axis_1", "mask_axis_0, mask_axis_1", keys, "warning likely  mask-constant low"},
		{"keys and queries", "0,1", "2, 6", "2, 6", both, "error constant visible mask-constant low"},
		{"keys and queries, open sizes", "0,1", "N, S", "N, S", both, "error constant visible mask-constant low"},
		{"nothing is hidden", "1,1", "N, S", "N, S", both, "note constant absorbed mask-constant low"},
		{"keys by their indices", "0,1", "2, 6", "2, 6", "i = Constant<value = int64[2, 1, 6, 2] {0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 1, 0, 1, 1, 1, 2, 1, 3, 1, 4, 1, 5}>() k = GatherND(bits, i) w = Where(k, zero, low)", "warning likely  mask-constant low"},
		{"another length", "0,1", "2, 6", "2, 1", keys, "error constant visible mask-constant low"},
	} {
		if diff := cmp.Diff([]string{c.want}, summary(Run(prepareText(t, fmt.Sprintf(paddedModel, c.r, c.ids, c.mask, c.body))))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestSplitMask: a mask that is the second half of what was split, of which the first half is left out.
func TestSplitMask(t *testing.T) {
	const model = `<ir_version: 8, opset_import: ["" : 18], metadata_props: ["amplint.range.mask": "[0,1]", "amplint.range.x": "[-2,2]"]>
m (float[2, 6, 6] x, int64[2, 6, 12] mask) => (out) <float zero = {0}, float low = {-3.4028235e38}>
{ b = Cast<to = 9>(mask) "", h = Split<axis = 2, num_outputs = 2>(b) w = Where(h, zero, low) c = Add(x, w) out = Softmax<axis = -1>(c) }`
	want := []string{"error constant visible mask-constant low"}
	if diff := cmp.Diff(want, summary(Run(prepareText(t, model)))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
