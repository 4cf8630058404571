package analyze

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/rewrite"
)

// ahead begins to write the external data of the result while the bounds of the model, whose types are known, read
// its weights: as a plan without findings has them, which hardly ever concern weights. It returns nil where nothing
// is to be written, or nothing can be.
func ahead(m *graph.Model, opt *FixOptions) *graph.Draft {
	if opt.DryRun || opt.Out == Std || onnxtxt.IsText(opt.Out) {
		return nil
	}
	if files, err := m.ExternalFiles(); err != nil || len(files) == 0 {
		return nil
	}
	plan, _, err := newPlan(m, opt)
	if err != nil || plan.Strategy != rewrite.Mixed || plan.Target.Bits() == 8 {
		return nil
	}
	likely, sum, err := plan.Apply(m)
	if err != nil || !sum.Changed {
		return nil
	}
	return likely.Draft(opt.Out, graph.SaveOptions{InPlace: opt.InPlace})
}
