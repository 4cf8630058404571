package analyze

import (
	"context"
	"time"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules"
	"github.com/amplint/amplint/witness"
)

// budgets are what the levels of --effort allow the runs of one model.
var budgets = map[string]witness.Options{
	"quick": {Budget: 2 * time.Second, Runs: 24},
	"full":  {Budget: time.Minute, Runs: 1000},
}

// probe runs the model where a bound alone has left something open, and tells whether the runs
// showed anything.
func (a *analysis) probe(ctx context.Context, t Target, opt *Options, in *rules.Input, found []rules.Finding) bool {
	w, ok := budgets[opt.Effort]
	if !ok || !undecided(found) {
		return false
	}
	w.Target, w.Hold = t.format(), in.Hold
	seen := witness.Probe(ctx, a.model, a.info, a.ranges.Inputs(), w)
	in.Seen = func(v *graph.Value) (rules.Sighting, bool) {
		s, ok := seen.Of(v)
		return rules.Sighting{Lo: s.Lo, Hi: s.Hi, Right: s.Right}, ok
	}
	return seen.Runs > 0
}

// undecided tells whether a run could decide one of the findings.
func undecided(found []rules.Finding) bool {
	for _, f := range found {
		if f.Kind == rules.Overflow && f.Evidence <= rules.Likely && f.Evidence != rules.Kernel {
			return true
		}
	}
	return false
}
