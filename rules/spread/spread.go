// Package spread follows damaged elements through the readers of a value to the outputs, and tells
// what they do there: nothing, a wrong number, or Inf and NaN.
package spread

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rules/walk"
)

// Damage is what is wrong with some elements of a value: they are infinite where they should be
// large and finite.
type Damage struct {
	Pos, Neg bool
	// Whole tells that all elements of a row may be damaged at once, as under a mask that an input
	// can close altogether.
	Whole bool
	// Least is what the damaged elements should be at least, by magnitude: a function that saturates
	// there already does not notice.
	Least float64
}

// signs returns the damage with other signs.
func (d Damage) signs(pos, neg bool) Damage {
	d.Pos, d.Neg = pos, neg
	return d
}

// scaled returns the damage after a function of the magnitude.
func (d Damage) scaled(least float64) Damage {
	d.Least = math.Max(least, 0)
	return d
}

// plus returns the damage after a number of the range was added, which may pull it towards 0.
func (d Damage) plus(r rangeprop.Range) Damage {
	if d.Neg {
		d.Least -= math.Max(r.Hi, 0)
	}
	if d.Pos {
		d.Least -= math.Max(-r.Lo, 0)
	}
	return d.scaled(d.Least)
}

// Harm is what damage does to the output, mildest first.
type Harm uint8

// The degrees of harm.
const (
	Harmless Harm = iota
	Wrong         // finite and wrong
	Broken        // Inf or NaN
)

// Walk follows damage through one model.
type Walk struct {
	Model *graph.Model
	// Range bounds a value; everything where nothing is known.
	Range func(*graph.Value) rangeprop.Range
	// Reached returns the largest magnitude that some input certainly takes a value to, 0 where nothing is
	// known; it may be nil.
	Reached func(*graph.Value) float64
	// EmptySequences lets a padding mask close a whole row.
	EmptySequences bool
	// ClosedRows tells that an attention takes rows that its mask closes throughout for what they were.
	ClosedRows bool
}

// follow is one walk of damage through the readers of values.
type follow struct {
	p    Walk
	seen map[*graph.Value]Damage
	left int // nodes still to be looked at; past them the worst is taken
}

// Of follows damaged elements of a value to the outputs and returns the worst they do there.
func (p Walk) Of(v *graph.Value, d Damage) Harm {
	f := &follow{p: p, seen: map[*graph.Value]Damage{}, left: 400}
	return f.value(v, d)
}

// At is Of for one reader only.
func (p Walk) At(u graph.Use, d Damage) Harm {
	f := &follow{p: p, seen: map[*graph.Value]Damage{}, left: 400}
	return f.use(u, d)
}

func (f *follow) value(v *graph.Value, d Damage) Harm {
	if walk.Empty(v) {
		return Harmless
	}
	if s, ok := f.seen[v]; ok && s == d {
		return Harmless // counted where it was met first
	}
	f.seen[v] = d
	uses, output := walk.Flow(v)
	worst := Harmless
	if output {
		worst = Broken
	}
	for _, u := range uses {
		if f.left--; f.left < 0 || worst == Broken {
			return Broken
		}
		worst = max(worst, f.use(u, d))
	}
	return worst
}

// use follows damage through one reader.
func (f *follow) use(u graph.Use, d Damage) Harm {
	n := u.Node
	if n.Domain != "" && n.Domain != "ai.onnx" {
		return f.contrib(u, d)
	}
	d.Whole = d.Whole && !walk.Lengthens(u)
	if walk.Carries(u) {
		return f.outputs(n, d)
	}
	if h, ok := f.pointwise(u, d); ok {
		return h
	}
	switch n.Op {
	case "Add", "Sub", "Sum", "Mul", "Div", "Pow":
		return f.arithmetic(u, d)
	case "Max", "Min", "Clip":
		return f.bounded(u, d)
	case "Where":
		return f.selected(u, d)
	case "Softmax", "LogSoftmax", "Hardmax":
		return f.softmax(n, d)
	case "Attention":
		if u.Index == 3 {
			return f.attention(d)
		}
	case "ReduceMax", "ReduceMin", "MaxPool", "GlobalMaxPool":
		return f.extreme(n, d)
	case "ArgMax", "ArgMin", "TopK":
		return f.order(n, d)
	case "Trilu", "Pad", "ScatterND", "ScatterElements", "GatherND", "GatherElements", "DepthToSpace", "SpaceToDepth", "Dropout", "Cast", "CastLike":
		return f.outputs(n, d)
	case "ReduceSum", "ReduceMean":
		return f.outputs(n, f.reduced(n, d))
	case "CumSum", "AveragePool", "GlobalAveragePool", "ReduceLogSumExp":
		return f.outputs(n, d)
	case "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "Shape", "Size", "IsNaN":
		return Harmless // the order of the numbers is the same
	case "BatchNormalization":
		if u.Index == 4 {
			return Wrong // divided by infinity, every channel is its bias
		}
	case "IsInf":
		return Wrong
	}
	return Broken // sums of products, norms and what is not known: Inf - Inf, 0·Inf
}

