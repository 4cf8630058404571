package analyze

import (
	"context"
	"fmt"
	"slices"

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
// by the next, nor exchanged for powers of two. It returns nil where the new plan is to be carried out.
func (f *Fixed) settled(ctx context.Context, a *analysis, plan *rewrite.Plan, planned *graph.Model, sum *rewrite.Summary, opt *FixOptions) (*graph.Model, error) {
	if opt.Replay != nil || plan.Strategy != rewrite.Mixed || plan.Target.Bits() == 8 || plan.NarrowDouble || !sum.Changed || !reached(a.model, plan, opt) || !f.budget.met() || narrowsEnds(a.model, planned) {
		return nil, nil
	}
	keep := &rewrite.Plan{Target: plan.Target, Strategy: rewrite.Repair, KeepIO: plan.KeepIO}
	m, now, err := keep.Apply(a.model)
	if err != nil {
		return nil, fmt.Errorf("%s: rewriting: %w", f.Path, err)
	}
	if now.Changed || gains(now, sum) && (2*now.FP32 > now.Low+now.FP32 || !rescales(plan.Edits) && a.runsRight(ctx, plan, planned, opt)) {
		return nil, nil
	}
	asIs := a.check(ctx, AsIs, &opt.Options)
	for _, x := range asIs.Findings {
		if opt.FailOn.Reached(x.Severity) {
			return nil, nil
		}
		if wanted(x, false) { // each note that is fixed in FP32 gives another behind it
			keep.Edits = append(keep.Edits, x.Edits...)
		}
	}
	if len(keep.Edits) > 0 {
		if m, now, err = keep.Apply(a.model); err != nil || now.Changed {
			return nil, nil // what is left to fix can be
		}
	}
	f.Plan.Strategy = strategyName(rewrite.Repair)
	f.After, f.Summary, f.Applied, f.Edits = asIs, *now, nil, nil
	return m, nil
}

// reached tells whether a model holds the target, or BF16 in its place where that is asked for.
func reached(m *graph.Model, plan *rewrite.Plan, opt *FixOptions) bool {
	return holds(m, graph.ElemOf(plan.Target)) || slices.Contains(opt.Prefer, "bf16") && holds(m, graph.BFloat16)
}

// wanted tells whether a finding is one to fix: values of notes stay low, unless it costs nothing to hold them.
func wanted(x rules.Finding, strict bool) bool {
	return len(x.Edits) > 0 && (x.Severity >= rules.Warning || strict || x.Free)
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

// runsRight tells whether runs of a new plan's result show nothing wrong. Where they do the plan would
// have to keep more in FP32, and gains less than it seems.
func (a *analysis) runsRight(ctx context.Context, plan *rewrite.Plan, planned *graph.Model, opt *FixOptions) bool {
	w, ok := trials[opt.Effort]
	if !ok {
		return true
	}
	w.Samples = a.inputs.feeds(a.model)
	fault, err := a.newTrial(ctx, w).Judge(ctx, planned, tolerance(plan, a.model))
	return err != nil || fault == nil
}

// narrowsEnds tells whether an input or output of the second model is low and that of the first is not.
func narrowsEnds(a, b *graph.Model) bool {
	narrows := func(x, y []*graph.Value) bool {
		for i := range x {
			if i < len(y) && x[i].Type.Elem == graph.Float && y[i].Type.Elem != graph.Float {
				return true
			}
		}
		return false
	}
	return narrows(a.Graph.Inputs, b.Graph.Inputs) || narrows(a.Graph.Outputs, b.Graph.Outputs)
}
