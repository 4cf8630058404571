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
	"quick": {Budget: 2 * time.Second, Runs: 24, Climbs: 200},
	"full":  {Budget: time.Minute, Runs: 1000, Climbs: 5000},
}

// probe runs the model where a bound alone has left something open, and tells whether the runs
// showed anything.
func (a *analysis) probe(ctx context.Context, t Target, opt *Options, in *rules.Input, found []rules.Finding) bool {
	w, ok := budgets[opt.Effort]
	w.Suspects = undecided(found)
	if !ok || len(w.Suspects) == 0 {
		return false
	}
	w.Target, w.Hold = t.format(), in.Hold
	seen := witness.Probe(ctx, a.model, a.info, a.ranges.Inputs(), w)
	in.Seen = func(v *graph.Value) (rules.Sighting, bool) {
		s, ok := seen.Of(v)
		return rules.Sighting{Lo: s.Lo, Hi: s.Hi, Right: s.Right && s.Runs >= witness.Enough}, ok
	}
	return seen.Runs > 0
}

// undecided returns the values of the findings that a run could decide, the likely ones first.
func undecided(found []rules.Finding) []*graph.Value {
	var likely, open []*graph.Value
	for _, f := range found {
		switch {
		case f.Kind != rules.Overflow || f.Node == nil:
		case f.Evidence == rules.Likely:
			likely = append(likely, f.Value)
		case f.Evidence <= rules.Near:
			open = append(open, f.Value)
		}
	}
	return append(likely, open...)
}
