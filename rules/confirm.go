package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/walk"
)

// Confirm raises a finding that was only likely: an input inside the declared ranges has shown it.
// consequence is what it did to the outputs, "" where nothing is known of that.
func (f *Finding) Confirm(in map[string]*refeval.Value, consequence string) {
	f.Input, f.Evidence, f.Consequence = in, Witness, consequence
	f.Severity = max(f.Severity, grade(Witness, consequence))
	f.Reason = "an input inside the declared ranges shows it"
	f.Message += consequenceText(consequence)
}

// Absorbable tells whether a finding rests on reasoning about numbers that are 0, and a run may show that
// outputs do not notice.
func (in *Input) Absorbable(f *Finding) bool {
	if f.Severity < Warning || f.Node == nil || f.Input != nil || f.Kind != Underflow {
		return false
	}
	return f.Evidence >= Witness || f.Evidence == Likely && in.Guarded(f, f.Node) == nil
}

// Absorb takes a finding back to a note: runs that did the harm gave right outputs.
func (f *Finding) Absorb() {
	f.Message = strings.TrimSuffix(f.Message, consequenceText(f.Consequence)) + consequenceText(Absorbed)
	f.Consequence = Absorbed
	f.Severity = grade(f.Evidence, f.Consequence)
	f.Reason = "runs in which it happens give the right outputs"
}

// farAway is how many times the least number of the format what is divided by stays above, in all runs
// of a search for less, for a bound that ends at 0 to say nothing.
const farAway = 1024

// Guarded returns the divisor that a finding at a node fears to be 0, nil for other findings.
func (in *Input) Guarded(f *Finding, n *graph.Node) *graph.Value {
	switch f.Rule {
	case tinyEpsilon.Name, constantsLost.Name:
		if f.Kind != Underflow {
			return nil
		}
		if s := singular(n.Out(0)); s != nil && !walk.Is(s, "Log") {
			return n.Out(0)
		}
	case squareUnderflow.Name:
		if m := in.Patterns.NormOf(n); m != nil && m.EpsValue == 0 && m.Eps == nil {
			return m.Var
		}
	}
	return nil
}

// Unguarded returns the node that has no finite result without the epsilon or floor that a finding misses in the file,
// nil for other findings.
func (f *Finding) Unguarded() *graph.Node {
	if f.Rule != constantsLost.Name || f.Kind != Underflow || f.Node == nil || !walk.Is(f.Node, "Add", "Max", "Clip") {
		return nil
	}
	return singular(f.Node.Out(0))
}

// Doubt takes a finding back to what is not excluded: a search for inputs that bring what is divided
// by to 0 came no nearer than least. It stays where the fix is what keeps an overflow away besides.
func (f *Finding) Doubt(in *Input, least float64) {
	if f.Evidence != Likely || least < farAway*f.Limit {
		return
	}
	for _, e := range f.Edits {
		w, ok := e.(rewrite.Widen)
		if !ok {
			continue
		}
		low, held := in.Hold(w.Value)
		v := in.Ranges.Val(w.Value)
		if held && v != nil && v.Hull().Bounded() && v.Hull().MaxAbs() >= low.OverflowAt() {
			return
		}
	}
	f.Evidence = Unproved
	f.Severity = grade(f.Evidence, f.Consequence)
	f.Reason = fmt.Sprintf("no input was found that brings it below %.2g", least)
	if edits := f.keepEpsilon(); edits != nil && in.Target.Bits() == 16 {
		f.Edits, f.Free = edits, true
	}
}

// keepEpsilon sets epsilons to the least number of the format, which is nothing beside what they are
// added to and keeps what follows bounded; nil where one has other readers.
func (f *Finding) keepEpsilon() (edits []rewrite.Edit) {
	if f.Rule != tinyEpsilon.Name {
		return nil
	}
	places := f.Places()
	for _, p := range places {
		uses, _ := walk.Readers(p.Value)
		t := walk.Constant(p.Value)
		if t == nil || slices.ContainsFunc(uses, func(u graph.Use) bool {
			return !slices.ContainsFunc(places, func(q Place) bool { return q.Node == u.Node })
		}) {
			return nil
		}
		s, ok := walk.StatsOf(t)
		if !ok {
			return nil
		}
		x, one := s.Single()
		if !one {
			return nil
		}
		if e := (rewrite.SetConst{Const: p.Value, From: x, To: f.Limit}); !slices.Contains(edits, rewrite.Edit(e)) {
			edits = append(edits, e)
		}
	}
	return edits
}
