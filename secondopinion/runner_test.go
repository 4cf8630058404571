package secondopinion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/samples"
)

// agreed are models of one operator each on which gorgonnx must give what the evaluator gives. Of its
// operators those are left out that the standard does not have: Log2, Square, Inverse, Cube, Log1p,
// Expm1 and ImageScaler. Unsqueeze stands at axis 0, as gorgonnx puts other axes in the wrong place;
// the constant has two elements, as gorgonnx makes a scalar of one.
var agreed = []string{
	`Sign (float[2,3] a) => (float[2,3] y) { y = Sign(a) }`,
	`Ceil (float[2,3] a) => (float[2,3] y) { y = Ceil(a) }`,
	`Floor (float[2,3] a) => (float[2,3] y) { y = Floor(a) }`,
	`Min (float[2,3] a, float[2,3] b) => (float[2,3] y) { y = Min(a, b) }`,
	`Max (float[2,3] a, float[2,3] b) => (float[2,3] y) { y = Max(a, b) }`,
	`Dropout (float[2,3] a) => (float[2,3] y) { y = Dropout(a) }`,
	`Mul (float[2,3] a, float[2,3] b) => (float[2,3] y) { y = Mul(a, b) }`,
	`Div (float[2,3] a, float[2,3] b) => (float[2,3] y) { y = Div(a, b) }`,
	`Sub (float[2,3] a, float[2,3] b) => (float[2,3] y) { y = Sub(a, b) }`,
	`Add (float[2,3] a, float[2,3] b) => (float[2,3] y) { y = Add(a, b) }`,
	`Broadcast (float[2,3] a, float[1,3] b) => (float[2,3] y) { y = Add(a, b) }`,
	`Abs (float[2,3] a) => (float[2,3] y) { y = Abs(a) }`,
	`Sin (float[2,3] a) => (float[2,3] y) { y = Sin(a) }`,
	`Cos (float[2,3] a) => (float[2,3] y) { y = Cos(a) }`,
	`Exp (float[2,3] a) => (float[2,3] y) { y = Exp(a) }`,
	`Log (float[2,3] a) => (float[2,3] y) { b = Exp(a) y = Log(b) }`,
	`Relu (float[2,3] a) => (float[2,3] y) { y = Relu(a) }`,
	`Neg (float[2,3] a) => (float[2,3] y) { y = Neg(a) }`,
	`Sqrt (float[2,3] a) => (float[2,3] y) { b = Abs(a) y = Sqrt(b) }`,
	`Tanh (float[2,3] a) => (float[2,3] y) { y = Tanh(a) }`,
	`Sigmoid (float[2,3] a) => (float[2,3] y) { y = Sigmoid(a) }`,
	`Softplus (float[2,3] a) => (float[2,3] y) { y = Softplus(a) }`,
	`LeakyRelu (float[2,3] a) => (float[2,3] y) { y = LeakyRelu<alpha = 0.1>(a) }`,
	`Identity (float[2,3] a) => (float[2,3] y) { y = Identity(a) }`,
	`Constant (float[2] a) => (float[2] y) { b = Constant<value = float[2] {2.5, -1}>() y = Mul(a, b) }`,
	`Concat (float[2,3] a, float[2,2] b) => (float[2,5] y) { y = Concat<axis = 1>(a, b) }`,
	`MatMul (float[2,3] a, float[3,4] b) => (float[2,4] y) { y = MatMul(a, b) }`,
	`Gemm (float[2,3] a, float[3,4] b, float[1,4] c) => (float[2,4] y) { y = Gemm(a, b, c) }`,
	`GemmT (float[2,3] a, float[4,3] b, float[2,4] c) => (float[2,4] y) { y = Gemm<transB = 1>(a, b, c) }`,
	`Transpose (float[2,3,4] a) => (float[4,2,3] y) { y = Transpose<perm = [2, 0, 1]>(a) }`,
	`Reshape (float[2,3] a) => (float[3,2] y) <int64[2] s = {3, 2}> { y = Reshape(a, s) }`,
	`Flatten (float[2,3,4] a) => (float[2,12] y) { y = Flatten(a) }`,
	`Squeeze (float[2,1,3] a) => (float[2,3] y) { y = Squeeze<axes = [1]>(a) }`,
	`Unsqueeze (float[2,3] a) => (float[1,2,3] y) { y = Unsqueeze<axes = [0]>(a) }`,
	`Softmax (float[2,3] a) => (float[2,3] y) { y = Softmax<axis = 1>(a) }`,
	`Conv (float[1,2,5,5] a, float[3,2,3,3] w) => (float[1,3,5,5] y) { y = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1]>(a, w) }`,
	`MaxPool (float[1,2,4,4] a) => (float[1,2,2,2] y) { y = MaxPool<kernel_shape = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0]>(a) }`,
	`GlobalAveragePool (float[1,2,4,4] a) => (float[1,2,1,1] y) { y = GlobalAveragePool(a) }`,
	`BatchNormalization (float[1,2,3,3] a, float[2] s, float[2] b, float[2] m) => (float[1,2,3,3] y) <float[2] v = {0.5, 2}> { y = BatchNormalization(a, s, b, m, v) }`,
}

func TestEvaluatorsAgree(t *testing.T) {
	for _, text := range agreed {
		name, _, _ := strings.Cut(text, " ")
		t.Run(name, func(t *testing.T) {
			m, err := onnxtxt.Parse(name, []byte("<ir_version: 7, opset_import: [\"\" : 9]>\n"+text))
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			in := map[string]*graph.Tensor{}
			for _, v := range m.Graph.Inputs {
				in[v.Name] = draw(rng, v)
			}
			if err := differ(m, in); err != nil {
				t.Error(err)
			}
		})
	}
}

