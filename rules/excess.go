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

// excess is a value that may pass the limit of its format.
type excess struct {
	value    *graph.Value
	format   numfmt.Format
	bound    rangeprop.Range
	worst    float64 // the end that passes the limit furthest: reached, or else the bound's
	evidence Evidence
	damage   spread.Damage
	seen     bool    // in a run
	right    bool    // the outputs of those runs were right
	expected float64 // mean and eight standard deviations as estimated, 0 where there is no estimate
	swollen  bool    // the expected magnitude passes the limit, and that of no input of the node does
	carried  bool    // an input of the node passes the limit already, or nothing bounds it
}

// excessOf tells whether a value may pass the limit of its format, and how that is known. A bound
// that rests on nothing does not count.
func (p *Pass) excessOf(v *graph.Value) (e excess, ok bool) {
	f, held := p.low(v)
	if !held || walk.Constant(v) != nil || walk.Empty(v) {
		return e, false
	}
	limit := f.OverflowAt()
	e = excess{value: v, format: f, bound: p.Range(v)}
	if r := p.reach.Raw(v); r.Lo.Level > reach.Unreached && -r.Lo.At >= limit || r.Hi.Level > reach.Unreached && r.Hi.At >= limit {
		e.evidence = Witness
		e.damage = spread.Damage{Pos: r.Hi.Level > reach.Unreached && r.Hi.At >= limit, Neg: r.Lo.Level > reach.Unreached && -r.Lo.At >= limit, Whole: true, Least: limit}
		e.worst = furthest(r.Lo.At, r.Hi.At, e.damage)
	}
	if e.evidence < Witness {
		p.sight(&e, limit)
	}
	if !p.rests(v) || e.seen {
		return e, e.evidence >= Observed
	}
	if e.bound.Lo >= limit || -e.bound.Hi >= limit {
		e.evidence = Always
	}
	if e.evidence == Unproved {
		e.expected = min(p.expected(v), e.bound.MaxAbs())
		e.damage = spread.Damage{Pos: e.bound.Hi >= limit, Neg: -e.bound.Lo >= limit, Whole: true, Least: limit}
		e.worst = furthest(e.bound.Lo, e.bound.Hi, e.damage)
		e.carried = p.carriedExcess(v) || math.IsInf(e.worst, 0)
	}
	return e, e.damage.Pos || e.damage.Neg
}

// sight takes over what a run showed of the value.
func (p *Pass) sight(e *excess, limit float64) {
	if p.Seen == nil {
		return
	}
	s, ok := p.Seen(e.value)
	d := spread.Damage{Pos: s.Hi >= limit, Neg: -s.Lo >= limit, Whole: true, Least: limit}
	if !ok || !d.Pos && !d.Neg {
		return
	}
	e.evidence, e.seen, e.right, e.damage = Witness, true, s.Right, d
	e.worst = furthest(s.Lo, s.Hi, d)
	if s.Observed {
		e.evidence = Observed
	}
}

// rootOf is excessOf for values that are where it begins: not those that only pass on what was over
// the limit before, nor those that the fix of another finding holds in FP32 already and that only a
// bound speaks against.
func (p *Pass) rootOf(v *graph.Value) (e excess, ok bool) {
	if n := walk.Maker(v); walk.Is(n, additive...) && p.overInput(n) {
		return e, false
	}
	e, ok = p.excessOf(v)
	if p.wide[v] && e.evidence < Observed {
		return e, false
	}
	return e, ok
}

// additive lists the operators whose result passes the limit only because their input does, or
// shortly before it would: what overflows there has overflowed before.
var additive = []string{"Add", "Sub", "ReduceSum", "ReduceMean", "ReduceMax", "CumSum", "Sum", "Sqrt", "Relu", "LeakyRelu", "Abs", "Neg", "Max", "Min", "Concat", "Where", "AveragePool", "MaxPool", "GlobalAveragePool"}

// overInput tells whether an input of the node can be taken past its limit.
func (p *Pass) overInput(n *graph.Node) bool {
	for _, in := range n.Inputs {
		if f, ok := p.low(in); ok && p.overLimit(in, f.OverflowAt()) {
			return true
		}
	}
	return false
}

// overLimit tells whether a value can be taken past a limit. A constant is the matter of its first reader,
// unless it is folded here and was found where the model computes it.
func (p *Pass) overLimit(v *graph.Value, limit float64) bool {
	if walk.Constant(v) != nil || folds(v, maxFolded) {
		return p.Range(v).MaxAbs() >= limit && p.foundBehind(v, maxFolded)
	}
	r := p.reach.Raw(walk.Plain(v))
	return r.Hi.Level > reach.Unreached && r.Hi.At >= limit || r.Lo.Level > reach.Unreached && -r.Lo.At >= limit
}

