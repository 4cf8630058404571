package rules

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/rewrite"
)

// TestFoldedMask: a causal mask that the model computes from constants is found where it is computed, and not
// once more where it is added to the scores.
func TestFoldedMask(t *testing.T) {
	for _, mask := range []string{"mask = Where(seen, zero, low)", "mask = Where(seen, zero, low) near = Greater(row, one) band = Where(near, low, zero) both = Add(mask, band)"} {
		sum := "mask"
		if strings.Contains(mask, "both") {
			sum = "both"
		}
		in := prepareText(t, `<ir_version: 9, opset_import: ["" : 17], metadata_props: ["amplint.range.s": "[-64,64]"]>
m (float[1, 2, 8, 8] s) => (float[1, 2, 8, 8] p)
<int64 one = {7}, int64 from = {0}, int64 to = {8}, int64 by = {1}, int64[1] second = {1}, float zero = {0}, float low = {-3.4028235e38}>
{
  place = Range(from, to, by)
  row = Unsqueeze(place, second)
  seen = LessOrEqual(place, row)
  `+mask+`
  a = Add(s, `+sum+`)
  p = Softmax<axis = -1>(a)
}`)
		if diff := cmp.Diff([]string{"mask-constant note mask"}, places(Run(in))); diff != "" {
			t.Errorf("%s: findings (-want +got):\n%s", mask, diff)
		}
	}
}

// TestNativeMask: a mask that may close a row of a native Attention is held in FP32, for the scores that are
// added to it inside would show beside a clamped one; one that cannot is clamped.
func TestNativeMask(t *testing.T) {
	for mask, want := range map[string]string{"open": "widen", "tri": "clamp"} {
		in := prepareText(t, `<ir_version: 10, opset_import: ["" : 23], metadata_props: ["amplint.range.q": "[-4,4]", "amplint.range.k": "[-4,4]", "amplint.range.v": "[-4,4]", "amplint.range.open": "[0,1]"]>
m (float[1, 2, 2, 4] q, float[1, 2, 2, 4] k, float[1, 2, 2, 4] v, bool[1, 1, 2, 2] open) => (float[1, 2, 2, 4] y)
<float zero = {0}, float low = {-3.4028235e38}, bool[1, 1, 2, 2] tri = {1, 0, 1, 1}>
{
  bias = Where(`+mask+`, zero, low)
  y = Attention(q, k, v, bias)
}`)
		var got []string
		for _, f := range Run(in) {
			if f.Rule == maskConstant.Name {
				for _, e := range f.Edits {
					switch e.(type) {
					case rewrite.Widen:
						got = append(got, "widen")
					case rewrite.Clamp:
						got = append(got, "clamp")
					}
				}
			}
		}
		if len(got) == 0 || strings.Join(got, " ") != strings.TrimSpace(strings.Repeat(want+" ", len(got))) {
			t.Errorf("mask %s: edits %v, want %s", mask, got, want)
		}
	}
}

// TestAttentionRows grades what a native Attention makes of a mask that is -Inf in the format: nothing where every row
// keeps an open place; of rows that are closed kernels make what they like where the number was the lowest of FP32,
// and something else than before where it was another.
func TestAttentionRows(t *testing.T) {
	for _, c := range []struct{ mask, low, want string }{
		{"tri", "-3.4028235e38", "mask-constant note bias"},
		{"tri", "-1e9", "mask-constant note bias"},
		{"closed", "-3.4028235e38", "mask-constant warning bias"},
		{"closed", "-1e9", "mask-constant error bias"},
		{"open", "-3.4028235e38", "mask-constant warning bias"},
		{"open", "-1e9", "mask-constant error bias"},
	} {
		in := prepareText(t, `<ir_version: 10, opset_import: ["" : 23], metadata_props: ["amplint.range.q": "[-4,4]", "amplint.range.k": "[-4,4]", "amplint.range.v": "[-4,4]", "amplint.range.open": "[0,1]"]>
m (float[1, 2, 2, 4] q, float[1, 2, 2, 4] k, float[1, 2, 2, 4] v, bool[1, 1, 2, 2] open) => (float[1, 2, 2, 4] y)
<float zero = {0}, float low = {`+c.low+`}, bool[1, 1, 2, 2] tri = {1, 0, 1, 1}, bool[1, 1, 2, 2] closed = {1, 0, 0, 0}>
{
  bias = Where(`+c.mask+`, zero, low)
  y = Attention(q, k, v, bias)
}`)
		if diff := cmp.Diff([]string{c.want}, places(Run(in))); diff != "" {
			t.Errorf("%s, %s: findings (-want +got):\n%s", c.mask, c.low, diff)
		}
	}
}

