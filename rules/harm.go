package rules

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
)

// damage is what is wrong with some elements of a value: they are infinite where they should be
// large and finite.
type damage struct {
	pos, neg bool
	// whole tells that all elements of a row may be damaged at once, as under a mask that an input
	// can close altogether.
	whole bool
	// least is what the damaged elements should be at least, by magnitude: a function that saturates
	// there already does not notice.
	least float64
}

// signs returns the damage with other signs.
func (d damage) signs(pos, neg bool) damage {
	d.pos, d.neg = pos, neg
	return d
}

// scaled returns the damage after a function of the magnitude.
func (d damage) scaled(least float64) damage {
	d.least = math.Max(least, 0)
	return d
}

// plus returns the damage after a number of the range was added, which may pull it towards 0.
func (d damage) plus(r rangeprop.Range) damage {
	if d.neg {
		d.least -= math.Max(r.Hi, 0)
	}
	if d.pos {
		d.least -= math.Max(-r.Lo, 0)
	}
	return d.scaled(d.least)
}

// harm is what damage does to the output, mildest first.
type harm uint8

const (
	harmless harm = iota
	wrong         // finite and wrong
	broken        // Inf or NaN
)

func (h harm) consequence() string { return [...]string{Absorbed, Silent, Visible}[h] }

// follow is one walk of damage through the readers of values.
type follow struct {
	p    *Pass
	seen map[*graph.Value]damage
	left int // nodes still to be looked at; past them the worst is taken
}

// harmOf follows damaged elements of a value to the outputs and returns the worst they do there.
func (p *Pass) harmOf(v *graph.Value, d damage) harm {
	f := &follow{p: p, seen: map[*graph.Value]damage{}, left: 400}
	return f.value(v, d)
}

// harmAt is harmOf for one reader only.
func (p *Pass) harmAt(u graph.Use, d damage) harm {
	f := &follow{p: p, seen: map[*graph.Value]damage{}, left: 400}
	return f.use(u, d)
}

func (f *follow) value(v *graph.Value, d damage) harm {
	if s, ok := f.seen[v]; ok && s == d {
		return harmless // counted where it was met first
	}
	f.seen[v] = d
	uses, output := flow(v)
	worst := harmless
	if output {
		worst = broken
	}
	for _, u := range uses {
		if f.left--; f.left < 0 || worst == broken {
			return broken
		}
		worst = max(worst, f.use(u, d))
	}
	return worst
}

// use follows damage through one reader.
func (f *follow) use(u graph.Use, d damage) harm {
	n := u.Node
	if n.Domain != "" && n.Domain != "ai.onnx" {
		return f.contrib(u, d)
	}
	if carries(u) {
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
	case "ReduceMax", "ReduceMin", "MaxPool", "GlobalMaxPool":
		return f.extreme(n, d)
	case "ArgMax", "ArgMin", "TopK":
		return f.order(n, d)
	case "Trilu", "Pad", "ScatterND", "ScatterElements", "GatherND", "GatherElements", "DepthToSpace", "SpaceToDepth", "Dropout", "Cast", "CastLike":
		return f.outputs(n, d)
	case "ReduceSum", "ReduceMean", "CumSum", "AveragePool", "GlobalAveragePool", "ReduceLogSumExp":
		return f.outputs(n, d)
	case "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "Shape", "Size", "IsNaN":
		return harmless // the order of the numbers is the same
	case "BatchNormalization":
		if u.Index == 4 {
			return wrong // divided by infinity, every channel is its bias
		}
	case "IsInf":
		return wrong
	}
	return broken // sums of products, norms and what is not known: Inf - Inf, 0·Inf
}

func (f *follow) contrib(u graph.Use, d damage) harm {
	switch u.Node.Op {
	case "Gelu", "FastGelu", "QuickGelu", "BiasGelu":
		return f.outputs(u.Node, d.signs(d.pos, false))
	}
	return broken
}

func (f *follow) outputs(n *graph.Node, d damage) harm {
	worst := harmless
	for _, o := range n.Outputs {
		if o != nil && worst < broken && (d.pos || d.neg) {
			worst = max(worst, f.value(o, d))
		}
	}
	return worst
}

// saturation is the argument from which on these functions are constant to every format's
// precision.
var saturation = map[string]float64{"Tanh": 9, "Sigmoid": 18, "Erf": 4, "HardSigmoid": 6, "Sign": 0, "Atan": 4096, "Softsign": 4096}

