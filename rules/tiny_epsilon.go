package rules

import (
	"fmt"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/spread"
	"github.com/amplint/amplint/rules/walk"
)

var tinyEpsilon = Rule{
	Name:  "tiny-epsilon",
	Title: "epsilon vanishes in the format",
	Kind:  Underflow,
	Model: checkTinyEpsilon,
}

func checkTinyEpsilon(p *Pass) {
	for v, s := range walk.Constants(p.Model) {
		f, ok := p.low(v)
		x, one := s.Single()
		if !ok || !one || x <= 0 || f.Round(x) != 0 {
			continue
		}
		uses, through := walk.Readers(v)
		for _, u := range uses {
			if other := guardedBy(u); other != nil {
				checkEpsilonAt(p, epsilon{v, x, f, u, other, through})
			}
		}
	}
}

// epsilon is a constant that keeps another value away from 0, at one of its readers.
type epsilon struct {
	value   *graph.Value
	x       float64
	format  numfmt.Format
	use     graph.Use
	other   *graph.Value
	through []*graph.Value
}

// guardedBy returns the value that a constant keeps away from 0, nil where it has another role.
func guardedBy(u graph.Use) *graph.Value {
	switch {
	case walk.Is(u.Node, "Add", "Max") && len(u.Node.Inputs) == 2:
		return u.Node.In(1 - u.Index)
	case walk.Is(u.Node, "Sub") && u.Index == 1:
		return u.Node.In(0)
	case walk.Is(u.Node, "Clip") && u.Index == 1:
		return u.Node.In(0)
	}
	return nil
}

// checkEpsilonAt reports an epsilon that is gone where the value beside it may be 0 and the result
// is divided by, or its logarithm taken.
func checkEpsilonAt(p *Pass, e epsilon) {
	n := e.use.Node
	sink := singular(n.Out(0))
	if sink == nil || p.known(n, nil) {
		return
	}
	r := p.Range(e.other)
	if r.Lo > e.format.ZeroAt() || r.Hi < -e.format.ZeroAt() {
		return
	}
	f := p.at(n, e.value)
	f.Range, f.Limit = rangeprop.Range{Lo: e.x, Hi: e.x}, e.format.MinSubnormal()
	f.Message = fmt.Sprintf("epsilon %s is %.5g, which is 0 in %s (least %.5g), and %s may be 0", e.value.Name, e.x, e.format, e.format.MinSubnormal(), e.other.Name)
	f.Evidence = Likely
	c := p.unguarded(n.Out(0), sink, e.x, e.x+e.format.ZeroAt())
	if reached := p.comesTo(e.other, e.format.ZeroAt()); reached || c == Absorbed {
		f.Consequence = c
		if reached {
			f.Evidence = Constant
		}
	}
	f.Message += "; " + singularText(sink)
	if f.Consequence == Absorbed {
		f.Message += consequenceText(Absorbed)
	}
	for _, w := range e.through {
		f.Consequences = append(f.Consequences, w.Key())
	}
	f.Edits = p.epsilonEdits(n, e.other)
	p.report(f)
}

// unguarded tells what it does that a value is 0 where it should be between least, a lost epsilon, and most:
// its one reader, through a root or not, divides by it or takes its logarithm.
func (p *Pass) unguarded(v *graph.Value, sink *graph.Node, least, most float64) string {
	d := spread.Damage{Neg: true, Whole: true, Least: -math.Log(least)}
	if !walk.Is(sink, "Log") {
		var ok bool
		if d, ok = p.infinite(v, sink, most); !ok {
			return Visible
		}
	}
	if uses, _ := walk.Flow(v); len(uses) != 1 {
		return Visible
	}
	return consequence(p.harm.Of(sink.Out(0), d))
}

// infinite returns what is wrong with a quotient whose divisor, a value or its root, is 0 where it should be
// small: it is infinite, and should be large. ok is false where it may be another number or NaN.
func (p *Pass) infinite(v *graph.Value, sink *graph.Node, small float64) (d spread.Damage, ok bool) {
	over, least := sink.In(0), 1.0
	switch {
	case walk.Is(sink, "Div"):
		over, least = sink.In(1), p.Range(sink.In(0)).Lo
	case !walk.Is(sink, "Reciprocal"):
		return d, false
	}
	if root := walk.MakerOf(walk.Moved(walk.Plain(over)), "Sqrt"); root != nil && walk.Moved(walk.Plain(over)) != v {
		over, small = root.In(0), math.Sqrt(small)
	}
	if walk.Moved(walk.Plain(over)) != v || p.Range(v).Lo < 0 || least <= 0 {
		return d, false
	}
	return spread.Damage{Pos: true, Whole: true, Least: least / small}, true
}

// comesTo tells whether some input brings a value within z of 0.
func (p *Pass) comesTo(v *graph.Value, z float64) bool {
	r := p.reach.Of(v)
	switch {
	case r.Level() > reach.Unreached:
		return r.Lo.At <= z && r.Hi.At >= -z
	case r.Lo.Level > reach.Unreached:
		return r.Lo.At <= z && r.Lo.At >= -z
	}
	return r.Hi.Level > reach.Unreached && r.Hi.At <= z && r.Hi.At >= -z
}

func singularText(n *graph.Node) string {
	if walk.Is(n, "Log") {
		return "its logarithm is then -Inf"
	}
	return fmt.Sprintf("%s then divides by 0", n.LocalKey())
}

