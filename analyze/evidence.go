package analyze

import (
	"context"
	"fmt"
	"slices"

	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/rules"
	"github.com/amplint/amplint/witness"
)

// searches bound what is spent on inputs for findings, beside the budgets of the runs that decide.
var searches = map[string]witness.Options{
	"quick": {Work: 2e9, Limit: budgets["quick"].Limit, Runs: 24, Climbs: 300},
	"full":  {Work: 1e11, Limit: budgets["full"].Limit, Runs: 500, Climbs: 5000},
}

// attest gives findings the inputs that show them: those that runs have come upon already, and those
// that a search finds. In FP32 itself a search also decides what a bound alone has left open: a
// number that is not finite there is an error whatever the format, and leaves no room for a doubt.
// So it does in a format of 16 bits where nothing else would explain a wrong output.
func (a *analysis) attest(ctx context.Context, t Target, opt *Options, in *rules.Input, found []rules.Finding, seen *witness.Seen) {
	w, ok := searches[opt.Effort]
	if !ok {
		return
	}
	open := in.Target.Bits() == 16 && !slices.ContainsFunc(found, func(f rules.Finding) bool { return f.Severity == rules.Error })
	var goals []witness.Goal
	var at []*rules.Finding
	for i := range found {
		f := &found[i]
		if s, ok := seen.Of(f.Value); ok && (f.Evidence == rules.Witness || f.Evidence == rules.Observed) {
			f.Input = s.Input
		}
		if f.Node == nil || f.Input != nil || !a.wanted(t, opt, f) && !(open && doubtful(f)) && !guarded(in, f) && !lost(t, f) {
			continue
		}
		for _, p := range searched(f) {
			goals, at = append(goals, witness.Goal{Node: p.Node, Value: p.Value, Harm: harms[f.Kind], Guard: in.Guarded(f, p.Node)}), append(at, f)
		}
	}
	a.attestLost(ctx, t, opt, in, found)
	if len(goals) == 0 {
		return
	}
	a.options(&w, t, opt, in)
	shown, _ := witness.Find(ctx, a.model, a.info, a.ranges.Inputs(), goals, w)
	for i, s := range shown {
		if f := at[i]; s.Witness != nil && (f.Input == nil || !s.Right) {
			take(f, s.Witness, t == FP32 || open && doubtful(f) && !s.Right || lost(t, f) && s.NotFinite)
		}
	}
	doubt(in, at, shown)
}

// attestLost looks for inputs that break a file at a constant that it has lost: FP32 has lost it too, so that no reference
// tells, but a result that is not finite tells by itself.
func (a *analysis) attestLost(ctx context.Context, t Target, opt *Options, in *rules.Input, found []rules.Finding) {
	var goals []witness.Goal
	var at []*rules.Finding
	for i := range found {
		f := &found[i]
		if n := f.Unguarded(); n != nil && doubtful(f) {
			goals, at = append(goals, witness.Goal{Node: n, Value: n.Out(0), Harm: witness.NotFinite, Guard: in.Guarded(f, f.Node)}), append(at, f)
		}
	}
	if len(goals) == 0 {
		return
	}
	w := searches[opt.Effort]
	a.options(&w, t, opt, in)
	w.Target = numfmt.FP32
	shown, _ := witness.Find(ctx, a.model, a.info, a.ranges.Inputs(), goals, w)
	for i, s := range shown {
		if s.Witness != nil && s.NotFinite {
			take(at[i], s.Witness, true)
		}
	}
}

// guarded tells whether a finding fears a divisor of 0 that a search may show to be far from it.
func guarded(in *rules.Input, f *rules.Finding) bool {
	return in.Target != numfmt.FP32 && doubtful(f) && in.Guarded(f, f.Node) != nil
}

// doubt takes back what a search for each place of a finding came nowhere near.
func doubt(in *rules.Input, at []*rules.Finding, shown []witness.Found) {
	least := map[*rules.Finding]float64{}
	for i, s := range shown {
		if x, ok := least[at[i]]; !ok || s.Least < x {
			least[at[i]] = s.Least
		}
	}
	for _, f := range at {
		if guarded(in, f) {
			f.Doubt(in, least[f])
		}
	}
}

// maxPlaces bounds for how many places of one finding an input is looked for.
const maxPlaces = 4

// searched lists the places of a finding for which an input is looked for.
func searched(f *rules.Finding) []rules.Place {
	all := f.Places()
	return all[:min(maxPlaces, len(all))]
}

// wanted tells whether an input is to be looked for.
func (a *analysis) wanted(t Target, opt *Options, f *rules.Finding) bool {
	if opt.Witnesses && f.Severity == rules.Error {
		return true
	}
	return t == FP32 && f.Severity == rules.Warning && f.Evidence == rules.Likely
}

// doubtful tells whether a bound speaks for a finding other than an overflow, and nothing else does:
// what overflows is decided by runs of its own.
func doubtful(f *rules.Finding) bool {
	return f.Severity == rules.Warning && f.Evidence == rules.Likely && f.Kind != rules.Overflow
}

// lost tells whether a finding is on a constant that is infinite in the format, and does harm for some
// inputs only. Where outputs stay finite it is only rows without an open place that differ.
func lost(t Target, f *rules.Finding) bool {
	return t != FP32 && f.Severity == rules.Warning && f.Evidence == rules.Likely && f.Kind == rules.Overflow && f.Value != nil && f.Value.Const != nil
}

// take notes an input that shows a finding, and whether it decides.
func take(f *rules.Finding, s *witness.Witness, decides bool) {
	if !decides || f.Evidence != rules.Likely {
		f.Input = s.Input
		return
	}
	switch {
	case s.NotFinite:
		f.Confirm(s.Input, rules.Visible)
	case !s.Right:
		f.Confirm(s.Input, rules.Silent)
	default:
		f.Confirm(s.Input, "")
	}
}

// harms says what an input must do to show a finding.
var harms = [...]witness.Harm{
	rules.Invalid: witness.NotFinite, rules.Overflow: witness.NotFinite, rules.NaN: witness.NotFinite, rules.Underflow: witness.Vanished,
	rules.PrecisionLoss: witness.Inexact, rules.Swamping: witness.Inexact, rules.IndexExactness: witness.Inexact,
}

// options fills in what all runs of a model share.
func (a *analysis) options(w *witness.Options, t Target, opt *Options, in *rules.Input) {
	w.Target, w.Hold, w.Samples, w.Flush = t.format(), in.Hold, a.inputs.feeds(a.model), opt.Flush
	w.Shared = a.shared
	w.Foreign, w.Padding = t.foreign(a.model), in.Padding
	if opt.Accumulate == "target" {
		w.Accumulate = refeval.Target
	}
}

// unshown notes the errors for which no input was found.
func unshown(found []rules.Finding) (notes []string) {
	for _, f := range found {
		if f.Severity == rules.Error && f.Node != nil && f.Input == nil {
			notes = append(notes, fmt.Sprintf("no input was found that shows %s at %s", f.Rule, f.Node.Key()))
		}
	}
	return notes
}