// draw makes normal random numbers of the shape that an input declares.
func draw(rng *rand.Rand, v *graph.Value) *graph.Tensor {
	dims, _ := v.Type.Shape.Ints()
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return graph.FloatTensor(v.Name, dims, x...)
}

// errUnable says that gorgonnx did not run a model.
var errUnable = errors.New("gorgonnx does not run it")

// differ tells how the outputs of both evaluators differ, nil where they agree.
func differ(m *graph.Model, in map[string]*graph.Tensor) error {
	theirs, err := runTheirs(m, in)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnable, err)
	}
	r, err := refeval.New(m, refeval.Options{})
	if err != nil {
		return err
	}
	ours := map[string]*refeval.Value{}
	for name, t := range in {
		x, err := refeval.FromGraph(t)
		if err != nil {
			return err
		}
		ours[name] = refeval.TensorValue(x)
	}
	out, err := r.Run(context.Background(), ours)
	if err != nil {
		return err
	}
	for i, v := range m.Graph.Outputs {
		if err := close(out[v.Name].Tensor, theirs[i]); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return nil
}

func runTheirs(m *graph.Model, in map[string]*graph.Tensor) ([]tensor.Tensor, error) {
	for _, n := range m.Graph.Nodes {
		if n.Op == "Concat" && n.Int("axis", 0) < 0 {
			return nil, errors.New("gorgonia panics in a goroutine of its own, where nothing can catch it")
		}
	}
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		return nil, err
	}
	given := map[string]tensor.Tensor{}
	for name, t := range in {
		x := make([]float32, 0, t.Len())
		if t.Elem != graph.Float || len(t.Dims) == 0 {
			return nil, errors.New("only float tensors of rank 1 and more are compared")
		}
		if err := t.Floats(func(c []float32) error { x = append(x, c...); return nil }); err != nil {
			return nil, err
		}
		shape := make([]int, len(t.Dims))
		for i, d := range t.Dims {
			shape[i] = int(d)
		}
		given[name] = tensor.New(tensor.WithShape(shape...), tensor.WithBacking(x))
	}
	out, err := Run(b.Bytes(), given)
	if err == nil && slices.Contains(out, nil) {
		err = errors.New("an output without a tensor")
	}
	return out, err
}

// close compares two tensors within 1e-5 of each element and of 1.
func close(ours *refeval.Tensor, theirs tensor.Tensor) error {
	if !slices.Equal(ours.Dims, []int(theirs.Shape())) {
		return fmt.Errorf("shape %v, gorgonnx has %v", ours.Dims, theirs.Shape())
	}
	got, ok := tensor.Materialize(theirs).Data().([]float32)
	if !ok || len(got) != len(ours.F) {
		return fmt.Errorf("%s, gorgonnx has %T", ours, theirs.Data())
	}
	for i, x := range ours.F {
		if d := math.Abs(float64(x - got[i])); !(d <= 1e-5*max(1, math.Abs(float64(x)))) && !(x != x && got[i] != got[i]) {
			return fmt.Errorf("element %d is %g, gorgonnx has %g", i, x, got[i])
		}
	}
	return nil
}

// different are operators that gorgonnx computes otherwise than the standard: it counts no axis from
// the end, and its Softmax is that of the versions before 13.
var different = []string{"Flatten", "Softmax"}

// TestCorpusAgrees holds both evaluators against each other on the tests of the standard below
// AMPLINT_CORPUS.
func TestCorpusAgrees(t *testing.T) {
	corpus := os.Getenv("AMPLINT_CORPUS")
	if corpus == "" {
		t.Skip("set AMPLINT_CORPUS to folders of the standard's node tests")
	}
	same, unable, wrong := 0, 0, map[string]int{}
	for _, path := range models(t) {
		set := filepath.Join(filepath.Dir(path), "test_data_set_0")
		if _, err := os.Stat(set); err != nil {
			continue
		}
		m, _ := open(t, path)
		in := sample(m, set)
		if in == nil {
			unable++
			continue
		}
		switch err := differ(m, in); {
		case err == nil:
			same++
		case errors.Is(err, errUnable):
			unable++
		default:
			wrong[m.Graph.Nodes[0].Op]++
			t.Logf("%s: %v", filepath.Base(filepath.Dir(path)), err)
			if !slices.Contains(different, m.Graph.Nodes[0].Op) {
				t.Errorf("%s should not differ", m.Graph.Nodes[0].Op)
			}
		}
	}
	t.Logf("%d agree, gorgonnx cannot run %d", same, unable)
	for _, op := range sortedKeys(wrong) {
		t.Logf("%s differs in %d", op, wrong[op])
	}
}

// sample reads the inputs of a test, nil where they are not all tensors.
func sample(m *graph.Model, dir string) map[string]*graph.Tensor {
	if m == nil {
		return nil
	}
	list, err := samples.Load(dir, m.Graph.Inputs)
	if err != nil || len(list) != 1 {
		return nil
	}
	in := map[string]*graph.Tensor{}
	for name, v := range list[0].Inputs {
		if v.Tensor == nil {
			return nil
		}
		if in[name], err = v.Tensor.Tensor(); err != nil {
			return nil
		}
	}
	return in
}