// singular returns the node that a value comes to, through roots and movement, and that has no
// finite result at 0: a division by it, a logarithm, a negative power.
func singular(v *graph.Value) *graph.Node {
	return walk.LeadsTo(v, walk.Through("Sqrt", "Cast", "CastLike", "Pow"), func(u graph.Use) bool {
		return walk.Is(u.Node, "Div") && u.Index == 1 || walk.Is(u.Node, "Reciprocal", "Log") || walk.Is(u.Node, "Pow") && u.Index == 0 && negativePower(u.Node)
	})
}

func negativePower(n *graph.Node) bool {
	t := walk.Source(n.In(1)).Const
	if t == nil || t.Len() != 1 {
		return false
	}
	x, err := t.Float64s()
	return err == nil && x[0] < 0
}

// beside holds what an epsilon is added to where that must be exact.
func (p *Pass) beside(n *graph.Node, other *graph.Value) (edits []rewrite.Edit) {
	difference := walk.MakerOf(walk.Moved(walk.Plain(other)), "Sub")
	sink := singular(n.Out(0))
	if walk.Is(sink, "Log") {
		if e := p.energyOf(other); e != nil {
			return e.edits()
		}
	}
	if !walk.Is(sink, "Log") && difference == nil || walk.Maker(other) == nil || walk.Constant(other) != nil {
		return nil
	}
	if difference != nil {
		for _, in := range difference.Inputs {
			if made := walk.Plain(in); walk.Maker(made) != nil && walk.Constant(made) == nil {
				edits = append(edits, rewrite.Widen{Value: made})
			}
		}
	}
	for w := walk.Source(other); ; w = walk.Source(walk.Maker(w).In(0)) {
		edits = append(edits, rewrite.Widen{Value: w})
		if w == walk.Plain(other) {
			return edits
		}
	}
}

// epsilonEdits holds the sum in FP32 up to the division or logarithm, and what the epsilon is added
// to where its logarithm shows how small it is, or where it is a difference, of which rounding leaves
// nothing as it comes near 0; for a normalisation its whole inside.
func (p *Pass) epsilonEdits(n *graph.Node, other *graph.Value) []rewrite.Edit {
	length := p.lengthEdits(n, other)
	if m := p.Patterns.NormOf(n); m != nil {
		return joined(p.normEdits(m), length)
	}
	edits := joined(p.beside(n, other), length)
	queue := []*graph.Value{n.Out(0)}
	for i := 0; i < len(queue) && i < 32; i++ {
		edits = append(edits, rewrite.Widen{Value: queue[i]})
		uses, _ := walk.Flow(queue[i])
		for _, u := range uses {
			for _, o := range u.Node.Outputs {
				if o != nil && (walk.Is(u.Node, "Sqrt", "Reciprocal", "Pow") || walk.Hands(u)) {
					queue = append(queue, o)
				}
			}
		}
	}
	return edits
}

// joined adds edits that are not there yet.
func joined(edits, more []rewrite.Edit) []rewrite.Edit {
	for _, e := range more {
		if !slices.Contains(edits, e) {
			edits = append(edits, e)
		}
	}
	return edits
}

// maxLength is how many steps a length is computed in at most: a magnitude or square, a sum, a root, a few
// movements.
const maxLength = 8

// smallShare is the part of a model that is held in FP32 for the least of rows, which few models are given.
const smallShare = 0.2

// lengthEdits holds in FP32 how long a row is where the row itself is divided by it: beside a row of FP32,
// one that FP16 holds as 0 would be divided by the epsilon alone. The row is read in FP32 there anyway, so
// that this takes no cast, only nodes that could be low.
func (p *Pass) lengthEdits(n *graph.Node, other *graph.Value) []rewrite.Edit {
	row := dividend(singular(n.Out(0)))
	if row == nil {
		return nil
	}
	var edits []rewrite.Edit
	for v := walk.Moved(walk.Plain(other)); v != row; v = walk.Moved(walk.Plain(walk.Maker(v).In(0))) {
		if len(edits) == maxLength || walk.Constant(v) != nil ||
			!walk.Is(walk.Maker(v), "ReduceL1", "ReduceL2", "ReduceSum", "ReduceMean", "ReduceMax", "ReduceSumSquare", "Abs", "Sqrt", "Mul", "Pow") {
			return nil
		}
		edits = append(edits, rewrite.Widen{Value: v})
	}
	if float64(len(edits)) > smallShare*float64(len(p.places)) {
		return nil
	}
	return edits
}

// dividend returns what a quotient is of, also where a reciprocal is multiplied by it; nil where that is a
// constant, or several values.
func dividend(n *graph.Node) *graph.Value {
	if walk.Is(n, "Div") && walk.Constant(n.In(0)) == nil {
		return walk.Moved(walk.Plain(n.In(0)))
	}
	if !walk.Is(n, "Div", "Reciprocal") {
		return nil
	}
	uses, _ := walk.Flow(n.Out(0))
	for len(uses) == 1 && walk.Hands(uses[0]) {
		uses, _ = walk.Flow(uses[0].Node.Out(0))
	}
	if len(uses) != 1 || !walk.Is(uses[0].Node, "Mul") {
		return nil
	}
	return walk.Moved(walk.Plain(uses[0].Node.In(1 - uses[0].Index)))
}
