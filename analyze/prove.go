package analyze

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules"
	"github.com/amplint/amplint/witness"
)

// trials are what the levels of --effort allow the runs that a result is held to.
var trials = map[string]witness.Options{
	"quick": {Work: 8e9, Least: 8, Most: 4e10, Must: 6, Far: 1.2e11, Runs: 12},
	"full":  {Work: 1e11, Must: 6, Far: 2e12, Runs: 100},
}

// tolerance is the error of an output, as a share of its largest magnitude, that the result of a plan
// may have by the coarsest format in it. Models whose rounding errors add up to more are not what a
// cast puts right. Who asks for islands of bfloat16 takes what they lose.
func tolerance(p *rewrite.Plan, m *graph.Model) float64 {
	if slices.ContainsFunc(p.Edits, func(e rewrite.Edit) bool { _, ok := e.(rewrite.ToBF16); return ok }) {
		return max(leastTolerance, mostUnits*numfmt.BF16.Unit())
	}
	return toleranceOf(p.Target, m)
}

// leastTolerance is the error that no output is blamed for, and mostUnits how many units of a format are not.
const (
	leastTolerance = 0.05
	mostUnits      = 32
)

// toleranceOf allows for as many units of a format as the roundings of a model add up to: the root of their number,
// since they are free of one another. With 8 bits a single element may be off by nearly anything.
func toleranceOf(f numfmt.Format, m *graph.Model) float64 {
	units := float64(mostUnits)
	if f.Bits() >= 16 {
		nodes := 0
		for range m.Nodes() {
			nodes++
		}
		units = min(units, 4*math.Sqrt(float64(nodes)))
	}
	return max(leastTolerance, units*f.Unit())
}

// proved carries the plan out and runs the result against the original in FP32, on the samples and
// on made inputs. Where an output differs by more than rounding, the values that it takes to put it
// right are found by trying and held in FP32 too.
func (f *Fixed) proved(ctx context.Context, a *analysis, plan *rewrite.Plan, opt *FixOptions) (*graph.Model, error) {
	w, ok := trials[opt.Effort]
	f.origin.beside, f.last = ok && opt.Replay == nil, nil
	m, err := f.rounds(ctx, a, plan, opt)
	if err == nil && opt.Replay == nil && rescales(f.Edits) && f.After.Failed(opt.FailOn) {
		return f.without(ctx, a, plan, opt, "rescale", scaledBadly)
	}
	if err != nil || !ok || !f.Summary.Changed && plan.Strategy != rewrite.Repair || opt.Replay != nil || f.After.fixable(opt.FailOn) {
		f.alone(ctx, opt)
		return m, err
	}
	w.Samples = a.inputs.feeds(a.model)
	p := &proof{plan: plan, model: a.model, trial: a.newTrial(ctx, w), tolerance: tolerance(plan, a.model)}
	fault, loss, err := p.trial.JudgeLoss(ctx, m, p.tolerance)
	if err != nil {
		f.alone(ctx, opt)
	}
	if err != nil || fault == nil {
		f.noteLoss(plan, p.loss(ctx, a, m, w, loss))
		return m, ctx.Err()
	}
	switch {
	case rescales(f.Edits):
		return f.without(ctx, a, plan, opt, "rescale", scaledBadly)
	case slices.Contains(opt.Prefer, "clamp") && has[rewrite.Clamp](f.Edits):
		return f.without(ctx, a, plan, opt, "clamp", clampedBadly)
	}
	if !fault.NotFinite && p.tied(ctx, a, m) {
		return m, ctx.Err()
	}
	again := *f
	if fault.NotFinite {
		again.extra = p.mend(ctx, m)
	}
	if again.extra == nil {
		again.extra = p.repair(ctx)
	}
	if again.extra != nil {
		again.reset(plan, opt)
		better, err := again.rounds(ctx, a, plan, opt)
		if err != nil {
			return nil, err
		}
		if left, err := p.trial.Judge(ctx, better, p.tolerance); err == nil && left == nil && !again.After.Failed(opt.FailOn) {
			*f = again
			f.Summary.Notes = append(f.Summary.Notes, f.because(fault))
			return better, nil
		}
	}
	if fault.NotFinite {
		f.Refused = fmt.Sprintf("output %q would not be finite for an input that gives a finite one in fp32", fault.Output) + p.where()
		return m, nil
	}
	f.Summary.Notes = append(f.Summary.Notes, fmt.Sprintf("output %q differs by up to %.2g of its largest value from the fp32 run on made inputs", fault.Output, fault.Error)+p.sways(ctx))
	return m, nil
}

