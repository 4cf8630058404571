package analyze

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/diff"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules"
)

// FixOptions are what the flags of fix say.
type FixOptions struct {
	Options
	Out          string
	Stdout       io.Writer // what is written to where Out is [Std]
	InPlace      bool      // Out is the input itself
	DryRun       bool      // everything but the writing
	Strategy     string
	KeepIO       func(v *graph.Value) bool // nil: all inputs and outputs keep their types
	KeepNames    []string                  // that KeepIO was made from, to be found in the model
	NarrowDouble bool
	// Include and Exclude select nodes, see parseSelectors: all others, or these, stay as they are.
	Include, Exclude []string
	Prefer           []string // see ParseWays: how findings are to be fixed, the first that can be
	AllowUnsafe      bool     // ways that change FP32 results count too
	// ErrorBudget is the error of the outputs that rounding may be predicted to make, relative to their
	// root mean square; 0 for any.
	ErrorBudget float64
	PlanPath    string    // where the plan is written to, "" for nowhere
	Replay      *PlanFile // carried out instead of a plan of our own; it brings target, strategy and selection
}

// Fixed is what a fix did.
type Fixed struct {
	Path, Out string
	Strategy  string
	Before    *Report         // of the input
	After     *Report         // of the result
	Applied   []rules.Finding // those whose edits were applied, in all rounds
	Edits     []rewrite.Edit
	Summary   rewrite.Summary
	Refused   string   // why nothing was written, "" where it was
	Hopeless  []string // of what remains, what cannot be repaired from the file, and what has to change
	Plan      *PlanFile
	Diff      *diff.Result // of the input and the result, for a dry run

	target Target
	valid  bool           // the input kept to the standard
	extra  []rewrite.Edit // that runs have shown to be needed, for the first round
	budget *budget        // nil for none
	origin origin         // of the results
	last   *analysis      // of the result
	leave  func(*graph.Node) bool
	// unrounded tells of the nodes that 8 bits were asked for and that stay as they are, "" for none.
	unrounded string
}

// maxRounds bounds how often the result is repaired again. A repair that uncovers new findings
// twice does not end by itself. With 8 bits a scale changes the bounds of all behind it.
const (
	maxRounds  = 3
	maxRounds8 = 24
)

// Fix rewrites the model of a file so that nothing at or above the threshold remains, and writes
// it only then.
func Fix(ctx context.Context, path string, opt FixOptions) (*Fixed, error) {
	var draft *graph.Draft
	defer func() { draft.Discard() }()
	opt.begun = func(m *graph.Model) { draft = ahead(m, &opt) }
	a, err := load(ctx, path, &opt.Options, true)
	if err != nil {
		return nil, err
	}
	defer a.model.Close()
	if err := ends(a.model, opt.KeepNames); err != nil {
		return nil, err
	}
	plan, t, err := newPlan(a.model, &opt)
	if err != nil {
		return nil, err
	}
	f := &Fixed{Path: path, Out: opt.Out, Strategy: strategyName(plan.Strategy), Before: a.check(ctx, examined(a.model, t), &opt.Options), target: t}
	f.origin = origin{analysis: a, sought: a.sought, seen: a.seen, alike: t != FP32 && plan.Strategy != rewrite.Weights && len(opt.Include)+len(opt.Exclude) == 0}
	f.After, f.valid, f.leave = f.Before, a.model.Check() == nil, plan.Leave
	f.Plan = newPlanFile(path, plan, &opt)
	if f.budget, err = a.newBudget(plan, &opt); err != nil {
		return nil, err
	}
	m, err := f.proved(ctx, a, plan, &opt)
	if err != nil {
		return nil, err
	}
	if f.unrounded != "" {
		f.Summary.Notes = append(f.Summary.Notes, f.unrounded)
	}
	if !f.valid {
		f.noteMixed(m)
	}
	f.After.forgive(opt.Baseline) // known findings are fixed where they can be, and may remain
	if err := f.show(a.model, m, &opt); err != nil {
		return nil, err
	}
	if f.Refused == "" && f.After.Failed(opt.FailOn) && !f.identical(a.model) {
		f.Refused = fmt.Sprintf("%s would remain", f.After.remaining(opt.FailOn))
		f.Hopeless = f.After.hopeless(f.Before, opt.FailOn)
	}
	if f.Refused != "" || opt.DryRun {
		return f, nil
	}
	if err := ctx.Err(); err != nil { // what the last analysis found may lack something
		return nil, err
	}
	return f, save(ctx, m, draft, &opt)
}