// scoreBias is the input of onnxruntime's attentions that is added to the scores.
var scoreBias = map[string]int{
	"Attention": 5, "MultiHeadAttention": 5, "GroupQueryAttention": 10, "PackedAttention": 5, "PackedMultiHeadAttention": 6,
	"DecoderMaskedSelfAttention": 5, "DecoderMaskedMultiHeadAttention": 4,
}

// AddsToScores tells whether an attention of onnxruntime adds the value to its scores.
func AddsToScores(u graph.Use) bool {
	i, ok := scoreBias[u.Node.Op]
	return ok && u.Index == i && u.Node.Domain == "com.microsoft"
}

func (f *follow) contrib(u graph.Use, d Damage) Harm {
	switch u.Node.Op {
	case "Gelu", "FastGelu", "QuickGelu", "BiasGelu":
		return f.outputs(u.Node, d.signs(d.Pos, false))
	}
	if AddsToScores(u) {
		return f.attention(d)
	}
	return Broken
}

func (f *follow) outputs(n *graph.Node, d Damage) Harm {
	worst := Harmless
	for _, o := range n.Outputs {
		if o != nil && worst < Broken && (d.Pos || d.Neg) {
			worst = max(worst, f.value(o, d))
		}
	}
	return worst
}

// saturation is the argument from which on these functions are constant to the precision of 16 bits,
// at an end that is 0 to its least number.
var saturation = map[string]float64{"Tanh": 5, "Sigmoid": 18, "Erf": 3, "HardSigmoid": 6, "Sign": 0, "Atan": 4096, "Softsign": 4096}

// pointwise follows damage through functions of one value.
func (f *follow) pointwise(u graph.Use, d Damage) (Harm, bool) {
	n := u.Node
	if from, ok := saturation[n.Op]; ok {
		if d.Least >= from {
			return Harmless, true
		}
		return Wrong, true
	}
	switch n.Op {
	case "Exp":
		if d.Neg && d.Least < 18 {
			return Wrong, true
		}
		return f.outputs(n, d.signs(d.Pos, false)), true
	case "Relu", "Elu", "Selu", "Celu", "Softplus", "Gelu", "HardSwish", "Mish", "Swish":
		return f.outputs(n, d.signs(d.Pos, false)), true
	case "Log":
		return f.outputs(n, d.scaled(math.Log(math.Max(d.Least, 1)))), true
	case "Sqrt":
		return f.outputs(n, d.scaled(math.Sqrt(d.Least))), true
	case "LeakyRelu", "PRelu":
		return f.outputs(n, d.scaled(0)), true
	case "Floor", "Ceil", "Round", "Identity", "ThresholdedRelu":
		return f.outputs(n, d), true
	case "Neg":
		return f.outputs(n, d.signs(d.Neg, d.Pos)), true
	case "Abs":
		return f.outputs(n, d.signs(true, false)), true
	case "Reciprocal":
		return f.quotient(n, n.In(0), d), true
	}
	return Harmless, false
}

// arithmetic follows damage through sums, products and quotients. A product with a number that may
// be 0 is NaN.
func (f *follow) arithmetic(u graph.Use, d Damage) Harm {
	n := u.Node
	other := n.In(1 - min(u.Index, 1))
	r := f.p.Range(other)
	switch n.Op {
	case "Add", "Sum":
		return f.outputs(n, d.plus(r))
	case "Sub":
		if u.Index == 1 {
			d.Pos, d.Neg = d.Neg, d.Pos
		} else {
			r.Lo, r.Hi = -r.Hi, -r.Lo
		}
		return f.outputs(n, d.plus(r))
	case "Mul":
		return f.product(n, other == n.In(u.Index), other, r, d)
	case "Div":
		if u.Index == 1 {
			return f.quotient(n, n.In(1), d)
		}
		return f.outputs(n, d.signs(true, true).scaled(d.Least/r.MaxAbs()))
	}
	if y, ok := walk.Scalar(n.In(1)); ok && y < 0 && u.Index == 0 {
		return Wrong
	}
	if u.Index == 1 {
		return Broken
	}
	return f.outputs(n, d.signs(true, true).scaled(0))
}

