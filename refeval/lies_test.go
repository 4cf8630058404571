package refeval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
)

// liable are models of one node whose attributes and operands say how much is computed: where a lie
// does the most harm. Together with the models of testdata they are lied about.
var liable = []string{
	`m (float[1,2,5,5] x, float[2,2,3,3] w) => (float[] y) { y = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [1, 1], dilations = [1, 1], group = 1>(x, w) }`,
	`m (float[1,2,5,5] x, float[2,2,3,3] w) => (float[] y) { y = ConvTranspose<kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2], output_padding = [1, 1], group = 1>(x, w) }`,
	`m (float[1,2,5,5] x) => (float[] y) { y = MaxPool<kernel_shape = [2, 2], strides = [1, 1], pads = [0, 0, 0, 0], ceil_mode = 1, dilations = [1, 1]>(x) }`,
	`m (float[1,2,5,5] x) => (float[] y) { y = AveragePool<kernel_shape = [2, 2], strides = [1, 1], pads = [0, 0, 0, 0], count_include_pad = 1>(x) }`,
	`m (float[1,2,5,5] x) => (float[] y) { y = LpPool<kernel_shape = [2, 2], p = 2>(x) }`,
	`m (float[1,2,5,5] x) => (float[] y) { y = LRN<size = 3>(x) }`,
	`m (float[1,2,5,5] x) => (float[] y) <float[1,4] r = {0, 0, 4, 4}, int64[1] b = {0}> { y = RoiAlign<output_height = 2, output_width = 2, sampling_ratio = 2>(x, r, b) }`,
	`m (float[1,2,5,5] x) => (float[] y) <float[1,5] r = {0, 0, 0, 4, 4}> { y = MaxRoiPool<pooled_shape = [2, 2]>(x, r) }`,
	`m (float[1,2,5,5] x) => (float[] y) <float[1,2,2,2] g = {0, 0, 0.5, 0.5, 1, 1, -1, -1}> { y = GridSample(x, g) }`,
	`m (float[1,2,5,5] x) => (float[] y) <float[4] s = {1, 1, 2, 2}> { y = Resize<mode = "cubic">(x, , s) }`,
	`m (float[1,2,5,5] x) => (float[] y) <int64[4] s = {1, 2, 7, 7}> { y = Resize<mode = "linear">(x, , , s) }`,
	`m (float[1,2,4,4] x) => (float[] y) { y = SpaceToDepth<blocksize = 2>(x) }`,
	`m (float[1,4,2,2] x) => (float[] y) { y = DepthToSpace<blocksize = 2>(x) }`,
	`m (float[2,3] x) => (float[] y) <int64[4] p = {1, 0, 2, 1}> { y = Pad<mode = "reflect">(x, p) }`,
	`m (float[2,3] x) => (float[] y) <int64[2] r = {2, 2}> { y = Tile(x, r) }`,
	`m (float[2,1] x) => (float[] y) <int64[2] s = {2, 4}> { y = Expand(x, s) }`,
	`m (float[2,3] x) => (float[] y) <int64[2] s = {3, -1}> { y = Reshape(x, s) }`,
	`m (float[2,3] x) => (float[] y) <int64[1] a = {0}, int64[1] b = {2}, int64[1] c = {1}, int64[1] d = {1}> { y = Slice(x, a, b, c, d) }`,
	`m (float[2,3] x) => (float[] y) <int64[2] i = {0, 1}> { y = Gather<axis = 1>(x, i) }`,
	`m (float[2,3] x) => (float[] y) <int64[2,1] i = {0, 1}> { y = GatherND<batch_dims = 0>(x, i) }`,
	`m (float[2,3] x, float[1] u) => (float[] y) <int64[1,2] i = {0, 1}> { y = ScatterND(x, i, u) }`,
	`m (float[2,3] x) => (float[] y, float[] i) <int64[1] k = {2}> { y, i = TopK<axis = 1>(x, k) }`,
	`m (float[2,4] x) => (float[] y, float[] z) <int64[2] s = {2, 2}> { y, z = Split<axis = 1>(x, s) }`,
	`m (float[2,3] x) => (float[] y) <int64 a = {1}> { y = CumSum(x, a) }`,
	`m (float[2,3] x) => (float[] y) <int64[1] a = {1}> { y = ReduceSum<keepdims = 1>(x, a) }`,
	`m (float[2,3] x) => (float[] y) { y = Transpose<perm = [1, 0]>(x) }`,
	`m (float[2,3] x) => (float[] y) { y = Flatten<axis = 1>(x) }`,
	`m (float[2,3] x) => (float[] y) { y = Concat<axis = 1>(x, x) }`,
	`m (float[2,3] x) => (float[] y) { y = Softmax<axis = 1>(x) }`,
	`m (float[2,3] x) => (float[] y) { y = Einsum<equation = "ij,kj->ik">(x, x) }`,
	`m (float[2,3] x) => (float[] y) <int64[2] s = {2, 3}> { a = ConstantOfShape(s) y = Add(a, x) }`,
	`m (float[2,3] x) => (float[] y) <int64 a = {0}, int64 b = {6}, int64 c = {1}> { y = Range(a, b, c) }`,
	`m (float[2,3] x) => (float[] y) <int64[2] i = {0, 1}, int64 d = {3}, int64[2] v = {0, 1}> { y = OneHot<axis = 1>(i, d, v) }`,
	`m (float[2,3] x) => (float[] y) { y = RandomNormal<shape = [2, 3]>() }`,
	`m (float[2,3] x) => (float[] y) { y = Multinomial<sample_size = 3>(x) }`,
	`m (float[1,8,1] x) => (float[] y) <int64 n = {8}> { y = DFT<axis = 1>(x, n) }`,
	`m (float[1,8,1] x) => (float[] y) <int64 s = {2}, int64 l = {4}> { y = STFT(x, s, , l) }`,
	`m (float[2] x) => (float[] y) <int64 n = {8}> { y = HannWindow(n) }`,
	`m (float[2] x) => (float[] y) <int64 b = {8}, int64 d = {16}, int64 r = {8000}, float l = {0}, float h = {4000}> { y = MelWeightMatrix(b, d, r, l, h) }`,
	`m (float[1,2,3] x, float[1,4,3] w, float[1,4,4] r) => (float[] y) { y = RNN<hidden_size = 4>(x, w, r) }`,
	`m (float[1,2,3] x, float[1,16,3] w, float[1,16,4] r) => (float[] y) { y = LSTM<hidden_size = 4>(x, w, r) }`,
	`m (float[1,2,3] x, float[1,12,3] w, float[1,12,4] r) => (float[] y) { y = GRU<hidden_size = 4>(x, w, r) }`,
	`m (float[1,4,4] x) => (float[] y) { s = SequenceConstruct(x, x) y = ConcatFromSequence<axis = 1>(s) }`,
	`m (float[1,4,4] x) => (float[] y) <int64 k = {2}, int64 z = {0}> { s = SplitToSequence<axis = 1>(x, k) y = SequenceAt(s, z) }`,
	`m (float[1,2,6] x, float[1,6,4] b) => (float[] y) <int64 k = {3}> { y = NonMaxSuppression(b, x, k) }`,
	`m (float[1,4,2] x) => (float[] y) <int64[2] i = {2, 2}, int64[2] b = {1, 2}> { y = Col2Im(x, i, b) }`,
	`m (float[1,4,2,2] x) => (float[] y) { a, b = MaxPool<kernel_shape = [2, 2]>(x) y = MaxUnpool<kernel_shape = [2, 2]>(a, b) }`,
	`m (float[2] x) => (float[] y) <int64 n = {4}, bool c = {1}> { y = Loop(n, c, x) <body = b (int64 i, bool k, float[2] s) => (bool l, float[2] r) { l = Identity(k) r = Add(s, s) }> }`,
	`m (float[3,2] x) => (float[] s, float[] y) <float[2] z = {0, 0}> { s, y = Scan(z, x) <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] r, float[2] q) { r = Add(a, e) q = Neg(r) }> }`,
	`m (float[1,2,8] x) => (float[] y) { y = com.microsoft.FastGelu(x) }`,
	`m (float[1,2,8] x, float[8,24] w, float[24] b) => (float[] y) { y = com.microsoft.Attention<num_heads = 2>(x, w, b) }`,
	`m (float[1,2,8] x) => (float[] y) { y = com.microsoft.MultiHeadAttention<num_heads = 2>(x, x, x) }`,
	`m (float[2,8] x, uint8[4,1,8] w, float[4] s) => (float[] y) { y = com.microsoft.MatMulNBits<K = 8, N = 4, bits = 4, block_size = 16>(x, w, s) }`,
	`m (float[2,8] x, float[2,4] s) => (float[] y) { q = QuantizeLinear<axis = 1, block_size = 2>(x, s) y = DequantizeLinear<axis = 1>(q, s) }`,
}

