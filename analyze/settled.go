package analyze

import (
	"context"
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules"
)

// A sound mixed model is planned anew where that makes more nodes low than either of these, or half of
// all and so the whole model.
const (
	worthwhileShare = 0.1
	worthwhileNodes = 2
)

// gains tells whether a new plan leaves markedly fewer nodes in FP32 than there are now.
func gains(now, planned *rewrite.Summary) bool {
	gain, all := float64(now.FP32-planned.FP32), float64(now.Low+now.FP32)
	return planned.FP32 == 0 && gain >= all/2 || gain > max(worthwhileNodes, worthwhileShare*all)
}

// settled returns the model as it is where it holds the target already, nothing in it wants fixing,
// and the new plan would gain little: the islands that one round of fixes left are not moved about
// by the next. It returns nil where the new plan is to be carried out.
func (f *Fixed) settled(ctx context.Context, a *analysis, plan *rewrite.Plan, planned *graph.Model, sum *rewrite.Summary, opt *FixOptions) (*graph.Model, error) {
	if opt.Replay != nil || plan.Strategy != rewrite.Mixed || plan.NarrowDouble || !sum.Changed || !holds(a.model, graph.ElemOf(plan.Target)) || !sameEnds(a.model, planned) {
		return nil, nil
	}
	keep := &rewrite.Plan{Target: plan.Target, Strategy: rewrite.Repair, KeepIO: plan.KeepIO}
	m, now, err := keep.Apply(a.model)
	if err != nil {
		return nil, fmt.Errorf("%s: rewriting: %w", f.Path, err)
	}
	if now.Changed || gains(now, sum) {
		return nil, nil
	}
	asIs := a.check(ctx, AsIs, &opt.Options)
	for _, x := range asIs.Findings {
		if wanted(x, opt.Strict) || opt.FailOn.Reached(x.Severity) {
			return nil, nil
		}
	}
	f.Plan.Strategy = strategyName(rewrite.Repair)
	f.After, f.Summary, f.Applied, f.Edits = asIs, *now, nil, nil
	return m, nil
}

// wanted tells whether a finding is one to fix: values of notes stay low.
func wanted(x rules.Finding, strict bool) bool {
	return len(x.Edits) > 0 && (x.Severity >= rules.Warning || strict)
}

// holds tells whether some value of the model has the element type.
func holds(m *graph.Model, e graph.ElemType) bool {
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if v.Type.Elem == e {
				return true
			}
		}
	}
	return false
}

// sameEnds tells whether two models take and give the same types.
func sameEnds(a, b *graph.Model) bool {
	same := func(x, y []*graph.Value) bool {
		for i := range x {
			if i >= len(y) || x[i].Type.Elem != y[i].Type.Elem {
				return false
			}
		}
		return true
	}
	return same(a.Graph.Inputs, b.Graph.Inputs) && same(a.Graph.Outputs, b.Graph.Outputs)
}
