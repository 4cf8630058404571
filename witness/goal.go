package witness

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
)

// Harm is what happens to the numbers of a place that breaks.
type Harm uint8

// The harms. In FP32 itself all of them are that an element is not finite.
const (
	NotFinite Harm = iota // an element is infinite, NaN or cut at the limit, and finite in FP32
	Vanished              // an element is 0 or far off, and not so in FP32
	Inexact               // an element is far off, or another integer
	Zeroed                // an element is 0 or not finite, and neither in FP32
)

// Goal is a place of the model that an input is wanted for.
type Goal struct {
	Node  *graph.Node // its results are looked at too; may be nil
	Value *graph.Value
	Harm  Harm
	Guard *graph.Value // the divisor that may come to 0 there; may be nil
	// Absorb asks whether outputs stay right where the harm is done, and not for an input that does it.
	Absorb bool
}

// values lists what is looked at.
func (g *Goal) values() []*graph.Value {
	var list []*graph.Value
	if g.Value != nil {
		list = append(list, g.Value)
	}
	if g.Node != nil {
		for _, v := range g.Node.Outputs {
			if v != nil && v != g.Value {
				list = append(list, v)
			}
		}
	}
	return list
}

// near lists what is looked at and what that is computed from.
func (g *Goal) near() []*graph.Value {
	list := g.values()
	for _, v := range g.values() {
		if v.Producer != nil {
			list = append(list, v.Producer.Inputs...)
		}
	}
	return list
}

// watched lists what a search sees of the model's values.
func (g *Goal) watched() []*graph.Value {
	list := append(g.values(), g.operand(0), g.operand(1), g.Guard)
	seen := map[*graph.Value]bool{nil: true}
	return slices.DeleteFunc(list, func(v *graph.Value) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}

// aims lists what a run must compute for the goal to be judged.
func (g *Goal) aims() []*graph.Value {
	if g.Guard == nil {
		return g.values()
	}
	return append(g.values(), g.Guard)
}

// direct tells whether a wrong output is put down to the harm without a look at what it does by itself:
// not where it is a divisor that is small in any run, or a constant that is infinite in all of them, nor
// where outputs are not finite and the harm is.
func (g *Goal) direct(notFinite bool) bool {
	return g.Guard == nil && (g.Value == nil || g.Value.Const == nil || g.Harm != NotFinite) && (!notFinite || g.Harm == NotFinite)
}

// operand returns input i of the node, nil where there is none.
func (g *Goal) operand(i int) *graph.Value {
	if g.Node == nil {
		return nil
	}
	return g.Node.In(i)
}

// farOff is the error, relative to an element, from which on it is broken.
const farOff = 0.02

// grip tells how clearly a tensor shows a harm.
type grip uint8

const (
	unhurt  grip = iota
	touched      // an element is another number: with a wrong output that may be why
	broken
)

// harmed tells whether a tensor shows the harm, given what it is in FP32 and the format that it is
// held in.
func (h Harm) harmed(want, got *refeval.Tensor, f numfmt.Format) grip {
	worst := unhurt
	for i := range min(want.Len(), got.Len()) {
		worst = max(worst, h.broken(at(want, i), at(got, i), f))
	}
	return worst
}

func (h Harm) broken(want, got float64, f numfmt.Format) grip {
	if !finite(want) || got == want {
		return unhurt
	}
	off := math.Abs(got - want)
	switch {
	case !finite(got):
		return broken
	case h == Zeroed:
		if got == 0 {
			return broken
		}
		return unhurt
	case h == NotFinite:
		if f != numfmt.Invalid && math.Abs(want) >= f.OverflowAt() && math.Abs(got) <= f.Max() {
			return broken // cut at the limit
		}
		return unhurt
	case off > farOff*math.Abs(want), h == Inexact && want == math.Trunc(want) && off >= 0.5:
		return broken
	}
	return touched
}

func finite(x float64) bool { return x-x == 0 }

func at(t *refeval.Tensor, i int) float64 {
	switch {
	case t.F != nil:
		return float64(t.F[i])
	case t.D != nil:
		return t.D[i]
	case t.I != nil:
		return float64(t.I[i])
	}
	return 0
}

// margin tells how close a goal is to its harm, the larger the closer, by a tensor of the run in
// FP32; ok is false for tensors that do not tell.
func (g *Goal) margin(v *graph.Value, t *refeval.Tensor) (score float64, ok bool) {
	if !t.Elem.IsFloat() {
		return 0, false
	}
	if g.Guard != nil {
		return -least(t), v == g.Guard
	}
	x := extremesOf(t)
	if g.Node != nil {
		switch g.Node.Op {
		case "Log", "Sqrt", "Acosh", "Pow":
			return -x.lo, v == g.operand(0)
		case "Div":
			return -least(t), v == g.operand(1)
		case "Reciprocal":
			return -least(t), v == g.operand(0)
		case "Asin", "Acos", "Atanh":
			return math.Max(-x.lo, x.hi), v == g.operand(0)
		}
	}
	if g.Harm == Vanished {
		return -least(t), v == g.Value
	}
	return math.Max(-x.lo, x.hi), v == g.Value
}

// least returns the least magnitude.
func least(t *refeval.Tensor) float64 {
	m := math.Inf(1)
	scan(t, func(f float64) { m = math.Min(m, math.Abs(f)) })
	return m
}