// subjects returns the texts that are lied about.
func subjects(t testing.TB) []string {
	t.Helper()
	var list []string
	for _, s := range liable {
		list = append(list, "<ir_version: 10, opset_import: [\"\" : 21, \"com.microsoft\" : 1]>\n"+s)
	}
	dir := os.DirFS("../testdata/models")
	names, err := fs.Glob(dir, "*"+onnxtxt.Ext)
	if err != nil || len(names) == 0 {
		t.Fatalf("%d models, %v", len(names), err)
	}
	for _, name := range names {
		b, err := fs.ReadFile(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(b))
	}
	return list
}

// numbers are what a lie puts in the place of a number.
var numbers = []int64{0, 1, -1, -2, 2, 3, 7, 100, 1 << 16, 1 << 31, 1 << 40, math.MaxInt64, math.MinInt64}

func lied(r *rand.Rand) int64 { return numbers[r.IntN(len(numbers))] }

// lie changes one thing about a model, or about the data it is fed.
func lie(r *rand.Rand, m *graph.Model, feed map[string]*graph.Tensor) string {
	nodes := slices.Collect(m.Nodes())
	n := nodes[r.IntN(len(nodes))]
	switch r.IntN(7) {
	case 0, 1:
		if len(n.Attrs) > 0 {
			return lieInAttr(r, n, n.Attrs[r.IntN(len(n.Attrs))])
		}
	case 2, 3:
		if inits := m.Graph.Inits(); len(inits) > 0 {
			return lieInInit(r, inits[r.IntN(len(inits))])
		}
	case 4:
		return lieInFeed(r, feed)
	case 5:
		if len(n.Inputs) > 0 {
			all := append([]*graph.Value{nil}, n.Graph.Values[:min(len(n.Graph.Values), 4)]...)
			i, v := r.IntN(len(n.Inputs)), all[r.IntN(len(all))]
			if v == nil || v.Producer == nil {
				n.SetInput(i, v)
				return fmt.Sprintf("input %d of %s is %v", i, n.Key(), v != nil)
			}
		}
	case 6:
		if a := missingAttr(r, n); a != nil {
			return lieInAttr(r, n, a)
		}
	}
	return ""
}

