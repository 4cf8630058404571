package analyze

import (
	"fmt"
	"sort"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
)

// budget holds the results whose rounding adds most to the error of the outputs in FP32, until what
// is left is within the error that is allowed.
type budget struct {
	most    float64 // relative to the root mean square of an output
	ranking *rangeprop.Rounding
}

// newBudget ranks the nodes of a model; it returns nil where no budget is asked for.
func (a *analysis) newBudget(plan *rewrite.Plan, opt *FixOptions) (*budget, error) {
	switch {
	case opt.ErrorBudget == 0 || opt.Replay != nil:
		return nil, nil
	case plan.Strategy != rewrite.Mixed || plan.Target.Bits() != 16:
		return nil, usagef("--error-budget goes with narrowing to fp16 or bf16")
	case opt.Effort == "off":
		return nil, usagef("--effort off makes no estimates, which --error-budget rests on")
	}
	return &budget{opt.ErrorBudget, a.ranges.Rounding(plan.Target)}, nil
}

// budgeted adds what the error budget asks for to the edits of the first round.
func (f *Fixed) budgeted(m *graph.Model, plan *rewrite.Plan, list []rewrite.Edit) ([]rewrite.Edit, error) {
	if f.budget == nil {
		return list, nil
	}
	more, note, err := f.budget.edits(m, plan, list)
	f.Summary.Notes = append(f.Summary.Notes, note)
	return append(list, more...), err
}

// edits returns what is to be held in FP32 beside other edits, and says what that does. What is
// widened takes its readers along, so that fewer nodes suffice than the ranking has above the budget: the
// least number is looked for by halves.
func (b *budget) edits(m *graph.Model, plan *rewrite.Plan, others []rewrite.Edit) (list []rewrite.Edit, note string, err error) {
	p := *plan
	predicted := func(k int) float64 {
		p.Edits = append(others[:len(others):len(others)], b.widened(k)...)
		hold, e := p.Hold(m)
		if e != nil {
			err = e
			return 0
		}
		return b.ranking.Error(func(n *graph.Node) bool { return exact(n, hold) })
	}
	before := predicted(0)
	k := sort.Search(len(b.ranking.Nodes), func(k int) bool { return predicted(k) <= b.most })
	list = b.widened(k)
	if k == 0 {
		return nil, fmt.Sprintf("rounding is predicted to make an error of %.2g in the outputs, relative to their root mean square: within the budget of %.2g", before, b.most), err
	}
	return list, fmt.Sprintf("rounding is predicted to make an error of %.2g in the outputs instead of %.2g, relative to their root mean square: the results of %d nodes are held in fp32 for the budget of %.2g", predicted(k), before, k, b.most), err
}

// widened returns edits that hold the results of the first k nodes of the ranking in FP32.
func (b *budget) widened(k int) (list []rewrite.Edit) {
	for _, n := range b.ranking.Nodes[:k] {
		for _, v := range n.Node.Outputs {
			if v != nil && v.Type.Float() {
				list = append(list, rewrite.Widen{Value: v})
			}
		}
	}
	return list
}

// met tells whether the predicted error of a model as it is stays within the budget.
func (b *budget) met() bool {
	return b == nil || b.ranking.Error(func(n *graph.Node) bool { return exact(n, held) }) <= b.most
}

// exact tells whether the results of a node are held in FP32.
func exact(n *graph.Node, hold func(*graph.Value) (numfmt.Format, bool)) bool {
	for _, v := range n.Outputs {
		if v == nil || !v.Type.Float() {
			continue
		}
		if _, low := hold(v); low {
			return false
		}
	}
	return true
}