// identical tells whether the way to FP32 leaves a model of FP32 as it was: its defects are its own then, and
// the copy is as good as the model.
func (f *Fixed) identical(m *graph.Model) bool {
	return f.target == FP32 && !f.Summary.Changed && lowest(m) == numfmt.FP32
}

// examined is what the input is checked for: on the way to FP32 a model with low values is looked at
// as it is, since constants that it has lost are lost in FP32 too.
func examined(m *graph.Model, t Target) Target {
	if t == FP32 && lowest(m) != numfmt.FP32 {
		return AsIs
	}
	return t
}

// show writes the plan and compares the models, as far as that was asked for.
func (f *Fixed) show(before, after *graph.Model, opt *FixOptions) (err error) {
	if opt.PlanPath != "" {
		if err := f.Plan.Save(opt.PlanPath); err != nil {
			return err
		}
	}
	if opt.DryRun {
		f.Diff, err = diff.Models(before, after)
	}
	return err
}

// ends makes sure that names are those of inputs and outputs.
func ends(m *graph.Model, names []string) error {
	var list []string
	for _, v := range slices.Concat(realInputs(m), m.Graph.Outputs) {
		list = append(list, v.Name)
	}
	for _, name := range names {
		if !slices.Contains(list, name) {
			return usagef("--keep-io-types: %q is no input or output of %s; those are %s", name, m.Path, strings.Join(list, ", "))
		}
	}
	return nil
}

// newPlan makes the plan without edits, and says what the model is checked for.
func newPlan(m *graph.Model, opt *FixOptions) (p *rewrite.Plan, t Target, err error) {
	if opt.Replay != nil {
		opt.Include, opt.Exclude = opt.Replay.Include, opt.Replay.Exclude
		p, t, err = opt.Replay.plan()
	} else {
		p, t, err = askedPlan(m, opt)
	}
	if err == nil {
		p.Leave, err = left(m, opt.Include, opt.Exclude)
		p.Chosen = len(opt.Include) > 0
	}
	return p, t, err
}

// askedPlan is the plan that the flags ask for.
func askedPlan(m *graph.Model, opt *FixOptions) (*rewrite.Plan, Target, error) {
	t := opt.Target.resolve(m)
	p := &rewrite.Plan{KeepIO: opt.KeepIO, NarrowDouble: opt.NarrowDouble, Target: t.format()}
	switch t {
	case AsIs:
		p.Target, p.Strategy = repairTarget(m), rewrite.Repair
	}
	if opt.Strategy != "" && (t == E4M3FN || t == E5M2) {
		return nil, t, usagef("--target %s goes with no strategy: it rounds the operands of MatMul, Gemm and convolutions", t)
	}
	switch opt.Strategy {
	case "repair":
		p.Strategy = rewrite.Repair
	case "mixed":
		p.Strategy = rewrite.Mixed
	case "weights":
		if p.Strategy = rewrite.Weights; t == FP32 {
			return nil, t, usagef("--weights-only with --target fp32: there is nothing to store low")
		}
		t = AsIs // the model computes as it does
	}
	return p, t, nil
}

// repairTarget is the format that values of an as-is model return to behind an FP32 island.
func repairTarget(m *graph.Model) numfmt.Format {
	found := numfmt.FP16
	for g := range m.Graphs() {
		for _, v := range g.Values {
			switch v.Type.Elem {
			case graph.Float16:
				return numfmt.FP16
			case graph.BFloat16:
				found = numfmt.BF16
			}
		}
	}
	return found
}

func strategyName(s rewrite.Strategy) string {
	return [...]string{rewrite.Mixed: "mixed", rewrite.Repair: "repair", rewrite.Weights: "weights"}[s]
}

// rounds applies the edits of the findings and analyses the result, again while it has findings
// that can be fixed. It returns the last result.
func (f *Fixed) rounds(ctx context.Context, a *analysis, plan *rewrite.Plan, opt *FixOptions) (*graph.Model, error) {
	for round := 0; ; round++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		edits, done, err := f.edits(a, plan, round, opt)
		if err != nil || done {
			return a.model, err
		}
		step := f.step(plan, round, edits)
		m, sum, err := step.Apply(a.model)
		if errors.Is(err, rewrite.ErrUnable) {
			f.Refused = err.Error()
			return a.model, nil
		}
		if err != nil {
			return nil, asked(opt, fmt.Errorf("%s: rewriting: %w", f.Path, err))
		}
		if round == 0 {
			if m, err := f.settled(ctx, a, plan, m, sum, opt); m != nil || err != nil {
				return m, err
			}
		}
		f.Plan.note(edits, f.Applied)
		f.add(sum, edits)
		a.ranges.Forget() // the bounds of the result take their place
		if a, err = f.verify(ctx, m, opt); err != nil {
			return nil, asked(opt, err)
		}
		if !sum.Changed {
			return m, nil
		}
	}
}

