package spread

import (
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/walk"
)

// free tells whether a value depends on an input of the model through operators that keep single
// elements free: casts, arithmetic with constants, comparisons, movement. An input that its range
// leaves no choice is not free.
//
// A padding mask counts where sequences may be empty, and where it runs along the rows that are
// masked, as in m·mᵀ: the row of a place that is padded is closed then, whatever else is open.
func (p Walk) free(v *graph.Value) bool {
	seen := map[reached]bool{}
	level := []reached{{v, p.EmptySequences}}
	for range maskDepth {
		var next []reached
		for _, r := range level {
			r.value = walk.Source(r.value)
			if r.value == nil || seen[r] || walk.Constant(r.value) != nil {
				continue
			}
			seen[r] = true
			n := r.value.Producer
			if n == nil && p.chosen(r.value) && (r.padding || !Padding(p.Model, r.value)) {
				return true
			}
			if n == nil || !keepsFree(n.Op) {
				continue
			}
			for _, in := range n.Inputs {
				if in != nil {
					next = append(next, reached{in, r.padding || column(in, r.value)})
				}
			}
		}
		level = next
	}
	return false
}

// reached is a value on the way back from a mask, and whether a padding mask counts there.
type reached struct {
	value   *graph.Value
	padding bool
}

// maskDepth is how many values a way back from a mask may have.
const maskDepth = 25

func keepsFree(op string) bool {
	switch op {
	case "Cast", "Identity", "Unsqueeze", "Squeeze", "Reshape", "Expand", "Transpose", "Slice", "Gather", "Not", "Sub", "Mul", "Add", "Equal", "Greater",
		"GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Where", "Tile", "Neg", "Flatten", "CastLike", "Max", "Min",
		"GatherND", "GatherElements", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseNot", "Trilu", "Pad", "Concat", "Split", "Clip":
		return true
	}
	return false
}

// chosen tells whether a value is an input of the model, and its range leaves a choice.
func (p Walk) chosen(v *graph.Value) bool {
	if !v.Input || v.Graph.Owner != nil {
		return false
	}
	r := p.Range(v)
	return r.Lo != r.Hi
}

// column tells whether an operand has one element for each row of the scores that the result belongs
// to: all of the row stand or fall with it.
func column(in, out *graph.Value) bool {
	s, t := in.Type.Shape, out.Type.Shape
	last := len(s) - 1
	return last >= 2 && len(t) > last && single(s[last]) && !single(s[last-1]) && !single(t[len(t)-1])
}

func single(d graph.Dim) bool { return d.Known() && d.N == 1 }

// Closable tells whether a mask can be the same for a whole row: it comes from an input, or is a
// constant that is so in some row. A mask the model makes itself, such as a causal one, leaves
// every row at least one place, and so does, unless empty sequences are asked for, the padding
// mask of a model of tokens.
//
// A condition closes where it is false; inverted, where it is true.
func (p Walk) Closable(mask *graph.Value, inverted bool) bool {
	if t := walk.Constant(mask); t != nil {
		return t.Elem == graph.Bool && ClosedRow(t, func(x float64) bool { return (x != 0) == inverted })
	}
	return p.free(mask)
}

// ClosedRow tells whether some row of a constant, along its last axis, holds closed elements only.
// A single number is no row: it stands for as many as the other operand has.
func ClosedRow(t *graph.Tensor, closed func(float64) bool) bool {
	if len(t.Dims) == 0 || t.Len() < 2 || t.Len() > walk.MaxWeights {
		return false
	}
	data, err := t.Float64s()
	if err != nil {
		return false
	}
	width := int(t.Dims[len(t.Dims)-1])
	for at := 0; at < len(data); at += width {
		all := true
		for _, x := range data[at : at+width] {
			all = all && closed(x)
		}
		if all {
			return true
		}
	}
	return false
}

// guarded tells whether the condition of a Where compares something, as in x > 0 ? x : exp(x) - 1.
func guarded(n *graph.Node) bool {
	return walk.MakerOf(n.In(0), "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "And", "Or", "IsInf") != nil
}

// fromInput tells whether the condition compares a value that the branch was computed from.
func fromInput(branch, cond *graph.Value) bool {
	bases := map[*graph.Value]bool{}
	collect(branch, bases, 8)
	c := walk.Maker(walk.Plain(cond))
	for c != nil && walk.Is(c, "Not", "And", "Or") {
		c = walk.Maker(walk.Plain(c.In(0)))
	}
	if c == nil {
		return false
	}
	for _, in := range c.Inputs {
		for v := in; v != nil && walk.Constant(v) == nil; v = argument(v) {
			if bases[walk.Plain(v)] {
				return true
			}
		}
	}
	return false
}

// argument returns the one value that a value is a function of, as |d| is of d and 2d + 1 is; nil for others.
func argument(v *graph.Value) *graph.Value {
	n := walk.Maker(walk.Plain(v))
	switch {
	case walk.Is(n, "Abs", "Neg", "Sqrt"):
		return n.In(0)
	case walk.Is(n, "Add", "Sub", "Mul", "Div", "Pow") && walk.Constant(n.In(1)) != nil:
		return n.In(0)
	case walk.Is(n, "Add", "Sub", "Mul") && walk.Constant(n.In(0)) != nil:
		return n.In(1)
	}
	return nil
}

// collect gathers the values that v is computed from, up to a number of steps back.
func collect(v *graph.Value, into map[*graph.Value]bool, steps int) {
	v = walk.Plain(v)
	if v == nil || steps == 0 || into[v] {
		return
	}
	into[v] = true
	if v.Producer == nil {
		return
	}
	for _, in := range v.Producer.Inputs {
		if in != nil {
			collect(in, into, steps-1)
		}
	}
}

// Padding tells whether an input is the padding mask of token ids: whole numbers that look up nothing,
// and the shape may be that of an input that looks up rows of a table. A sequence without any token is
// not what such a model is made for.
func Padding(m *graph.Model, v *graph.Value) bool {
	if !v.Type.Elem.IsInt() || len(v.Type.Shape) != 2 || looksUp(v) {
		return false
	}
	return slices.ContainsFunc(m.Graph.Inputs, func(in *graph.Value) bool {
		return in != v && in.Type.Elem.IsInt() && fits(in.Type.Shape, v.Type.Shape) && looksUp(in)
	})
}

// looksUp tells whether an input chooses rows of a table.
func looksUp(v *graph.Value) bool {
	uses, _ := walk.Readers(v)
	return slices.ContainsFunc(uses, func(u graph.Use) bool {
		return walk.Is(u.Node, "Gather") && u.Index == 1 && walk.Constant(u.Node.In(0)) != nil
	})
}

// fits tells whether two shapes may be the same: exporters give each input names of its own for the
// sizes they leave open.
func fits(a, b graph.Shape) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Known() && b[i].Known() && a[i].N != b[i].N {
			return false
		}
	}
	return true
}
