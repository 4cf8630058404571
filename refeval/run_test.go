package refeval

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/numfmt"
)

func parse(t *testing.T, text string) *graph.Model {
	t.Helper()
	m, err := onnxtxt.Parse("m.onnxtxt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func head(body string) string {
	return "<ir_version: 9, opset_import: [\"\" : 19, \"f\" : 1]>\n" + body
}

// runs are models of inputs x (float) and, where they take it, n (int64), with what y becomes.
var runs = []struct {
	name string
	text string
	opt  Options
	x    []float32
	n    []int64
	want []float32
}{
	{"as stored", `m (float[N] x) => (float[N] y) { y = Mul(x, x) }`,
		Options{}, []float32{300, -2}, nil, []float32{90000, 4}},
	{"overflow in fp16", `m (float[N] x) => (float[N] y) { a = Mul(x, x) y = Sqrt(a) }`,
		Options{As: numfmt.FP16}, []float32{300, -2}, nil, []float32{inf, 2}},
	{"inputs are rounded", `m (float[N] x) => (float[N] y) { y = Sub(x, x) }`,
		Options{As: numfmt.FP16}, []float32{1e6}, nil, []float32{nan}},
	{"moved inputs are rounded", `m (float[N] x) => (float[N] y) { y = Identity(x) }`,
		Options{As: numfmt.FP16}, []float32{2049, 1e-9}, nil, []float32{2048, 0}},
	{"constants are rounded", `m (float[N] x) => (float[N] y) <float c = {2049}> { y = Add(x, c) }`,
		Options{As: numfmt.FP16}, []float32{1}, nil, []float32{2048}},
	{"kept values", `m (float[N] x) => (float[N] y) { keep = Mul(x, x) y = Sqrt(keep) }`,
		Options{As: numfmt.FP16, Keep: func(v *graph.Value) bool { return v.Name == "keep" }}, []float32{300}, nil, []float32{300}},
	{"a kept value moved on is rounded", `m (float[N] x) => (float[N] y) { keep = Mul(x, x) y = Identity(keep) }`,
		Options{As: numfmt.FP16, Keep: func(v *graph.Value) bool { return v.Name == "keep" }}, []float32{300}, nil, []float32{inf}},
	{"the reference has no stash", `m (float[N] x) => (float[N] y) <float[2] s = {1, 1}> { y = LayerNormalization<stash_type = 10>(x, s) }`,
		Options{Wide: true}, []float32{1, 1000}, nil, []float32{-1, 1}},
	{"the reference keeps integers that 16 bits do not hold", `m (float[N] x, int64 n) => (float[N] y) { h = Cast<to = 10>(n) a = Cast<to = 1>(h) y = Mul(x, a) }`,
		Options{Wide: true}, []float32{1, 2}, []int64{70001}, []float32{70001, 140002}},
	{"16 bits as the other ones", `m (float[N] x) => (float[N] y) { h = Cast<to = 10>(x) a = Mul(h, h) y = Cast<to = 1>(a) }`,
		Options{As: numfmt.BF16, Wide: true}, []float32{512, 257}, nil, []float32{262144, 65536}},
	{"subnormals", `m (float[N] x) => (float[N] y) { y = Identity(x) }`,
		Options{As: numfmt.FP16, FlushSubnormals: true}, []float32{3e-5, 0x1p-14}, nil, []float32{0, 0x1p-14}},
	{"softplus in fp16 overflows", `m (float[N] x) => (float[N] y) { y = Softplus(x) }`,
		Options{As: numfmt.FP16, Accumulate: Target}, []float32{12}, nil, []float32{inf}},
	{"product of matrices in fp16", `m (float[N] x) => (float y) <float[3] w = {1, 1, 1}> { y = MatMul(x, w) }`,
		Options{As: numfmt.FP16, Accumulate: Target}, []float32{2048, 1, 1}, nil, []float32{2048}},
	{"the same in fp32", `m (float[N] x) => (float y) <float[3] w = {1, 1, 1}> { y = MatMul(x, w) }`,
		Options{As: numfmt.FP16}, []float32{2048, 1, 1}, nil, []float32{2050}},
	{"loop", `m (float[N] x, int64 n) => (float[N] y) {
		y = Loop(n, , x) <body = b (int64 i, bool c, float[N] s) => (bool d, float[N] r) { d = Identity(c) r = Add(s, x) }>
	}`, Options{}, []float32{1, 2}, []int64{3}, []float32{4, 8}},
	{"loop that scans", `m (float[N] x, int64 n) => (float[N,M] y) {
		s, y = Loop(n, , x) <body = b (int64 i, bool c, float[N] s) => (bool d, float[N] r, float[N] q) { d = Identity(c) r = Add(s, x) q = Neg(r) }>
	}`, Options{}, []float32{1, 2}, []int64{2}, []float32{-2, -4, -3, -6}},
	{"branch", `m (float[N] x, int64 n) => (float[N] y) <int64 zero = {0}> {
		c = Greater(n, zero)
		y = If(c) <then_branch = t () => (float[N] a) { a = Neg(x) }, else_branch = e () => (float[N] b) { b = Abs(x) }>
	}`, Options{}, []float32{1, 2}, []int64{1}, []float32{-1, -2}},
	{"function with an attribute", `m (float[N] x) => (float[N] y) { y = f.twice <k = 3.0> (x) }
		<domain: "f", opset_import: ["" : 19]> twice <k> (a) => (r) { c = Constant <value_float : float = @k> () b = Mul(a, c) r = Add(b, a) }`,
		Options{}, []float32{1, 2}, nil, []float32{4, 8}},
}

var (
	inf = float32(math.Inf(1))
	nan = float32(math.NaN())
)

func TestRun(t *testing.T) {
	for _, c := range runs {
		t.Run(c.name, func(t *testing.T) {
			r, err := New(parse(t, head(c.text)), c.opt)
			if err != nil {
				t.Fatal(err)
			}
			out, err := r.Run(context.Background(), inputs(c.x, c.n))
			if err != nil {
				t.Fatal(err)
			}
			if got := out["y"].Tensor; !FloatTensor(got.Dims, c.want...).EqualBits(got) {
				t.Errorf("y is %v, want %v", got.F, c.want)
			}
		})
	}
}

func inputs(x []float32, n []int64) map[string]*Value {
	in := map[string]*Value{"x": TensorValue(FloatTensor([]int{len(x)}, x...))}
	if n != nil {
		in["n"] = TensorValue(IntTensor([]int{}, n...))
	}
	return in
}

// TestMemoryIsGivenBack runs every model and counts what is held at the end: the outputs alone.
func TestMemoryIsGivenBack(t *testing.T) {
	for _, c := range runs {
		r, err := New(parse(t, head(c.text)), c.opt)
		if err != nil {
			t.Fatal(err)
		}
		x := &run{r: r, ctx: context.Background(), max: 1 << 20}
		f := &frame{vals: make([]*Value, len(r.main.last))}
		if err := x.feed(f, inputs(c.x, c.n)); err != nil {
			t.Fatal(err)
		}
		outs, err := x.plan(r.main, f)
		if err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		for _, v := range outs {
			if v.Tensor.block != nil {
				want += v.Tensor.block.bytes
			}
		}
		if x.live != want {
			t.Errorf("%s: %d bytes are held after the run, the outputs take %d", c.name, x.live, want)
		}
	}
}

// TestErrors holds that whatever goes wrong names the node.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"shapes that do not broadcast", `m (float[2] x) => (float[2] y) <float[3] w = {1, 2, 3}> { y = Add(x, w) }`, `node "#y" (Add): shapes [[2] [3]] do not broadcast`},
		{"memory", `m (float[2] x) => (float[A,B] y) <int64[2] s = {1000000, 1000000}> { y = Expand(x, s) }`, `node "#y" (Expand)`},
		{"huge dimensions", `m (float[2] x) => (float[A,B] y) <int64[2] s = {4611686018427387904, 4611686018427387904}> { y = ConstantOfShape(s) }`, `(ConstantOfShape): the shape`},
		{"negative dimensions", `m (float[2] x) => (float[A] y) <int64[1] s = {-1}> { y = ConstantOfShape(s) }`, `negative dimension -1`},
		{"an integer divided by zero", `m (float[2] x) => (int64[2] y) <int64[2] a = {1, 2}, int64 b = {0}> { y = Div(a, b) }`, `(Div): division of the integer 1 by zero`},
		{"inside a branch", `m (float[2] x) => (float[2] y) <bool c = {1}, float[3] w = {1, 2, 3}> {
			y = If(c) <then_branch = t () => (float[2] a) { a = Add(x, w) }, else_branch = e () => (float[2] b) { b = Abs(x) }> }`, `node "#y/then_branch/#a" (Add)`},
	} {
		r, err := New(parse(t, head(c.text)), Options{MaxMemory: 1 << 30})
		if err == nil {
			_, err = r.Run(context.Background(), inputs([]float32{1, 2}, nil))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestUnknownOperator(t *testing.T) {
	_, err := New(parse(t, head(`m (float[2] x) => (float[2] y) { y = NoSuch(x) }`)), Options{})
	if err == nil || !strings.Contains(err.Error(), `node "#y" (NoSuch)`) {
		t.Errorf("error %v", err)
	}
}

func TestCancel(t *testing.T) {
	m := parse(t, head(`m (float[N] x, int64 n) => (float[N] y) {
		y = Loop(n, , x) <body = b (int64 i, bool c, float[N] s) => (bool d, float[N] r) { d = Identity(c) r = Neg(s) }> }`))
	ctx, cancel := context.WithCancel(context.Background())
	passes := 0
	r, err := New(m, Options{Observe: func(v *graph.Value, _ *Tensor) {
		if passes++; passes > 100 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Run(ctx, inputs([]float32{1}, []int64{math.MaxInt64}))
	if !errors.Is(err, context.Canceled) || passes > 200 {
		t.Errorf("error %v after %d values", err, passes)
	}
}

// TestPinnedOperands: the scales of Resize stay as they are while other readers see them rounded.
func TestPinnedOperands(t *testing.T) {
	m := parse(t, head(`m (float[N] x) => (float[N] y) <float[1] s = {1.0001}> { y = Mul(x, s) }`))
	m.Graph.Nodes[0].Op = "Resize"
	m.Graph.Nodes[0].Inputs = []*graph.Value{m.Graph.Inputs[0], nil, m.Graph.Nodes[0].Inputs[1]}
	r := &Runner{model: m, opt: Options{As: numfmt.FP16}}
	p := &planner{r: r, consts: map[slotKey]*Value{}}
	v := m.Graph.Nodes[0].Inputs[2]
	raw, err := p.constant(v, true)
	if err != nil {
		t.Fatal(err)
	}
	low, err := p.constant(v, false)
	if err != nil {
		t.Fatal(err)
	}
	if raw.Tensor.F[0] != 1.0001 || low.Tensor.F[0] != 1 {
		t.Errorf("scales %v and %v", raw.Tensor.F, low.Tensor.F)
	}
}

func TestObserveSeesEverything(t *testing.T) {
	m := parse(t, head(`m (float[N] x) => (float[N] y) <float c = {2}> { a = Mul(x, c) y = Neg(a) }`))
	var seen []string
	r, err := New(m, Options{Observe: func(v *graph.Value, _ *Tensor) { seen = append(seen, v.Name) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Run(context.Background(), inputs([]float32{1}, nil)); err != nil {
		t.Fatal(err)
	}
	if want := []string{"x", "c", "a", "y"}; !slices.Equal(seen, want) {
		t.Errorf("seen %v, want %v", seen, want)
	}
}

func TestEval(t *testing.T) {
	m := parse(t, head(`m (float[N] x) => (int64[N] y) { y = Cast <to = 7> (x) }`))
	out, err := Eval(m.Graph.Nodes[0], []*graph.Tensor{graph.FloatTensor("x", []int64{2}, 1.9, -1.9)})
	if err != nil {
		t.Fatal(err)
	}
	got, err := out[0].Int64s()
	if err != nil || !slices.Equal(got, []int64{1, -1}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestKeysAreUniqueAndInOrder(t *testing.T) {
	n := 0
	for _, f := range families() {
		n += len(f)
	}
	keys := Keys()
	if len(keys) != n {
		t.Errorf("%d entries under %d keys", n, len(keys))
	}
	if !slices.IsSorted(keys) {
		t.Error("the keys are not sorted")
	}
}