// step is the plan of a round with its edits: the plan itself, and behind it repairs of its result. To 8
// bits the result is rounded again, as long as there is more that has a scale now.
func (f *Fixed) step(plan *rewrite.Plan, round int, edits []rewrite.Edit) *rewrite.Plan {
	switch {
	case round == 0 && (plan.Target.Bits() != 8 || has[rewrite.Quantize](edits)):
		plan.Edits = edits
		return plan
	case plan.Target.Bits() == 8 && has[rewrite.Quantize](edits):
		again := *plan
		again.Edits = edits
		return &again
	}
	return &rewrite.Plan{KeepIO: plan.KeepIO, Target: repairedIn(plan.Target), Strategy: rewrite.Repair, Leave: plan.Leave, Edits: edits}
}

// noteMixed says where a model that was not valid before mixes types.
func (f *Fixed) noteMixed(m *graph.Model) {
	if err := m.Mixed(); err != nil {
		f.Summary.Notes = append(f.Summary.Notes, fmt.Sprintf("the model is not valid, nor was it before: %v; converters leave that behind a Cast they pass over: export it in fp32 and fix that", err))
	}
}

// asked makes an error of a rewriting one of usage where a plan file asked for it: then the plan is
// wrong, not the model.
func asked(opt *FixOptions, err error) error {
	if opt.Replay == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return &UsageError{fmt.Errorf("plan: %w", err)}
}

// repairedIn is the format of the rounds behind the first: what 8 bits do not hold is FP32.
func repairedIn(f numfmt.Format) numfmt.Format {
	if f.Bits() == 8 {
		return numfmt.FP16
	}
	return f
}

// edits returns the edits of a round: those of the plan file, or those that the findings ask for.
func (f *Fixed) edits(a *analysis, plan *rewrite.Plan, round int, opt *FixOptions) (list []rewrite.Edit, done bool, err error) {
	if p := opt.Replay; p != nil {
		if round >= len(p.Rounds) {
			return nil, round > 0, nil
		}
		list, err = p.Rounds[round].edits(a.model)
		return list, false, err
	}
	if round == maxRounds8 || round == maxRounds && plan.Target.Bits() != 8 {
		return nil, true, nil
	}
	if plan.Target.Bits() == 8 {
		if list, f.unrounded = a.quantized(plan); len(list) > 0 {
			return append(list, f.extra...), false, nil
		}
	}
	list = f.collect(a.chooser(plan, opt), opt.Strict)
	if round == 0 {
		list = append(list, f.extra...)
		list, err = f.budgeted(a.model, plan, list)
	}
	return list, round > 0 && len(list) == 0, err
}

// collect returns the edits of the findings that are to be fixed: notes keep their low values.
func (f *Fixed) collect(c *chooser, strict bool) []rewrite.Edit {
	var edits []rewrite.Edit
	for _, x := range f.After.Findings {
		if !wanted(x, strict) || x.Node != nil && f.leave != nil && f.leave(x.Node) {
			continue
		}
		x.Edits = c.edits(x)
		f.Applied = append(f.Applied, x)
		edits = append(edits, x.Edits...)
	}
	return edits
}

// add sums up the rounds.
func (f *Fixed) add(s *rewrite.Summary, edits []rewrite.Edit) {
	t := &f.Summary
	t.Changed = t.Changed || s.Changed
	t.Casts += s.Casts
	t.Removed += s.Removed
	t.Retargeted += s.Retargeted
	t.Low, t.FP32 = s.Low, s.FP32
	t.Converted += s.Converted
	t.Inlined = append(t.Inlined, s.Inlined...)
	t.Notes = append(t.Notes, s.Notes...)
	t.Formats = merged(t.Formats, s.Formats)
	f.Edits = append(f.Edits, edits...)
}

// merged adds what a later round decided: a node that was in FP32 before it is so for the first
// reason.
func merged(before, after []rewrite.Format) []rewrite.Format {
	old := make(map[string]rewrite.Format, len(before))
	for _, x := range before {
		old[x.Key+"\x00"+x.Op] = x
	}
	list := slices.Clone(after)
	for i, x := range list {
		o, ok := old[x.Key+"\x00"+x.Op]
		if !ok {
			continue
		}
		list[i].Before = o.Before
		if o.After == x.After {
			list[i].Why = o.Why
		}
	}
	return list
}

// remaining counts the findings that make a run fail.
func (r *Report) remaining(t Threshold) string {
	n := 0
	for _, f := range r.Findings {
		if t.Reached(f.Severity) {
			n++
		}
	}
	if n == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", n)
}
