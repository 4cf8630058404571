package schema

import (
	"slices"
	"strings"
	"testing"
)

// TestLines parses every line, holds each file sorted without doubles, and holds each line findable.
func TestLines(t *testing.T) {
	for n, table := range tables() {
		if len(table.start) == 0 {
			t.Fatalf("table %d is empty", n)
		}
		for i := range table.start {
			op, err := parseOp(table.line(i))
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 && table.line(i-1) >= table.line(i) {
				t.Errorf("table %d: %s %d is out of order", n, op.Name, op.Since)
			}
			found, ok := Lookup(op.Domain, op.Name, op.Since)
			if !ok || found.Name != op.Name || found.Since != op.Since || found.Vendor != (n > 0) {
				t.Errorf("table %d: look-up of %s %d gives %v", n, op.Name, op.Since, found)
			}
			checkOp(t, op)
		}
	}
}

// checkOp holds what the standard promises of every operator.
func checkOp(t *testing.T, op *Op) {
	for _, params := range [][]Param{op.Inputs, op.Outputs} {
		for i, p := range params {
			if len(p.Types) == 0 || p.Type == "" || p.Name == "" {
				t.Errorf("%s %d: parameter %d lacks name or types: %+v", op.Name, op.Since, i, p)
			}
			if p.Option == Variadic && i != len(params)-1 {
				t.Errorf("%s %d: variadic %q is not the last", op.Name, op.Since, p.Name)
			}
		}
	}
	for _, a := range op.Attrs {
		if a.Required && a.HasDefault {
			t.Errorf("%s %d: required attribute %q has a default", op.Name, op.Since, a.Name)
		}
	}
}

// TestFacts holds well-known facts of the standard: "op opset since; fact", where a fact is
// in/out I takes TYPE, lacks TYPE, or is pinned.
func TestFacts(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(facts), "\n") {
		word := strings.Fields(line)
		checkFact(t, line, word[0], int64(number(t, word[1])), int64(number(t, word[2])), word[3:])
	}
}

const facts = `
Add                      6  6 in 0 lacks bfloat16
Add                     12  7 in 0 lacks bfloat16
Add                     13 13 in 0 takes bfloat16
Add                     28 14 out 0 takes int8
BatchNormalization      13  9 in 3 takes float16
BatchNormalization      15 15 in 3 takes float16
Clip                    11 11 in 1 lacks bfloat16
Conv                    21 11 in 0 lacks bfloat16
Conv                    28 22 in 0 takes bfloat16
CumSum                  13 11 in 0 pinned
CumSum                  14 14 in 0 takes float16
CumSum                  14 14 in 1 takes int32
DequantizeLinear        18 13 in 1 pinned
DequantizeLinear        19 19 in 1 takes float16
Dropout                 13 13 in 2 takes bool
GridSample              20 20 in 1 takes float16
GroupNormalization      18 18 in 1 takes float16
GRU                     21 14 in 0 lacks bfloat16
LayerNormalization      17 17 in 0 takes bfloat16
LayerNormalization      17 17 out 1 takes bfloat16
LayerNormalization      17 17 out 1 lacks float16
DynamicQuantizeLinear   11 11 in 0 pinned
DynamicQuantizeLinear   11 11 out 1 pinned
LSTM                    22 22 in 0 takes bfloat16
NonMaxSuppression       28 11 in 1 pinned
NonMaxSuppression       28 11 in 3 pinned
Range                   11 11 in 0 pinned
Range                   26 11 in 0 pinned
Resize                  10 10 in 1 pinned
Resize                  12 11 in 2 pinned
Resize                  12 11 in 1 takes float16
Resize                  28 19 in 2 pinned
Resize                  28 19 in 0 takes bfloat16
RoiAlign                10 10 in 1 takes float16
Softmax                 12 11 in 0 lacks bfloat16
Softmax                 13 13 in 0 takes bfloat16
Upsample                 9  9 in 1 pinned
com.microsoft:SkipLayerNormalization 1 1 in 0 takes float16
com.microsoft:SkipLayerNormalization 1 1 out 1 pinned
com.microsoft:LayerNormalizationGrad 1 1 in 3 pinned
com.microsoft:InPlaceAccumulatorV2   1 1 out 0 takes bool
ai.onnx.ml:Normalizer    3  1 out 0 pinned
`

