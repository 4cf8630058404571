package analyze

import (
	"context"

	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rules"
	"github.com/amplint/amplint/witness"
)

// absorb takes back what rests on reasoning alone where runs that do what they fear give right
// outputs all the same. One that runs do not come to stays.
func (a *analysis) absorb(ctx context.Context, t Target, opt *Options, in *rules.Input, found []rules.Finding) {
	w, ok := searches[opt.Effort]
	if !ok || in.Target == numfmt.FP32 {
		return
	}
	var goals []witness.Goal
	var at []*rules.Finding
	for i := range found {
		f := &found[i]
		if !in.Absorbable(f) {
			continue
		}
		for _, p := range searched(f) {
			goals, at = append(goals, witness.Goal{Node: p.Node, Value: p.Value, Harm: witness.Zeroed, Absorb: true}), append(at, f)
		}
	}
	if len(goals) == 0 {
		return
	}
	a.options(&w, t, opt, in)
	shown, _ := witness.Find(ctx, a.model, a.info, a.ranges.Inputs(), goals, w)
	harmful := map[*rules.Finding]bool{}
	for i, s := range shown {
		harmful[at[i]] = harmful[at[i]] || !s.Absorbed
	}
	for _, f := range at {
		if !harmful[f] && f.Consequence != rules.Absorbed {
			f.Absorb()
		}
	}
}