// maxFolded bounds the nodes between a folded constant and the one where its overflow was found.
const maxFolded = 6

// folds tells whether a value is computed from constants alone, in few steps.
func folds(v *graph.Value, depth int) bool {
	v = walk.Moved(walk.Plain(v))
	if v == nil || walk.Constant(v) != nil {
		return true
	}
	n := walk.Maker(v)
	return n != nil && depth > 0 && len(n.Subgraphs()) == 0 && !slices.ContainsFunc(n.Inputs, func(in *graph.Value) bool { return !folds(in, depth-1) })
}

// foundBehind tells whether a finding stands on one of the nodes that compute a value.
func (p *Pass) foundBehind(v *graph.Value, depth int) bool {
	n := walk.Maker(walk.Moved(walk.Plain(v)))
	return n != nil && depth > 0 && (p.known(n, nil) || slices.ContainsFunc(n.Inputs, func(in *graph.Value) bool {
		return in != nil && p.foundBehind(in, depth-1)
	}))
}

// nearBy is how many times below the limit expected values are told of: estimates are off by a
// factor of 2 at times, and data by more.
const nearBy = 8

// expected returns the largest magnitude that the elements of a value are expected to have.
func (p *Pass) expected(v *graph.Value) float64 {
	t := p.val(v)
	if p.estimates != nil {
		t = p.estimates.Val(v)
	}
	if t == nil {
		return 0
	}
	if _, _, ok := t.Moments(); !ok {
		return 0
	}
	return t.Likely().MaxAbs()
}

func furthest(lo, hi float64, d spread.Damage) float64 {
	if d.Neg && (!d.Pos || -lo > hi) {
		return lo
	}
	return hi
}

// carriedExcess tells whether a float input of the value's node may be over its limit itself, so
// that the node is no root.
func (p *Pass) carriedExcess(v *graph.Value) bool {
	n := walk.Maker(v)
	if n == nil {
		return false
	}
	for _, in := range n.Inputs {
		if f, ok := p.low(in); ok && walk.Constant(in) == nil && !fedBack(in) && p.Range(in).MaxAbs() >= f.OverflowAt() {
			return true
		}
	}
	return false
}

// fedBack tells whether a value is what a loop hands from one turn to the next: its bound is that of
// the result, and not what the overflow comes from.
func fedBack(v *graph.Value) bool {
	return v.Input && v.Graph.Kind == graph.SubGraph && walk.Is(v.Graph.Owner, "Loop", "Scan")
}

// overflowAt reports an excess at the node that makes it. What it does to the output decides
// together with the evidence; pattern says that the shape of the graph around it is one that
// overflows in real models, so that a bound alone is a warning.
func (p *Pass) overflowAt(n *graph.Node, e excess, pattern bool, what string) {
	switch {
	case e.evidence != Unproved:
	case e.carried && p.swollen(e.value, e.format), !e.carried && p.closeTo(e.value, e.format) && p.expectedNear(e.value, 1):
		e.evidence, e.swollen = Likely, true
	case pattern && !e.unlikely() && !p.remote(&e):
		e.evidence = Likely
	case e.expected >= e.format.OverflowAt()/nearBy && !e.carried || e.carried && p.mounts(e.value, e.format, closeBy):
		e.evidence = Near
	}
	if e.evidence == Unproved && e.carried {
		return
	}
	f := p.at(n, e.value)
	f.Limit, f.Evidence = e.format.Max(), e.evidence
	switch h := p.harm.Of(e.value, e.damage); {
	case h == spread.Broken && e.right, h == spread.Harmless:
		// Inf or NaN cannot have reached an output that was right. A number that is merely wrong may
		// hide behind an output that is saturated in all runs.
		f.Consequence = Absorbed
	case f.Evidence >= Observed:
		f.Consequence = consequence(h)
	}
	f.Message = p.overflowText(e, what) + consequenceText(f.Consequence)
	f.Reason = reasonOf(e)
	f.Consequences = p.trail(e.value)
	f.Edits = p.widened(e.value)
	if e.evidence == Unproved {
		f.Edits, f.Consequences = f.Edits[:min(1, len(f.Edits))], nil
	}
	p.report(f)
}

// unlikely tells whether a bound that is only the growth of one behind another says nothing against
// a value that is expected far below the limit: in a deep network without normalisation bounds double
// from layer to layer, and what is normalised behind them would always be a warning.
func (e *excess) unlikely() bool {
	return e.carried && e.expected > 0 && e.expected < e.format.OverflowAt()/nearBy
}

// remoteBy is how many times below the limit both what is expected and what a search came to are where
// a bound alone says nothing.
const remoteBy = 64

