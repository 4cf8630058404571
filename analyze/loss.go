package analyze

import (
	"context"
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/witness"
)

// lossOf8 is the loss of an output from which on a result in 8 bits comes with a note. A product of two
// numbers of 4 significant bits is off by some 4 % of itself, and so is a layer of them; over layers that adds up as
// the root of their number, and a few give no more than this.
const lossOf8 = 0.1

// loss returns what the result loses. Where no input has a range that somebody vouches for it is run on
// inputs of the default ranges: the scales are made from those too, and a note refuses nothing.
func (p *proof) loss(ctx context.Context, a *analysis, m *graph.Model, w witness.Options, l witness.Loss) witness.Loss {
	if p.plan.Target.Bits() != 8 || p.trial.Len() > 0 {
		return l
	}
	w.Anything = true
	_, l, _ = a.newTrial(ctx, w).JudgeLoss(ctx, m, p.tolerance) // what was run before an error counts
	return l
}

// noteLoss tells of outputs of 8 bits that are far from those in FP32. Any single element may be, by
// [tolerance].
func (f *Fixed) noteLoss(p *rewrite.Plan, l witness.Loss) {
	if p.Target.Bits() == 8 && l.Share > lossOf8 {
		f.Summary.Notes = append(f.Summary.Notes, fmt.Sprintf("output %q is off by %.2g of its root mean square from the fp32 run on made inputs: %s is too coarse for some of the nodes: leave them out (--exclude), or choose 16 bits", l.Output, l.Share, p.Target))
	}
}