// TestLostFloors: a floor of 0 below a logarithm was lost though what it bounds may be negative, and a mask of +Inf that
// is multiplied by numbers up to 0 is clamped like one of -Inf.
func TestLostFloors(t *testing.T) {
	for body, want := range map[string]string{
		"c = Clip(x, zero) y = Log(c)":                                 "constants-lost error c",
		"c = Max(x, zero) y = Log(c)":                                  "constants-lost error c",
		"c = Max(x, zero) y = Mul(c, c)":                               "",
		"d = Sub(k, one) m = Mul(d, inf) s = Add(x, m) y = Softmax(s)": "constants-lost error m",
		"m = Add(x, inf) y = Sub(m, k)":                                "constants-lost error m",
	} {
		in := prepareText(t, `<ir_version: 9, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-1,1]", "amplint.range.almost": "[0,0.9999]", "amplint.range.k": "[0,1]"]>
m (float16[2, 8] x, float16[2, 8] k) => (float16[2, 8] y) <float16 zero = {0}, float16 one = {15360}, float16 inf = {31744}> { `+body+` }`)
		found := Run(in)
		if got := strings.Join(places(found), "; "); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
		for _, f := range found {
			if len(f.Edits) == 0 && f.Node.Op != "Add" {
				t.Errorf("%s: nothing puts it right", body)
			}
		}
	}
}

// TestLostParts: a constant that fills a part of a row only does no harm to its maximum, a factor that is lost is missed
// where what it made is scaled up again, and a variance that is never above its own noise is lost although it is cut at 0.
func TestLostParts(t *testing.T) {
	for body, want := range map[string]string{
		"c = Concat<axis = 1>(x, first) y = ReduceMax<axes = [1]>(c)": "constant-overflow note y",
		"s = ScatterElements<axis = 1>(x, at, first) y = Softmax(s)":  "constant-overflow note s",
		"a = Mul(x, tiny) y = Mul(a, large)":                          "constant-underflow error a",
		"a = Mul(x, tiny) y = Identity(a)":                            "constant-underflow error a",
		"q = Mul(k, k) s = ReduceMean<axes = [1]>(q) m = ReduceMean<axes = [1]>(k) p = Mul(m, m) d = Sub(s, p) r = Relu(d) y = Sqrt(r)":          "cancellation error d",
		"q = Mul(wide, wide) s = ReduceMean<axes = [1]>(q) m = ReduceMean<axes = [1]>(wide) p = Mul(m, m) d = Sub(s, p) r = Relu(d) y = Sqrt(r)": "cancellation note d",
	} {
		in := prepareText(t, `<ir_version: 9, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-1,1]", "amplint.range.k": "[29.5,30.5]", "amplint.range.wide": "[0,30]"]>
m (float[2, 8] x, float[2, 8] k, float[2, 8] wide) => (y) <float[2, 1] first = {-1e9, -1e9}, int64[2, 1] at = {0, 0}, float tiny = {1e-8}, float large = {60000}> { `+body+` }`)
		if got := strings.Join(places(Run(in)), "; "); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestHeldEnds: an input of 16 bits comes no nearer to 1 than the last of its numbers inside its range.
func TestHeldEnds(t *testing.T) {
	for most, want := range map[string]string{"0.9999": "", "1": "near-one error d"} {
		in := prepareText(t, `<ir_version: 9, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[0,`+most+`]"]>
m (float16[2, 8] x) => (y) <float16 one = {15360}> { q = Mul(x, x) d = Sub(one, q) r = Sqrt(d) y = Reciprocal(r) }`)
		if got := strings.Join(places(Run(in)), "; "); got != want {
			t.Errorf("up to %s: %q, want %q", most, got, want)
		}
	}
}

// TestComputedMask: a mask that is computed where the model runs, of constants alone, is found where it overflows, and
// not again where it is added.
func TestComputedMask(t *testing.T) {
	in := prepareText(t, `<ir_version: 9, opset_import: ["" : 17], metadata_props: ["amplint.range.s": "[-12,12]"]>
m (float[1, 2, 8, 8] s) => (float[1, 2, 8, 8] p) <int64[2] dims = {8, 8}, int64 one = {1}, float low = {-3.4028235e38}>
{ f = Expand(low, dims) mask = Trilu<upper = 1>(f, one) a = Add(s, mask) p = Softmax(a) }`)
	if diff := cmp.Diff([]string{"mask-constant note mask"}, places(Run(in))); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