// pointwise follows damage through functions of one value.
func (f *follow) pointwise(u graph.Use, d damage) (harm, bool) {
	n := u.Node
	if from, ok := saturation[n.Op]; ok {
		if d.least >= from {
			return harmless, true
		}
		return wrong, true
	}
	switch n.Op {
	case "Exp":
		if d.neg && d.least < 18 {
			return wrong, true
		}
		return f.outputs(n, d.signs(d.pos, false)), true
	case "Relu", "Elu", "Selu", "Celu", "Softplus", "Gelu", "HardSwish", "Mish", "Swish":
		return f.outputs(n, d.signs(d.pos, false)), true
	case "Log":
		return f.outputs(n, d.scaled(math.Log(math.Max(d.least, 1)))), true
	case "Sqrt":
		return f.outputs(n, d.scaled(math.Sqrt(d.least))), true
	case "LeakyRelu", "PRelu":
		return f.outputs(n, d.scaled(0)), true
	case "Floor", "Ceil", "Round", "Identity", "ThresholdedRelu":
		return f.outputs(n, d), true
	case "Neg":
		return f.outputs(n, d.signs(d.neg, d.pos)), true
	case "Abs":
		return f.outputs(n, d.signs(true, false)), true
	case "Reciprocal":
		return wrong, true
	}
	return harmless, false
}

// arithmetic follows damage through sums, products and quotients. A product with a number that may
// be 0 is NaN.
func (f *follow) arithmetic(u graph.Use, d damage) harm {
	n := u.Node
	other := n.In(1 - min(u.Index, 1))
	r := f.p.Range(other)
	switch n.Op {
	case "Add", "Sum":
		return f.outputs(n, d.plus(r))
	case "Sub":
		if u.Index == 1 {
			d.pos, d.neg = d.neg, d.pos
		} else {
			r.Lo, r.Hi = -r.Hi, -r.Lo
		}
		return f.outputs(n, d.plus(r))
	case "Mul":
		return f.product(n, other == n.In(u.Index), other, r, d)
	case "Div":
		if u.Index == 1 {
			return wrong // a quotient by infinity is 0
		}
		return f.outputs(n, d.signs(true, true).scaled(d.least/r.MaxAbs()))
	}
	if y, ok := f.p.scalar(n.In(1)); ok && y < 0 && u.Index == 0 {
		return wrong
	}
	if u.Index == 1 {
		return broken
	}
	return f.outputs(n, d.signs(true, true).scaled(0))
}

func (f *follow) product(n *graph.Node, square bool, other *graph.Value, r rangeprop.Range, d damage) harm {
	d = d.scaled(d.least * math.Max(math.Max(r.Lo, -r.Hi), 0))
	switch {
	case square || r.Lo > 0:
		return f.outputs(n, d)
	case r.Hi < 0:
		return f.outputs(n, d.signs(d.neg, d.pos))
	case f.p.gate(other):
		return f.outputs(n, d)
	}
	return broken
}

// gate tells whether a value saturates at a number other than 0 where its own argument is large,
// as tanh(softplus(x)) does.
func (p *Pass) gate(v *graph.Value) bool {
	n := makerOf(v, "Tanh", "Sigmoid", "Erf")
	return n != nil
}

// bounded follows damage through Max, Min and Clip: a bound on the damaged side puts it right.
func (f *follow) bounded(u graph.Use, d damage) harm {
	n := u.Node
	if u.Index > 0 && n.Op == "Clip" {
		return f.looseBound(u, d)
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	switch n.Op {
	case "Clip":
		if l, h, ok := f.p.clip(n); ok {
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
	if d.neg && !math.IsInf(lo, 0) && -lo > d.least || d.pos && !math.IsInf(hi, 0) && hi > d.least {
		return wrong
	}
	return f.outputs(n, d.signs(d.pos && math.IsInf(hi, 0), d.neg && math.IsInf(lo, 0)))
}

// looseBound is for a bound of a Clip that has become infinite: it no longer binds, which changes
// nothing for numbers that the format can hold.
func (f *follow) looseBound(u graph.Use, d damage) harm {
	if u.Index == 1 && d.pos || u.Index == 2 && d.neg {
		return broken
	}
	return harmless
}

// selected follows damage through Where. A branch that is left out wherever its own argument
// overflows does no harm.
func (f *follow) selected(u graph.Use, d damage) harm {
	n := u.Node
	if u.Index == 0 {
		return harmless
	}
	if f.p.guarded(n) && f.p.fromInput(n.In(u.Index), n.In(0)) {
		return harmless
	}
	d.whole = d.whole || f.p.closable(n.In(0), u.Index == 1)
	return f.outputs(n, d)
}

// softmax tells what masked rows come to: -Inf beside finite numbers is exactly 0, a row of
// nothing else is NaN, and so is any +Inf.
func (f *follow) softmax(n *graph.Node, d damage) harm {
	if d.pos || d.whole {
		return broken
	}
	if d.least < 18 {
		return wrong
	}
	if n.Op == "LogSoftmax" {
		return f.outputs(n, d)
	}
	return harmless
}

func (f *follow) extreme(n *graph.Node, d damage) harm {
	if !d.whole && (n.Op != "ReduceMin" && !d.pos || n.Op == "ReduceMin" && !d.neg) {
		return harmless
	}
	return f.outputs(n, d)
}

// order is for the position of extremes: several infinities are alike.
func (f *follow) order(n *graph.Node, d damage) harm {
	if n.Op != "ArgMin" && d.pos || n.Op == "ArgMin" && d.neg {
		return wrong
	}
	return harmless
}