// missingAttr returns an attribute that the node does not have yet, from among those that say how
// much is computed.
func missingAttr(r *rand.Rand, n *graph.Node) *graph.Attr {
	ints := []string{"axis", "group", "sampling_ratio", "hidden_size", "num_heads", "block_size", "blocksize", "p", "size", "batch_dims", "k", "num_outputs", "kv_num_heads"}
	lists := []string{"axes", "pads", "strides", "dilations", "kernel_shape", "output_shape", "output_padding", "split", "perm"}
	name := ints[r.IntN(len(ints))]
	a := &graph.Attr{Name: name, Type: graph.AttrInt}
	if r.IntN(2) == 0 {
		name = lists[r.IntN(len(lists))]
		a = &graph.Attr{Name: name, Type: graph.AttrInts, Ints: []int64{1, 1}}
	}
	if n.Attr(name) != nil {
		return nil
	}
	return a
}

func lieInAttr(r *rand.Rand, n *graph.Node, a *graph.Attr) string {
	b := &graph.Attr{Name: a.Name, Type: a.Type, I: a.I, Ints: slices.Clone(a.Ints), F: a.F, S: a.S, Tensor: a.Tensor}
	switch {
	case a.Graph != nil:
		return ""
	case r.IntN(8) == 0:
		n.RemoveAttr(a.Name)
		return fmt.Sprintf("%s lost %s", n.Key(), a.Name)
	case a.Type == graph.AttrInts:
		b.Ints = lieInList(r, b.Ints)
	case a.Type == graph.AttrFloat:
		b.F = float32(lied(r))
	case a.Type == graph.AttrString:
		b.S = []string{"", "?", "SAME_UPPER", "reflect", "i,i->", "ij,jk->ik"}[r.IntN(6)]
	default:
		b.I, b.Type = lied(r), graph.AttrInt
	}
	n.SetAttr(b)
	return fmt.Sprintf("%s: %s is %d %d %g %q", n.Key(), b.Name, b.I, b.Ints, b.F, b.S)
}

