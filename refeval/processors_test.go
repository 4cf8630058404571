package refeval

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval/kern"
)

// processorModels touch the kernels that have more than one form. Their dimensions are no multiples
// of what a register holds, and large enough for several threads.
var processorModels = []struct {
	text string
	in   map[string]*Value
}{
	{`<ir_version: 9, opset_import: ["" : 19]>
layer (float[3, 70, 45] x, float[45, 70] w, float[70, 45] v, float[45] s, float[45] b) => (float[3, 70, 45] y, float[3, 70, 1] m)
{
  n = LayerNormalization<axis = -1>(x, s, b)
  q = MatMul(n, w)
  t = Transpose<perm = [0, 2, 1]>(q)
  p = MatMul(q, t)
  a = Softmax<axis = -1>(p)
  o = MatMul(a, q)
  e = Erf(o)
  h = Tanh(e)
  g = Sigmoid(h)
  i = Mul(g, o)
  j = MatMul(i, v)
  r = Add(j, x)
  k = Exp(r)
  m = ReduceMean<axes = [-1]>(k)
  y = Div(k, m)
}`, map[string]*Value{"x": ramp(3, 70, 45), "w": ramp(45, 70), "v": ramp(70, 45), "s": ramp(45), "b": ramp(45)}},
	{`<ir_version: 9, opset_import: ["" : 19]>
image (float[1, 6, 41, 39] x, float[9, 6, 3, 3] w, float[9, 1, 3, 3] d, float[13, 9, 1, 1] p, float[13, 4, 2, 2] u, float[9] b, float[4] c) => (float[1, 4, 42, N] y, float[1, 13, 1, 1] g)
{
  a = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(x, w, b)
  e = Relu(a)
  f = Conv<pads = [1, 1, 1, 1], group = 9>(e, d)
  h = HardSigmoid(f)
  i = Mul(h, f)
  k = Conv(i, p)
  g = GlobalAveragePool(k)
  l = Mul(k, g)
  y = ConvTranspose<strides = [2, 2]>(l, u, c)
}`, map[string]*Value{"x": ramp(1, 6, 41, 39), "w": ramp(9, 6, 3, 3), "d": ramp(9, 1, 3, 3), "p": ramp(13, 9, 1, 1), "u": ramp(13, 4, 2, 2), "b": ramp(9), "c": ramp(4)}},
}

// TestProcessorsAgree runs itself on each instruction set and compares what comes out, bit by bit.
func TestProcessorsAgree(t *testing.T) {
	if os.Getenv("AMPLINT_DIGEST") != "" {
		fmt.Println(digest(t))
		return
	}
	want := digest(t)
	for _, l := range kern.Levels() {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestProcessorsAgree$")
		cmd.Env = append(os.Environ(), "AMPLINT_DIGEST=1", "AMPLINT_CPU="+l.String())
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _ := strings.Cut(string(out), "\n"); got != want {
			t.Errorf("%s gives\n%s\nnot\n%s", l, got, want)
		}
	}
}

// digest sums up the results of the models under several options; it fails where threads matter.
func digest(t *testing.T) string {
	var list []string
	for _, m := range processorModels {
		for _, o := range []Options{{}, {As: numfmt.FP16}, {As: numfmt.FP16, Accumulate: Target, FlushSubnormals: true}, {As: numfmt.BF16, Accumulate: Blocked}} {
			one := o
			one.Threads, o.Threads = 1, 3
			a, b := resultBits(t, m.text, one, m.in), resultBits(t, m.text, o, m.in)
			if a != b {
				t.Errorf("three threads give %s, one %s", b, a)
			}
			list = append(list, a)
		}
	}
	return strings.Join(list, " ")
}

// resultBits hashes the results of a model, NaN as one and the same.
func resultBits(t *testing.T, text string, o Options, in map[string]*Value) string {
	t.Helper()
	m := parse(t, text)
	r, err := New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	h := fnv.New64a()
	for _, v := range m.Graph.Outputs {
		for _, x := range out[v.Name].Tensor.F {
			if x != x {
				x = nan
			}
			fmt.Fprintf(h, "%08x", math.Float32bits(x))
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
