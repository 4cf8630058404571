package analyze

import (
	"context"
	"fmt"
	"strings"

	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/rules"
)

// Report is what a check of one model found.
type Report struct {
	Path     string
	Target   Target
	Inputs   []rangeprop.InputRange
	Summary  Summary
	Findings []rules.Finding
	// Suppressed are findings that somebody has decided about. They fail nothing; the summary counts
	// them as ignored or known.
	Suppressed []Suppressed
	Notes      []string // what had to be put right or overlooked, for stderr
	// Missed is what was said and had no effect on this model: it may have been meant for another.
	Missed  []string
	Profile *Profile // nil where [Options] asked for none
}

// Suppressed is a finding that the project has looked at and lives with.
type Suppressed struct {
	rules.Finding
	By     string // what said so: "config" or "baseline"
	Reason string // "" where none was given
	Until  string // the date from which on it is reported again, "" for never
}

// Summary counts.
type Summary struct {
	Nodes, Values           int // over all graphs; values are those of float type
	Unbounded               int // float values without a finite bound
	Unknown                 []rangeprop.OpCount
	Errors, Warnings, Notes int
	Ignored                 int // by the config
	Known                   int // findings of the baseline
}

// Failed tells whether the report holds a finding that makes the run fail.
func (r *Report) Failed(t Threshold) bool {
	for _, f := range r.Findings {
		if t.Reached(f.Severity) {
			return true
		}
	}
	return false
}

// Check analyses the model of a file. Errors are failures to read or analyse it; what is wrong with
// the model stands in the report.
func Check(ctx context.Context, path string, opt Options) (*Report, error) {
	a, err := load(ctx, path, &opt, true)
	if err != nil {
		return nil, err
	}
	defer a.model.Close()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := a.check(ctx, opt.Target.resolve(a.model), &opt)
	if err := a.model.Mixed(); err != nil { // runtimes refuse it, whatever its numbers do
		r.Notes = append(r.Notes, fmt.Sprintf("the model is not valid: %v; converters leave that behind a Cast they pass over", err))
	}
	r.forgive(opt.Baseline)
	return r, ctx.Err() // a report that was interrupted lacks findings
}

// check judges an analysed model.
func (a *analysis) check(ctx context.Context, t Target, opt *Options) *Report {
	format := t.format()
	if t == AsIs {
		format = lowest(a.model)
	}
	if t == AsIs && format == numfmt.FP32 && a.narrowed != numfmt.Invalid {
		format = a.narrowed
	}
	r := &Report{Path: a.model.Path, Target: t, Inputs: a.ranges.Inputs(), Notes: append(a.notes(), a.unrun(opt)...)}
	in := &rules.Input{Model: a.model, Info: a.info, Ranges: a.ranges, Patterns: a.ranges.Patterns(),
		Target: format, Hold: t.holder(), Strict: opt.Strict, Disabled: opt.Config.Off()}
	a.shared = refeval.NewShared()
	defer func() { a.shared = nil }()
	a.kernels(ctx, t, opt, in)
	found := rules.Run(in)
	seen := a.probe(ctx, t, opt, in, found)
	if seen != nil {
		found = rules.Run(in)
	}
	if !a.from.runs() && a.unexplained(ctx, t, opt, in, found) {
		found = rules.Run(in)
	}
	a.absorb(ctx, t, opt, in, found)
	a.attest(ctx, t, opt, in, found, seen)
	r.Missed = a.inputs.missed
	r.sift(found, opt.Config)
	if opt.Witnesses {
		r.Notes = append(r.Notes, unshown(r.Findings)...)
	}
	if opt.Profile {
		r.Profile = a.profile(in, r)
	}
	a.summarize(&r.Summary)
	return r
}

// unrun tells that runs are asked for and there can be none.
func (a *analysis) unrun(opt *Options) []string {
	w, runs := budgets[opt.Effort]
	if !runs {
		return nil
	}
	const nothing = "nothing is run, bounds and estimates decide: "
	if missing := refeval.Missing(a.model); len(missing) > 0 {
		return []string{nothing + "the evaluator has no operator " + strings.Join(missing, ", ")}
	}
	if !w.Fits(a.model) {
		return []string{nothing + "a run takes more operations than --effort " + opt.Effort + " allows"}
	}
	return nil
}

func (a *analysis) notes() []string {
	notes := append([]string{}, a.model.Notes...)
	notes = append(notes, a.info.Notes...)
	return append(notes, a.inputs.notes...)
}

// allNotes are the notes where there is but one model that anything can have been meant for.
func (a *analysis) allNotes() []string {
	notes := a.notes()
	for _, m := range a.inputs.missed {
		notes = append(notes, m+" of the model")
	}
	return notes
}

func (a *analysis) summarize(s *Summary) {
	s.Unknown = a.ranges.UnknownOps()
	for g := range a.model.Graphs() {
		s.Nodes += len(g.Nodes)
		for _, v := range g.Values {
			if !v.Type.Float() {
				continue
			}
			s.Values++
			if x := a.ranges.Val(v); x == nil || !x.Hull().Bounded() {
				s.Unbounded++
			}
		}
	}
}
