package rewrite

import "github.com/amplint/amplint/graph"

// role says what an operator does to the numbers it gets, as far as formats are concerned. When
// groups join, the greater one counts.
type role uint8

const (
	move    role = iota // the same numbers stand in the result
	exact               // exact in any format, but not the same numbers: Relu, Max, comparisons
	compute             // rounds; cheap per element
	heavy               // rounds; the work that low formats are for
)

// moveOps hand elements on. What is held in FP32 on one side must be so on the other.
var moveOps = set("Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Expand", "Tile", "Slice",
	"Gather", "GatherElements", "GatherND", "Split", "Concat", "DepthToSpace", "SpaceToDepth", "Dropout", "ReverseSequence",
	"Pad", "Scatter", "ScatterElements", "ScatterND", "TensorScatter", "Where", "Compress", "Neg", "Abs", "Trilu", "CenterCropPad",
	"Cast", "CastLike", "ConstantOfShape", "EyeLike", "SequenceAt", "SequenceConstruct", "SequenceErase", "SequenceInsert", "SplitToSequence",
	"ConcatFromSequence", "Optional", "OptionalGetElement", "OptionalHasElement", "SequenceEmpty", "SequenceLength")

var exactOps = set("Relu", "Max", "Min", "Clip", "MaxPool", "GlobalMaxPool", "ReduceMax", "ReduceMin", "TopK", "Sign",
	"ArgMax", "ArgMin", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "IsNaN", "IsInf", "NonZero", "Not",
	"Shape", "Size", "OneHot", "Ceil", "Floor", "Round", "MaxUnpool", "Unique")

var heavyOps = set("MatMul", "Gemm", "Conv", "ConvTranspose", "DeformConv", "CausalConvWithState", "Einsum", "LSTM", "GRU", "RNN",
	"Attention", "FlexAttention", "LinearAttention")

// independentOps have inputs and outputs that need not share a format even where both may be
// float: the output's type is an attribute, or follows another input.
var independentOps = set("Cast", "CastLike", "EyeLike", "RandomNormalLike", "RandomUniformLike", "Bernoulli")

// frozenOps keep the types they have, and why.
var frozenOps = map[string]string{
	"BitCast":  "BitCast reinterprets the bits it has",
	"Gradient": "Gradient names values in its attributes",
}

// floatOnlyOps have no kernel for halves in onnxruntime, which inserts casts for others but not
// where the type is an attribute. What they make is small, so they stay FP32. The body that the standard gives
// MeanVarianceNormalization has constants in float, which the checker refuses beside halves.
var floatOnlyOps = set("MelWeightMatrix", "EyeLike", "MeanVarianceNormalization")

// floatOnly tells whether the node would not run on halves in onnxruntime: the operators above,
// and scattering with a reduction, a sum of unknown length that is better off in FP32 anyway.
func floatOnly(n *graph.Node) bool {
	scatter := n.Op == "ScatterND" || n.Op == "ScatterElements"
	return floatOnlyOps[n.Op] || scatter && n.Str("reduction", "none") != "none"
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

func roleOf(n *graph.Node) role {
	if n.Domain != "" && n.Domain != "ai.onnx.preview" { // contrib operators are fused blocks
		return heavy
	}
	switch {
	case moveOps[n.Op]:
		return move
	case exactOps[n.Op]:
		return exact
	case heavyOps[n.Op]:
		return heavy
	}
	return compute
}
