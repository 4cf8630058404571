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
)

// Pass is what a rule works with: the input, what has been found out about it, and the findings.
type Pass struct {
	*Input
	rule     Rule
	order    int // of the rule
	reach    *reach.Map
	harm     spread.Walk
	places   map[*graph.Node]int // in graph order over all scopes
	findings []*located
	// named holds the values and nodes that a finding stands on, so that a general rule leaves to the
	// special ones what they have named.
	named  map[any]bool
	prints *prints
	wide   map[*graph.Value]bool // held in FP32 by the fix of a finding
	hulls  map[*graph.Value]rangeprop.Range
}

// located is a finding with what orders it.
type located struct {
	Finding
	place, rule int
	told        map[string]bool // edits and consequences, where others were joined to it
}

func newPass(in *Input) *Pass {
	p := &Pass{Input: widely(in), places: map[*graph.Node]int{}, named: map[any]bool{}, wide: map[*graph.Value]bool{},
		hulls: map[*graph.Value]rangeprop.Range{}}
	for n := range in.Model.Nodes() {
		p.places[n] = len(p.places) + 1
	}
	p.harm = spread.Walk{Model: in.Model, Range: p.Range, Reached: p.reached}
	p.reach = reach.New(in.Model, reach.Options{Target: in.Target, Hold: in.Hold, Declared: p.declared,
		Nonempty: in.Padding})
	return p
}

// widely bounds a model that holds low values once more, as if they were FP32: what follows an
// overflow is then judged as it should be, and not as infinite like all that follows.
func widely(in *Input) *Input {
	if in.Ranges == nil || !holdsHalf(in.Model) {
		return in
	}
	if in.wide == nil {
		if in.wide = AsFP32(in.Ranges); in.wide == nil {
			return in // what could be bounded once is still good
		}
	}
	copied := *in
	copied.Ranges, copied.estimates = in.wide, in.Ranges
	return &copied
}

// AsFP32 returns the bounds that a model would have with its values of 16 bits held in FP32, nil where
// they cannot be had.
func AsFP32(r *rangeprop.Result) *rangeprop.Result {
	if wide := r.Beside(); wide != nil {
		return wide
	}
	wide, err := r.Held(FP32Of)
	if err != nil {
		return nil
	}
	return wide
}

// half tells whether values of the type are floats of 16 bits. Those of 8 bits are quantised on
// purpose, and cut.
func half(v *graph.Value) bool {
	return v.Type.Elem == graph.Float16 || v.Type.Elem == graph.BFloat16
}

// FP32Of holds values of 16 bits in FP32.
func FP32Of(v *graph.Value) numfmt.Format {
	if half(v) {
		return numfmt.FP32
	}
	return numfmt.Invalid
}

func holdsHalf(m *graph.Model) bool {
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if half(v) {
				return true
			}
		}
	}
	return false
}

// Range returns the sound bound of a value; everything where nothing is known. Every rule asks for
// it, and a value has as many bounds as channels.
func (p *Pass) Range(v *graph.Value) rangeprop.Range {
	if r, ok := p.hulls[v]; ok {
		return r
	}
	r := rangeprop.Range{Lo: math.Inf(-1), Hi: math.Inf(1)}
	if t := p.val(v); t != nil {
		r = t.Hull()
	}
	p.hulls[v] = r
	return r
}

// val returns what is known of a value, nil for values without a range of their own.
func (p *Pass) val(v *graph.Value) *rangeprop.Val {
	if v == nil || p.Ranges == nil {
		return nil
	}
	return p.Ranges.Val(v)
}

// reached returns the largest magnitude that some input certainly takes a value to, 0 where nothing is known.
func (p *Pass) reached(v *graph.Value) (most float64) {
	r := p.reach.Of(v)
	for _, e := range []reach.End{r.Lo, r.Hi} {
		if e.Level > reach.Unreached {
			most = math.Max(most, math.Abs(e.At))
		}
	}
	return most
}

// rests tells whether the range of a value rests on something: a range of nothing must not count.
func (p *Pass) rests(v *graph.Value) bool {
	t := p.val(v)
	return t != nil && t.Basis() != rangeprop.Unknown
}

// declared returns the range of an input that the user vouches for.
func (p *Pass) declared(v *graph.Value) (rangeprop.Range, bool) {
	t := p.val(v)
	if t == nil || t.Basis() != rangeprop.Declared && t.Basis() != rangeprop.Observed || !t.Hull().Bounded() {
		return rangeprop.Range{}, false
	}
	if half(v) { // the hull ends at what the type rounds to, which may be outside
		for _, in := range p.Ranges.Inputs() {
			if in.Value == v && in.Range.Bounded() {
				return in.Range, true
			}
		}
	}
	return t.Hull(), true
}

// low returns the low format a value is held in; ok is false where it is FP32 or no float.
func (p *Pass) low(v *graph.Value) (f numfmt.Format, ok bool) {
	if v == nil || !v.Type.Float() {
		return f, false
	}
	return p.Hold(v)
}

// at fills in what every finding on a node has.
func (p *Pass) at(n *graph.Node, v *graph.Value) Finding {
	f := Finding{Rule: p.rule.Name, Kind: p.rule.Kind, Node: n, Value: v, Range: p.Range(v)}
	if t := p.val(v); t != nil {
		f.Basis = t.Basis()
	}
	return f
}

// report notes a finding, grading it by its evidence and consequence.
func (p *Pass) report(f Finding) {
	f.Severity = grade(f.Evidence, f.Consequence)
	if f.Evidence == Near && p.Strict && f.Severity == Note && f.Consequence != Absorbed {
		f.Severity = Warning
	}
	if f.Evidence == Kernel && f.Consequence != Absorbed {
		p.byKernels(&f)
	}
	p.add(f)
}

// add notes a finding whose severity is set.
func (p *Pass) add(f Finding) {
	if p.Target == numfmt.FP32 {
		f.Edits = slices.DeleteFunc(f.Edits, setsNothing) // holding a value in FP32 is no cure for what FP32 does to it
	}
	f.Fingerprint, f.Source = p.fingerprint(&f), SourceOf(f.Node)
	p.findings = append(p.findings, &located{Finding: f, place: p.places[f.Node], rule: p.order})
	p.named[f.Node], p.named[f.Value] = true, true
	for _, e := range f.Edits {
		if w, ok := e.(rewrite.Widen); ok && f.Severity > Note {
			p.wide[w.Value] = true
		}
	}
}

// setsNothing tells whether an edit leaves the attributes of its node as they are.
func setsNothing(e rewrite.Edit) bool {
	_, ok := e.(rewrite.SetAttr)
	return !ok
}

// last returns the finding that the rule has just reported on a node, nil where it has not.
func (p *Pass) last(n *graph.Node) *located {
	if len(p.findings) == 0 {
		return nil
	}
	f := p.findings[len(p.findings)-1]
	if f.Node != n || f.Rule != p.rule.Name {
		return nil
	}
	return f
}

// known tells whether a finding already stands on the node or the value.
func (p *Pass) known(n *graph.Node, v *graph.Value) bool {
	return n != nil && p.named[n] || v != nil && p.named[v]
}

// consequence returns what reports call a degree of harm.
func consequence(h spread.Harm) string { return [...]string{Absorbed, Silent, Visible}[h] }

// number writes a number as messages show it.
func number(x float64) string { return fmt.Sprintf("%.5g", x) }
