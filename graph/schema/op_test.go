package schema

import "testing"

// TestOutputType infers output types from the schema alone; the zero Type says that it leaves a choice.
func TestOutputType(t *testing.T) {
	half, float, long := TensorOf(Float16), TensorOf(Float), TensorOf(Int64)
	floats := Type{Kind: Sequence, Elem: Float}
	for _, c := range []struct {
		op    string
		opset int64
		out   int
		in    []Type
		want  Type
	}{
		{"Add", 13, 0, []Type{half, half}, half},
		{"Add", 13, 0, []Type{{}, half}, half},
		{"Add", 13, 0, nil, Type{}},
		{"Add", 13, 1, []Type{half, half}, Type{}},
		{"Relu", 5, 0, []Type{TensorOf(BFloat16)}, TensorOf(BFloat16)},
		{"Shape", 13, 0, nil, long},
		{"Equal", 13, 0, []Type{half, half}, TensorOf(Bool)},
		{"Where", 16, 0, []Type{TensorOf(Bool), {}, half}, half},
		{"Concat", 13, 0, []Type{{}, {}, half}, half},
		{"Split", 13, 5, []Type{half, long}, half},
		{"TopK", 11, 1, []Type{half, long}, long},
		{"Cast", 13, 0, []Type{half}, Type{}},
		{"Constant", 13, 0, nil, Type{}},
		{"Loop", 21, 0, []Type{long, TensorOf(Bool), half}, Type{}},
		{"If", 21, 0, []Type{TensorOf(Bool)}, Type{}},
		{"SequenceAt", 11, 0, []Type{floats, long}, Type{}},
		{"SequenceInsert", 11, 0, []Type{floats, float}, floats},
		{"LayerNormalization", 17, 1, []Type{half, half}, Type{}},
		{"LayerNormalization", 1, 0, []Type{{}, half}, half},
		{"BatchNormalization", 15, 1, []Type{half, half, half, float, float}, float},
		{"QuantizeLinear", 13, 0, []Type{float, float, TensorOf(Int8)}, TensorOf(Int8)},
		{"DynamicQuantizeLinear", 11, 0, []Type{float}, TensorOf(Uint8)},
	} {
		got, ok := mustLookup(t, c.op, c.opset).OutputType(c.out, c.in)
		if got != c.want || ok != (c.want != Type{}) {
			t.Errorf("output %d of %s %d for %v is %v, want %v", c.out, c.op, c.opset, c.in, got, c.want)
		}
	}
}

func TestParams(t *testing.T) {
	loop := mustLookup(t, "Loop", 21)
	tail, ok := loop.Input(9)
	if !ok || tail.Name != "v_initial" || tail.Option != Variadic || !tail.Heterogeneous || tail.MinArity != 0 {
		t.Errorf("tail of Loop: %+v", tail)
	}
	if first, _ := loop.Input(0); first.Option != Optional || first.MinArity != 0 {
		t.Errorf("first input of Loop: %+v", first)
	}
	for _, i := range []int{-1, 2} {
		if p, ok := mustLookup(t, "Add", 13).Input(i); ok {
			t.Errorf("input %d of Add: %+v", i, p)
		}
	}
	concat := mustLookup(t, "Concat", 13)
	if p, _ := concat.Input(7); p.Heterogeneous || p.MinArity != 1 || !concat.Allows(p, TensorOf(BFloat16)) {
		t.Errorf("tail of Concat: %+v", p)
	}
	if concat.Allows(concat.Inputs[0], Type{Kind: Sequence, Elem: Float}) {
		t.Error("Concat allows a sequence")
	}
	if _, ok := mustLookup(t, "Constant", 13).Input(0); ok {
		t.Error("Constant has an input")
	}
	if got := mustLookup(t, "Resize", 19).Inputs[2].Type; got != "tensor(float)" {
		t.Errorf("type of Resize's scales: %s", got)
	}
	if got := mustLookup(t, "Add", 13).Constraint("U"); got != nil {
		t.Errorf("a constraint of Add: %v", got)
	}
}

func TestPinned(t *testing.T) {
	resize, quant := mustLookup(t, "Resize", 19), mustLookup(t, "DynamicQuantizeLinear", 11)
	if !resize.PinnedFloat(2) || resize.PinnedFloat(0) || resize.PinnedFloat(3) || resize.PinnedFloat(4) {
		t.Error("Resize pins its scales alone")
	}
	if !quant.OutputPinnedFloat(1) || quant.OutputPinnedFloat(0) || quant.OutputPinnedFloat(3) {
		t.Error("DynamicQuantizeLinear pins its scale alone")
	}
	if !resize.AllowsElem(0, BFloat16) || resize.AllowsElem(2, Float16) || resize.AllowsElem(4, Float) {
		t.Error("Resize takes bfloat16 but for its scales")
	}
	norm := mustLookup(t, "LayerNormalization", 17)
	if !norm.OutputAllowsElem(0, Float16) || norm.OutputAllowsElem(1, Float16) || norm.OutputAllowsElem(9, Float) {
		t.Error("LayerNormalization yields float16 but for its mean")
	}
}