// tied tells whether the inputs that the result narrows put an output off by themselves, since they come close to what
// they are compared with: that is no fault of the plan.
func (p *proof) tied(ctx context.Context, a *analysis, m *graph.Model) bool {
	hold, err := p.plan.Hold(p.model)
	if err != nil || p.plan.Target.Bits() < 16 {
		return false
	}
	w := witness.Options{Target: p.plan.Target, Hold: func(v *graph.Value) (numfmt.Format, bool) {
		if v.Input && narrowed(m.Graph.Lookup(v.Name), p.plan.Target) {
			return p.plan.Target, true
		}
		return hold(v)
	}}
	if p.plan.Strategy == rewrite.Repair && !a.asFormat(&w, p.plan.Target) {
		return false
	}
	return p.trial.Again().Tied(ctx, p.model, w, p.tolerance)
}

// narrowed tells whether an input of a result is of a format, or cast to it.
func narrowed(v *graph.Value, f numfmt.Format) bool {
	low := graph.ElemOf(f)
	return v != nil && (v.Type.Elem == low || slices.ContainsFunc(v.Uses, func(u graph.Use) bool {
		return u.Node != nil && u.Node.OpName() == "Cast" && u.Node.Out(0).Type.Elem == low
	}))
}

// magnified is how many times as far as its inputs are moved an output is off where a model magnifies any rounding: no
// choice of values to hold in FP32 helps there.
const magnified = 8

// sways says where a model magnifies what its inputs are off by.
func (p *proof) sways(ctx context.Context) string {
	sway := p.trial.Again().Sway(ctx, p.model, p.plan.Target)
	if sway < magnified*p.plan.Target.Unit() {
		return ""
	}
	return fmt.Sprintf("; inputs moved by one unit of %s take the fp32 run itself %.2g off: the model magnifies any rounding, as many do with random weights, and no few values held in fp32 change that", p.plan.Target, sway)
}

// alone makes up for the runs of the last result beside itself, which were left to the runs beside the original
// and are wanted all the same.
func (f *Fixed) alone(ctx context.Context, opt *FixOptions) {
	if f.last == nil || !f.last.from.runs() || slices.ContainsFunc(f.After.Findings, explains) {
		return
	}
	f.last.from.beside = false
	f.After = f.last.check(ctx, f.judged(), &opt.Options)
}

// fixable tells whether the report fails by a finding that edits help against. What a run alone has shown,
// and a rule cannot explain, comes without.
func (r *Report) fixable(t Threshold) bool {
	return slices.ContainsFunc(r.Findings, func(x rules.Finding) bool { return t.Reached(x.Severity) && len(x.Edits) > 0 })
}

// reset takes back what the rounds did.
func (f *Fixed) reset(plan *rewrite.Plan, opt *FixOptions) {
	f.After, f.Applied, f.Edits, f.Summary = f.Before, nil, nil, rewrite.Summary{}
	f.Plan = newPlanFile(f.Path, plan, opt)
}

// because says what the runs led to.
func (f *Fixed) because(fault *witness.Fault) string {
	var names []string
	for _, e := range f.extra {
		names = append(names, strconv.Quote(e.(rewrite.Widen).Value.Key()))
	}
	return fmt.Sprintf("held in fp32 besides, for a run of the result gave a wrong output %q without it: %s", fault.Output, strings.Join(names, ", "))
}