func lieInList(r *rand.Rand, list []int64) []int64 {
	switch {
	case len(list) == 0 || r.IntN(6) == 0:
		return append(list, lied(r))
	case r.IntN(6) == 0:
		return list[:len(list)-1]
	}
	for range 1 + r.IntN(2) {
		list[r.IntN(len(list))] = lied(r)
	}
	return list
}

// lieInInit changes the elements of an initializer of integers, or the shape of any.
func lieInInit(r *rand.Rand, v *graph.Value) string {
	t := v.Init
	if t.Elem == graph.Int64 && r.IntN(4) > 0 {
		x, err := t.Int64s()
		if err != nil {
			return ""
		}
		x = lieInList(r, x)
		dims := []int64{int64(len(x))}
		if len(t.Dims) == 0 && len(x) == 1 {
			dims = nil
		}
		v.SetInit(graph.IntTensor(t.Name, dims, x...))
		return fmt.Sprintf("%s is %d", v.Name, x)
	}
	dims := dimsOf(r, len(t.Dims))
	v.SetInit(graph.NewTensor(t.Name, t.Elem, dims, make([]byte, int(elements(dims))*t.Elem.Bits()/8)))
	return fmt.Sprintf("%s has shape %d", v.Name, dims)
}

// dimsOf returns a small shape of about some rank, which may hold no element.
func dimsOf(r *rand.Rand, rank int) []int64 {
	rank = max(rank+[]int{0, 0, 0, 1, -1}[r.IntN(5)], 0)
	dims := make([]int64, rank)
	for i := range dims {
		dims[i] = []int64{0, 1, 2, 3, 5}[r.IntN(5)]
	}
	return dims
}

func elements(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

// lieInFeed feeds a tensor of another shape, or other numbers.
func lieInFeed(r *rand.Rand, feed map[string]*graph.Tensor) string {
	var names []string
	for name := range feed {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return ""
	}
	t := feed[names[r.IntN(len(names))]]
	dims := t.Dims
	if r.IntN(4) > 0 {
		dims = dimsOf(r, len(dims))
	}
	x := make([]float32, elements(dims))
	for i := range x {
		x[i] = []float32{0, 1, -1, 1e30, float32(math.Inf(1)), float32(math.NaN()), 1e9}[r.IntN(7)]
	}
	feed[t.Name] = tensorOfFloats(t.Name, t.Elem, dims, x)
	return fmt.Sprintf("%s is fed %s%d", t.Name, t.Elem, dims)
}

// tensorOfFloats makes a tensor of numbers; what has no number format is zero.
func tensorOfFloats(name string, e graph.ElemType, dims []int64, x []float32) *graph.Tensor {
	t := graph.FloatTensor(name, dims, x...)
	if e == graph.Float {
		return t
	}
	if _, ok := e.Format(); ok {
		return t.Converted(e, false)
	}
	return graph.NewTensor(name, e, dims, make([]byte, (len(x)*e.Bits()+7)/8))
}

// fed makes data for the inputs of a model; open dimensions are 2.
func fed(r *rand.Rand, m *graph.Model) map[string]*graph.Tensor {
	feed := map[string]*graph.Tensor{}
	for _, v := range m.Graph.Inputs {
		dims := make([]int64, len(v.Type.Shape))
		for i, d := range v.Type.Shape {
			if dims[i] = d.N; d.N < 0 {
				dims[i] = 2
			}
		}
		x := make([]float32, elements(dims))
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		feed[v.Name] = tensorOfFloats(v.Name, v.Type.Elem, dims, x)
	}
	return feed
}

// The bounds that a lie must not break through.
const (
	liedMemory  = 16 << 20
	liedTime    = 250 * time.Millisecond
	liedOverrun = 5 * time.Second // of a busy machine, with the race detector
)

// judge runs a model that was lied about, and tells what it did that it must not.
func judge(m *graph.Model, feed map[string]*graph.Tensor) (ran bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	in := map[string]*Value{}
	for name, t := range feed {
		x, err := FromGraph(t)
		if err != nil {
			return false, nil
		}
		in[name] = TensorValue(x)
	}
	ctx, cancel := context.WithTimeout(context.Background(), liedTime)
	defer cancel()
	start := time.Now()
	r, err := New(m, Options{MaxMemory: liedMemory, Threads: 2})
	if err == nil {
		_, err = r.Run(ctx, in)
	}
	if took := time.Since(start); took > liedTime+liedOverrun {
		return false, fmt.Errorf("it ended after %v: %v", took, err)
	}
	return err == nil, unnamed(err)
}

// unnamed returns an error that does not say which node or input is at fault.
func unnamed(err error) error {
	var node *NodeError
	var input *InputError
	if err == nil || errors.As(err, &node) || errors.As(err, &input) || errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "initializer") {
		return nil
	}
	return fmt.Errorf("the error names no node: %w", err)
}

