package analyze

import (
	"fmt"
	"slices"
	"sync"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/schema"
	"github.com/amplint/amplint/numfmt"
)

// Target is what a model is checked for: a format it is to run in, or the formats it holds.
type Target uint8

// The targets. Auto takes a model that holds float16, bfloat16 or float8 values as it is, and any
// other as if it ran in fp16.
const (
	Auto Target = iota
	FP16
	BF16
	E4M3FN
	E5M2
	FP32
	AsIs
)

var targetNames = []string{"auto", "fp16", "bf16", "fp8e4m3fn", "fp8e5m2", "fp32", "as-is"}

// String returns the target as --target takes it.
func (t Target) String() string { return targetNames[t] }

// ParseTarget reads a value of --target.
func ParseTarget(s string) (Target, error) {
	i := slices.Index(targetNames, s)
	if i < 0 {
		return Auto, fmt.Errorf("unknown target %q: want one of %v", s, targetNames)
	}
	return Target(i), nil
}

// format returns the format of a target that names one.
func (t Target) format() numfmt.Format {
	return [...]numfmt.Format{FP16: numfmt.FP16, BF16: numfmt.BF16, E4M3FN: numfmt.E4M3FN, E5M2: numfmt.E5M2, FP32: numfmt.FP32, AsIs: numfmt.Invalid}[t]
}

// resolve makes a target definite for a model whose types are known.
func (t Target) resolve(m *graph.Model) Target {
	if t != Auto {
		return t
	}
	if lowest(m) != numfmt.FP32 {
		return AsIs
	}
	return FP16
}

// scaled tells whether numbers of the target take scales, which only an estimate tells to be good ones: a
// bound alone may be far from all there is.
func (t Target) scaled() bool { return t == E4M3FN || t == E5M2 }

// foreign tells whether the target is a format of 16 bits, and the model holds the other one alone.
func (t Target) foreign(m *graph.Model) bool {
	switch t {
	case FP16:
		return holds(m, graph.BFloat16) && !holds(m, graph.Float16)
	case BF16:
		return holds(m, graph.Float16) && !holds(m, graph.BFloat16)
	}
	return false
}

// lowest returns the narrowest format that a value of the model is held in, FP32 where no value is
// below it.
func lowest(m *graph.Model) numfmt.Format {
	low := numfmt.FP32
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if f, ok := held(v); ok && f.Max() < low.Max() {
				low = f
			}
		}
	}
	return low
}

// held returns the low format that a value has in the file.
func held(v *graph.Value) (numfmt.Format, bool) {
	if v.Type.Kind != graph.KindTensor {
		return numfmt.Invalid, false
	}
	f, ok := v.Type.Elem.Format()
	return f, ok && f != numfmt.FP32 && f != numfmt.FP64
}

// holder returns the function that tells in which low format a value is held, or would be after
// narrowing to the target.
func (t Target) holder() func(*graph.Value) (numfmt.Format, bool) {
	switch t {
	case AsIs:
		return held
	case FP32:
		return func(v *graph.Value) (numfmt.Format, bool) {
			return numfmt.FP32, v.Type.Float() && v.Type.Elem != graph.Double
		}
	case E4M3FN, E5M2:
		// The operands of the heavy operators would be quantised with scales made from their ranges,
		// so that nothing saturates; all else stays as it is.
		return held
	}
	pinned := pins()
	return func(v *graph.Value) (numfmt.Format, bool) {
		if f, ok := held(v); ok && f.Bits() < 16 {
			return f, true
		}
		return t.format(), v.Type.Float() && v.Type.Elem != graph.Double && v.Type.Elem.Bits() >= 16 && !pinned(v)
	}
}

// pins returns [pinned] for a model that does not change meanwhile, and asks once for each value; several goroutines
// may call it.
func pins() func(*graph.Value) bool {
	var known sync.Map
	return func(v *graph.Value) bool {
		yes, ok := known.Load(v)
		if !ok {
			yes = pinned(v)
			known.Store(v, yes)
		}
		return yes == true
	}
}

// pinned tells whether the standard allows the value in FP32 only, by its maker or by all its
// readers (the scales of Resize for one). What is summed up in FP32 because there is no other kernel, as by CumSum
// before opset 14, is stored low all the same where it is read low.
func pinned(v *graph.Value) bool {
	if v.Producer != nil {
		op, ok := schema.Lookup(v.Producer.Domain, v.Producer.Op, v.Producer.Version())
		if ok && op.OutputPinnedFloat(v.Index) && !(v.Producer.Op == "CumSum" && len(v.Uses) > 0) {
			return true
		}
	}
	for _, u := range v.Uses {
		op, ok := schema.Lookup(u.Node.Domain, u.Node.Op, u.Node.Version())
		if !ok || !op.PinnedFloat(u.Index) {
			return false
		}
	}
	return len(v.Uses) > 0
}