// remote tells whether a search for inputs that take a value past the limit came nowhere near, and
// nothing else is expected.
func (p *Pass) remote(e *excess) bool {
	if p.Sought == nil || e.expected <= 0 {
		return false
	}
	most, ok := p.Sought(e.value)
	return ok && math.Max(most, e.expected) < e.format.OverflowAt()/remoteBy
}

func (p *Pass) overflowText(e excess, what string) string {
	verb := "reaches"
	if e.swollen {
		return fmt.Sprintf("%s is expected to reach %.5g, which is %s in %s (%s)", what, e.expected, p.shown(e.format, e.expected), e.format, edge(e.format, e.expected))
	}
	if math.IsInf(e.worst, 0) {
		return fmt.Sprintf("nothing bounds %s, which is Inf in %s past %.5g", what, e.format, e.format.Max())
	}
	if e.evidence < Observed {
		verb = "may reach"
	}
	return fmt.Sprintf("%s %s %.5g, which is %s in %s (%s)", what, verb, e.worst, p.shown(e.format, e.worst), e.format, edge(e.format, e.worst))
}

// shown prints a number as the format would hold it.
func (p *Pass) shown(f numfmt.Format, x float64) string {
	return fmt.Sprintf("%.5g", f.Round(x))
}

func reasonOf(e excess) string {
	switch {
	case e.evidence == Observed:
		return "the data take it there"
	case e.seen:
		return "a run on inputs inside their declared ranges takes it there"
	}
	switch e.evidence {
	case Witness:
		return "inputs at the ends of their declared ranges take it there"
	case Always:
		return "its bound leaves no other outcome"
	}
	if e.evidence == Near || e.swollen {
		return fmt.Sprintf("its elements are expected up to %.5g, its bound is %s", e.expected, e.bound)
	}
	return fmt.Sprintf("its bound is %s", e.bound)
}

func consequenceText(c string) string {
	switch c {
	case Absorbed:
		return "; the output stays right"
	case Silent:
		return "; the output is finite and wrong"
	case Visible:
		return "; Inf or NaN reaches the output"
	}
	return ""
}

// widened returns the edits that hold a value in FP32, and with it every value computed from it
// that may pass the limit too, until they are small again.
func (p *Pass) widened(v *graph.Value) []rewrite.Edit {
	var edits []rewrite.Edit
	for _, w := range p.region(v) {
		if w.Type.Elem.Bits() >= 16 {
			edits = append(edits, rewrite.Widen{Value: w})
		} else { // a quantisation, which no cast puts right
			edits = append(edits, rewrite.Unquantize{Value: w})
		}
	}
	return edits
}

// maxRegion ends a region that does not come to an end by itself.
const maxRegion = 64

// region returns a value and, in the order met, what is computed from it and may pass the limit.
func (p *Pass) region(v *graph.Value) []*graph.Value {
	list := []*graph.Value{v}
	seen := map[*graph.Value]bool{v: true}
	bounds := 1 // values that only a bound speaks against
	for i := 0; i < len(list); i++ {
		uses, _ := walk.Flow(list[i])
		for _, u := range uses {
			for _, o := range u.Node.Outputs {
				if o == nil || seen[o] || !p.exceeds(o) {
					continue
				}
				switch seen[o] = true; {
				case p.expectedNear(o, closeBy):
				case bounds == maxRegion || p.expectedFar(o):
					continue
				default:
					bounds++
				}
				list = append(list, o)
			}
		}
	}
	return list
}

// expectedNear tells whether the elements of a value are expected to come within a factor of the limit of its format.
func (p *Pass) expectedNear(v *graph.Value, by float64) bool {
	f, ok := p.low(v)
	return ok && p.expected(v) >= f.OverflowAt()/by
}

// expectedFar tells whether the elements of a value whose bound is only the growth of one behind another are expected
// so far below the limit that it would be a note by itself.
func (p *Pass) expectedFar(v *graph.Value) bool {
	return p.expected(v) > 0 && !p.expectedNear(v, nearBy) && p.carriedExcess(v)
}

// exceeds tells whether a value is held low and its bound passes the limit.
func (p *Pass) exceeds(v *graph.Value) bool {
	f, ok := p.low(v)
	if !ok {
		return false
	}
	r := p.Range(v)
	return p.rests(v) && r.MaxAbs() >= f.OverflowAt() || math.IsNaN(r.Lo)
}

// trail returns the keys of the values behind v that take its damage on, within reach.
func (p *Pass) trail(v *graph.Value) []string {
	var keys []string
	for _, w := range p.region(v)[1:] {
		keys = append(keys, w.Key())
	}
	return keys
}

// edge names the end of a format that a number lies beyond.
func edge(f numfmt.Format, x float64) string {
	if x < 0 {
		return fmt.Sprintf("min %.5g", -f.Max())
	}
	return fmt.Sprintf("max %.5g", f.Max())
}