// lieAbout lies once or twice about a text model and runs it.
func lieAbout(text string, seed uint64) (ran bool, err error) {
	r := rand.New(rand.NewPCG(seed, 7))
	m, err := onnxtxt.Parse("m.onnxtxt", []byte(text))
	if err != nil {
		return false, err
	}
	feed := fed(r, m)
	var told []string
	for range 1 + r.IntN(2) {
		told = append(told, lie(r, m, feed))
	}
	var b bytes.Buffer // as a file would hold it: nothing of the edit's state is left
	if _, err := m.WriteTo(&b); err != nil {
		return false, nil
	}
	if m, err = graph.Decode(b.Bytes(), ""); err != nil {
		return false, nil
	}
	if ran, err = judge(m, feed); err != nil {
		err = fmt.Errorf("%s: %w", strings.Join(told, "; "), err)
	}
	return ran, err
}

func TestLies(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	for i, text := range subjects(t) {
		ran := 0
		for seed := range uint64(rounds) {
			ok, err := lieAbout(text, seed)
			if err != nil {
				t.Errorf("subject %d, seed %d: %v\n%s", i, seed, err, text)
			}
			if ok {
				ran++
			}
		}
		if ran == rounds {
			t.Errorf("no lie about subject %d was noticed", i)
		}
	}
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	if s.HeapSys > 1<<30 {
		t.Errorf("the heap has grown to %d MiB under a bound of %d", s.HeapSys>>20, liedMemory>>20)
	}
}

// The truth must run: a subject that fails before it is lied about tests nothing.
func TestLiableRun(t *testing.T) {
	for i, text := range subjects(t) {
		m, err := onnxtxt.Parse("m.onnxtxt", []byte(text))
		if err != nil {
			t.Fatalf("subject %d: %v\n%s", i, err, text)
		}
		feed := fed(rand.New(rand.NewPCG(1, 1)), m)
		in := map[string]*Value{}
		for name, g := range feed {
			x, err := FromGraph(g)
			if err != nil {
				t.Fatal(err)
			}
			in[name] = TensorValue(x)
		}
		r, err := New(m, Options{})
		if err == nil {
			_, err = r.Run(context.Background(), in)
		}
		if err != nil {
			t.Errorf("subject %d: %v\n%s", i, err, text)
		}
	}
}

func FuzzLies(f *testing.F) {
	texts := subjects(f)
	for i := range texts {
		f.Add(uint(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, subject uint, seed uint64) {
		if _, err := lieAbout(texts[subject%uint(len(texts))], seed); err != nil {
			t.Error(err)
		}
	})
}