func checkFact(t *testing.T, line, name string, opset, since int64, fact []string) {
	domain, base, dotted := strings.Cut(name, ":")
	if !dotted {
		domain, base = "", name
	}
	op, ok := Lookup(domain, base, opset)
	if !ok || op.Since != since {
		t.Errorf("%s: found %v", line, op)
		return
	}
	param, ok := op.Input(number(t, fact[1]))
	if fact[0] == "out" {
		param, ok = op.Output(number(t, fact[1]))
	}
	if !ok {
		t.Errorf("%s: no such parameter", line)
		return
	}
	if fact[2] == "pinned" {
		if !param.PinnedFloat() {
			t.Errorf("%s: takes %v", line, param.Types)
		}
		return
	}
	elem := slices.IndexFunc(elements[:], func(e struct{ name, code string }) bool { return e.name == fact[3] })
	if param.AllowsElem(int32(elem)) != (fact[2] == "takes") {
		t.Errorf("%s: takes %v", line, param.Types)
	}
}

func number(t *testing.T, text string) int {
	n, err := parseInt(text)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

func TestAttributes(t *testing.T) {
	for _, c := range []struct {
		domain, op string
		opset      int64
		attr       string
		typ        AttrType
		required   bool
		has        bool
		want       Value
	}{
		{"", "Softmax", 12, "axis", AttrInt, false, true, Value{Int: 1}},
		{"", "Softmax", 13, "axis", AttrInt, false, true, Value{Int: -1}},
		{"", "BatchNormalization", 9, "epsilon", AttrFloat, false, true, Value{Float: 1e-5}},
		{"", "LayerNormalization", 17, "stash_type", AttrInt, false, true, Value{Int: 1}},
		{"", "Cast", 13, "to", AttrInt, true, false, Value{}},
		{"", "Conv", 11, "pads", AttrInts, false, false, Value{}},
		{"", "Resize", 19, "nearest_mode", AttrString, false, true, Value{Str: "round_prefer_floor"}},
		{"", "Clip", 6, "max", AttrFloat, false, true, Value{Float: 3.4028234663852886e38}},
		{"", "RNN", 14, "activations", AttrStrings, false, true, Value{Strings: []string{"Tanh", "Tanh"}}},
		{"", "MeanVarianceNormalization", 13, "axes", AttrInts, false, true, Value{Ints: []int64{0, 2, 3}}},
		{"", "Loop", 21, "body", AttrGraph, true, false, Value{}},
		{"", "Constant", 13, "sparse_value", AttrSparseTensor, false, false, Value{}},
		{"com.microsoft", "FusedMatMul", 1, "alpha", AttrFloat, false, true, Value{Float: 1}},
		{"com.microsoft", "SkipLayerNormalization", 1, "epsilon", AttrFloat, false, true, Value{Float: 1e-12}},
		{"com.microsoft", "AdamWOptimizer", 1, "weight_decay", AttrFloat, false, true, Value{Float: 0.01}},
	} {
		op, ok := Lookup(c.domain, c.op, c.opset)
		if !ok {
			t.Errorf("%s %d: not found", c.op, c.opset)
			continue
		}
		a, ok := op.Attr(c.attr)
		if !ok || a.Type != c.typ || a.Required != c.required || a.HasDefault != c.has || !equal(a.Default, c.want) {
			t.Errorf("%s %d: %s is %+v", c.op, c.opset, c.attr, a)
		}
	}
	if _, ok := mustLookup(t, "Relu", 13).Attr("alpha"); ok {
		t.Error("Relu has an attribute")
	}
}

func equal(a, b Value) bool {
	return a.Int == b.Int && a.Float == b.Float && a.Str == b.Str &&
		slices.Equal(a.Ints, b.Ints) && slices.Equal(a.Floats, b.Floats) && slices.Equal(a.Strings, b.Strings)
}

func mustLookup(t *testing.T, name string, opset int64) *Op {
	t.Helper()
	op, ok := Lookup("", name, opset)
	if !ok {
		t.Fatalf("%s %d: not found", name, opset)
	}
	return op
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		domain, op string
		opset      int64
		since      int64 // 0 for none
		vendor     bool
	}{
		{"ai.onnx", "Add", 13, 13, false},
		{"", "Add", 1000, 14, false},
		{"", "Add", 0, 0, false},
		{"", "Ad", 13, 0, false},
		{"", "Adds", 13, 0, false},
		{"", "", 13, 0, false},
		{"nowhere", "Add", 13, 0, false},
		{"", "LayerNormalization", 16, 1, true},
		{"", "LayerNormalization", 17, 17, false},
		{"", "RMSNormalization", 22, 0, false},
		{"", "RMSNormalization", 23, 23, false},
		{"", "SimplifiedLayerNormalization", 17, 1, true},
		{"com.microsoft", "SimplifiedLayerNormalization", 1, 1, true},
		{"com.microsoft.nchwc", "Conv", 1, 1, true},
		{"ai.onnx.ml", "TreeEnsemble", 5, 5, false},
		{"ai.onnx.preview.training", "Adam", 1, 1, false},
		{"", "\tAdd", 13, 0, false},
	} {
		op, ok := Lookup(c.domain, c.op, c.opset)
		if ok != (c.since != 0) || ok && (op.Since != c.since || op.Vendor != c.vendor) {
			t.Errorf("%q %q %d: found %+v", c.domain, c.op, c.opset, op)
		}
	}
	if a, b := mustLookup(t, "Relu", 14), mustLookup(t, "Relu", 21); a != b {
		t.Error("one version is parsed twice")
	}
	if !mustLookup(t, "Upsample", 10).Deprecated || mustLookup(t, "Upsample", 9).Deprecated {
		t.Error("Upsample is deprecated from opset 10 on")
	}
	if !mustLookup(t, "Gelu", 20).Function || mustLookup(t, "Conv", 22).Function {
		t.Error("Gelu has a function body, Conv none")
	}
}