func (f *follow) product(n *graph.Node, square bool, other *graph.Value, r rangeprop.Range, d Damage) Harm {
	d = d.scaled(d.Least * math.Max(math.Max(r.Lo, -r.Hi), 0))
	switch {
	case square || r.Lo > 0:
		return f.outputs(n, d)
	case r.Hi < 0:
		return f.outputs(n, d.signs(d.Neg, d.Pos))
	case gate(other):
		return f.outputs(n, d)
	}
	return Broken
}

// gate tells whether a value saturates at a number other than 0 where its own argument is large,
// as tanh(softplus(x)) does.
func gate(v *graph.Value) bool {
	n := walk.MakerOf(v, "Tanh", "Sigmoid", "Erf")
	return n != nil
}

// bounded follows damage through Max, Min and Clip: a bound on the damaged side puts it right.
func (f *follow) bounded(u graph.Use, d Damage) Harm {
	n := u.Node
	if u.Index > 0 && n.Op == "Clip" {
		return f.looseBound(u, d)
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	switch n.Op {
	case "Clip":
		if l, h, ok := walk.Clip(n); ok {
			lo, hi = l, h
		}
	case "Max", "Min":
		for i, v := range n.Inputs {
			r := f.p.Range(v)
			switch {
			case i == u.Index || v == nil:
			case n.Op == "Max":
				lo = math.Max(lo, r.Lo)
			default:
				hi = math.Min(hi, r.Hi)
			}
		}
	}
	if d.Neg && !math.IsInf(lo, 0) && -lo > d.Least || d.Pos && !math.IsInf(hi, 0) && hi > d.Least {
		return Wrong
	}
	return f.outputs(n, d.signs(d.Pos && math.IsInf(hi, 0), d.Neg && math.IsInf(lo, 0)))
}

// looseBound is for a bound of a Clip that has become infinite: it no longer binds, which changes
// nothing for numbers that the format can hold.
func (f *follow) looseBound(u graph.Use, d Damage) Harm {
	if u.Index == 1 && d.Pos || u.Index == 2 && d.Neg {
		return Broken
	}
	return Harmless
}

// selected follows damage through Where. A branch that is left out wherever its own argument
// overflows does no harm.
func (f *follow) selected(u graph.Use, d Damage) Harm {
	n := u.Node
	if u.Index == 0 {
		return Harmless
	}
	if guarded(n) && fromInput(n.In(u.Index), n.In(0)) {
		return Harmless
	}
	d.Whole = d.Whole || f.p.Closable(n.In(0), u.Index == 1)
	return f.outputs(n, d)
}

// softmax tells what masked rows come to: -Inf beside finite numbers is exactly 0, a row of
// nothing else is NaN, and so is any +Inf.
func (f *follow) softmax(n *graph.Node, d Damage) Harm {
	if d.Pos || d.Whole {
		return Broken
	}
	if d.Least < 18 {
		return Wrong
	}
	if n.Op == "LogSoftmax" {
		return f.outputs(n, d)
	}
	return Harmless
}

// attention tells what a mask that an attention adds to its scores comes to: as before a softmax, but for rows that it
// closes throughout, which some kernels fill with zeros.
func (f *follow) attention(d Damage) Harm {
	if d.Pos || d.Whole && !f.p.ClosedRows {
		return Broken
	}
	if d.Least < 18 {
		return Wrong
	}
	return Harmless
}

func (f *follow) extreme(n *graph.Node, d Damage) Harm {
	if !d.Whole && (n.Op != "ReduceMin" && !d.Pos || n.Op == "ReduceMin" && !d.Neg) {
		return Harmless
	}
	return f.outputs(n, d)
}

// order is for the position of extremes: several infinities are alike.
func (f *follow) order(n *graph.Node, d Damage) Harm {
	if n.Op != "ArgMin" && d.Pos || n.Op == "ArgMin" && d.Neg {
		return Wrong
	}
	return Harmless
}

// reduced returns the damage after a sum or mean. The elements beside it may pull the result towards 0, and
// a mean takes its share of it only: exp(mean(log x)) is no small number where one x is.
func (f *follow) reduced(n *graph.Node, d Damage) Damage {
	count, rest := walk.ReducedCount(n), f.p.Range(n.In(0))
	if count == 1 {
		return d
	}
	for _, end := range []*float64{&rest.Lo, &rest.Hi} {
		if *end *= count - 1; math.IsInf(*end, 0) { // nothing is known of it
			*end = 0
		}
	}
	if d = d.plus(rest); n.Op == "ReduceMean" {
		d = d.scaled(d.Least / count)
	}
	return d
}