// proof looks for the values that must not be low.
type proof struct {
	plan      *rewrite.Plan // with the edits of its first round
	model     *graph.Model  // the original
	trial     *witness.Trial
	tolerance float64
	breaks    []*graph.Value // where a run stopped being finite, first to last met
}

// where says where a run stopped being finite, and what to do about it.
func (p *proof) where() string {
	if len(p.breaks) == 0 {
		return "; amplint trace shows where it stops being so"
	}
	v := p.breaks[len(p.breaks)-1]
	return fmt.Sprintf("; %q (%s at node %q) is the first value that is not: hold it in fp32 (widen in a plan), or leave the node out (--exclude)", v.Key(), v.Producer.OpName(), v.Producer.Key())
}

// maxBreaks bounds the values that are held in FP32 one after the other because a run breaks there.
const maxBreaks = 8

// mend widens the values at which a run stops being finite, one after the other, until the outputs are
// right; nil where that leads nowhere.
func (p *proof) mend(ctx context.Context, m *graph.Model) []rewrite.Edit {
	for range maxBreaks {
		b := p.trial.Break(ctx, m, witness.Options{})
		if b == nil {
			return nil
		}
		v := p.original(b.Value)
		if v == nil || slices.Contains(p.breaks, v) {
			return nil
		}
		p.breaks = append(p.breaks, v)
		var fault *witness.Fault
		if m, fault = p.tried(ctx, p.breaks); m == nil {
			return nil
		}
		if fault == nil {
			return widened(p.breaks)
		}
		if !fault.NotFinite {
			return nil
		}
	}
	return nil
}

// original returns the value of the original that a value of the result is, nil where it is a new one.
func (p *proof) original(v *graph.Value) *graph.Value {
	key := v.Key()
	return firstValue(p.model, func(w *graph.Value) bool { return w.Producer != nil && w.Key() == key })
}

// repair returns edits that widen values of the plan until the outputs are right, and of these no
// more than it takes; nil where not even all of them help, or where no small part does: the errors
// are then those of a model that magnifies any rounding.
func (p *proof) repair(ctx context.Context) []rewrite.Edit {
	hold, err := p.plan.Hold(p.model)
	if err != nil {
		return nil
	}
	var low []*graph.Value
	for g := range p.model.Graphs() {
		for _, v := range g.Values {
			if _, ok := hold(v); ok {
				low = append(low, v)
			}
		}
	}
	if !p.right(ctx, low) {
		return nil
	}
	return widened(witness.Least(low, func(wide []*graph.Value) bool { return p.right(ctx, wide) }))
}

// searchShare is how much of the work of a trial may go into the search for values: what it comes to is judged by
// the rest.
const searchShare = 0.9

// right tells whether the outputs are right with values held in FP32. Nothing is once a search has taken its share.
func (p *proof) right(ctx context.Context, wide []*graph.Value) bool {
	m, fault := p.tried(ctx, wide)
	return m != nil && fault == nil
}

// tried carries the plan out with values held in FP32 besides, and returns the result and its fault; a nil
// model where it cannot be judged, or a search has taken its share.
func (p *proof) tried(ctx context.Context, wide []*graph.Value) (*graph.Model, *witness.Fault) {
	if p.trial.Spent(searchShare) {
		return nil, nil
	}
	plan := *p.plan
	plan.Edits = slices.Concat(p.plan.Edits, widened(wide))
	m, _, err := plan.Apply(p.model)
	if err != nil {
		return nil, nil
	}
	fault, err := p.trial.Judge(ctx, m, p.tolerance)
	if err != nil {
		return nil, nil
	}
	return m, fault
}

func widened(values []*graph.Value) []rewrite.Edit {
	var edits []rewrite.Edit
	for _, v := range values {
		edits = append(edits, rewrite.Widen{Value: v})
	}
	return edits
}