// contrib lists what exporters and optimisers emit beyond the standard.
const contrib = `LayerNormalization SimplifiedLayerNormalization SkipLayerNormalization
	SkipSimplifiedLayerNormalization Gelu FastGelu BiasGelu QuickGelu Attention MultiHeadAttention
	GroupQueryAttention RotaryEmbedding FusedMatMul FusedConv FusedGemm EmbedLayerNormalization GroupNorm
	QLinearAdd QLinearMul QLinearSigmoid QLinearLeakyRelu QLinearAveragePool QLinearGlobalAveragePool
	QLinearConcat QLinearSoftmax QLinearConv MatMulNBits DequantizeLinear QuantizeLinear NhwcConv Inverse
	BiasSoftmax BiasAdd BiasSplitGelu AdamWOptimizer BatchNormInternal BatchNormalizationGrad BiasGeluGrad_dX
	ConvGrad GatherGrad InPlaceAccumulatorV2 LayerNormalizationGrad ReluGrad Scale SoftmaxCrossEntropyLossGrad
	SoftmaxGrad_13`

func TestContrib(t *testing.T) {
	names := Ops("com.microsoft")
	for _, name := range strings.Fields(contrib) {
		if op, ok := Lookup("com.microsoft", name, 1); !ok || len(op.Inputs) == 0 || !slices.Contains(names, name) {
			t.Errorf("%s: found %v", name, op)
		}
	}
}

func TestNames(t *testing.T) {
	if got := Versions("ai.onnx", "Resize"); !slices.Equal(got, []int64{10, 11, 13, 18, 19}) {
		t.Errorf("versions of Resize: %v", got)
	}
	if got := Versions("", "LayerNormalization"); !slices.Equal(got, []int64{1, 17}) {
		t.Errorf("versions of LayerNormalization: %v", got)
	}
	if got := Versions("", "Nothing"); got != nil {
		t.Errorf("versions of no operator: %v", got)
	}
	names := Ops("ai.onnx")
	if len(names) < 200 || !slices.IsSorted(names) || !slices.Contains(names, "Xor") || slices.Contains(names, "Gemm ") {
		t.Errorf("%d operators: %v", len(names), names)
	}
	if got := Ops("nowhere"); got != nil {
		t.Errorf("operators of no domain: %v", got)
	}
}

// TestLookupAllocates holds a repeated look-up free of memory: it is made once per node.
func TestLookupAllocates(t *testing.T) {
	mustLookup(t, "Resize", 19)
	if n := testing.AllocsPerRun(100, func() { Lookup("", "Resize", 19) }); n > 0 {
		t.Errorf("a look-up makes %v allocations", n)
	}
}

func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		Lookup("", "Resize", 19)
	}
}

func BenchmarkParse(b *testing.B) {
	table := tables()[0]
	line := table.line(table.after("", "Resize", 19) - 1)
	for b.Loop() {
		if _, err := parseOp(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	for b.Loop() {
		newTable(onnxText, false)
	}
}
