package refeval

import (
	"context"
	"fmt"
	"testing"
)

// weightsText multiplies by matrices: by one that nothing else reads, by its like transposed, and
// by one that is read in both ways and not as a matrix besides.
const weightsText = `<ir_version: 9, opset_import: ["" : 19]>
m (float[2, 3] x%s) => (float[2, 3] y)%s
{
  a = MatMul(x, u)
  b = Gemm<transB = 1>(a, v)
  c = MatMul(b, w)
  d = Gemm<transB = 1>(c, w)
  e = Gemm<transA = 1>(d, d)
  f = Add(e, w)
  y = MatMul(d, f)
}`

const (
	weightsAsInputs    = ", float[3, 3] u, float[3, 3] v, float[3, 3] w"
	weightsAsConstants = ` <float[3, 3] u = {1, 2, 3, 4, 5, 6, 7, 8, 10}, float[3, 3] v = {-1, 0.5, 0.25, 3, 1, 0, 2, -2, 1}, float[3, 3] w = {0.5, 1, 0, 0, -1, 2, 1, 1, 0.125}>`
)

func TestConstantMatrices(t *testing.T) {
	dims := []int{3, 3}
	in := map[string]*Value{
		"x": TensorValue(FloatTensor([]int{2, 3}, 1, -2, 0.5, 3, 0, 1)),
		"u": TensorValue(FloatTensor(dims, 1, 2, 3, 4, 5, 6, 7, 8, 10)),
		"v": TensorValue(FloatTensor(dims, -1, 0.5, 0.25, 3, 1, 0, 2, -2, 1)),
		"w": TensorValue(FloatTensor(dims, 0.5, 1, 0, 0, -1, 2, 1, 1, 0.125)),
	}
	constants, got := runText(t, fmt.Sprintf(weightsText, "", weightsAsConstants), in)
	_, want := runText(t, fmt.Sprintf(weightsText, weightsAsInputs, ""), in)
	if !got.EqualBits(want) {
		t.Errorf("%v with constants, %v with inputs", got.F, want.F)
	}
	for i, kept := range []bool{false, false, true, true} {
		c := constants.main.steps[i].in[1].con.Tensor
		if (c.F != nil) != kept || c.weights == nil {
			t.Errorf("node %d: elements kept %t, laid out %t", i, c.F != nil, c.weights != nil)
		}
	}
}

func runText(t *testing.T, text string, in map[string]*Value) (*Runner, *Tensor) {
	t.Helper()
	r, err := New(parse(t, text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return r, out["y"].Tensor
}
