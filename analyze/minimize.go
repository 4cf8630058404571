package analyze

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/minimize"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/rules"
)

// Minimized is the smallest part of a model that was found to show a finding.
type Minimized struct {
	Path    string
	Target  Target
	Finding rules.Finding // in the model
	Model   *graph.Model  // the part
	Shown   rules.Finding // in the part, with the input that shows it where there is one
	Before  int           // nodes of the model
}

// Minimize cuts a model down to what shows one of its findings, which choose picks. budget is how
// many parts are tried at most.
func Minimize(ctx context.Context, path string, opt Options, choose func([]rules.Finding) (*rules.Finding, error), budget int) (*Minimized, error) {
	opt.Witnesses = true
	a, err := load(ctx, path, &opt, true)
	if err != nil {
		return nil, err
	}
	defer a.model.Close()
	t := opt.Target.resolve(a.model)
	found := a.check(ctx, t, &opt)
	f, err := choose(found.Findings)
	if err != nil {
		return nil, err
	}
	r := &Minimized{Path: path, Target: t, Finding: *f, Before: found.Summary.Nodes}
	s := &shower{ctx: ctx, opt: Options{Target: t, Effort: opt.Effort, Accumulate: opt.Accumulate, Flush: opt.Flush, Witnesses: true, Lenient: true}, want: f, valid: a.model.Check() == nil}
	if f.Evidence < rules.Observed {
		s.opt.Effort = "" // the bounds decide, and no run
	}
	part, err := a.part(ctx, f, s, budget)
	if err != nil {
		return nil, fmt.Errorf("%s: %s at %s: %w", path, f.Rule, f.Node.Key(), err)
	}
	s.opt.Effort, s.last = opt.Effort, true
	again, err := minimize.Reread(part) // the last check is of what will be written
	if err != nil || !s.fails(again) {
		return nil, fmt.Errorf("%s: %s at %s: %w", path, f.Rule, f.Node.Key(), minimize.ErrLost)
	}
	r.Model, r.Shown = part, s.shown
	return r, nil
}

// part looks for the smallest part. The ranges that inner values take on the input that shows the
// finding are the closest to the truth; what cannot be shown with them may be with what bounds the
// values.
func (a *analysis) part(ctx context.Context, f *rules.Finding, s *shower, budget int) (*graph.Model, error) {
	bounds := a.limits()
	taken, err := a.taken(ctx, f, bounds)
	if err != nil {
		return nil, err
	}
	err = minimize.ErrLost
	var part *graph.Model
	for _, ranges := range []map[string]minimize.Range{taken, bounds} {
		part, err = minimize.Of(a.model, outermost(f.Node), minimize.Options{Ranges: ranges, Fails: s.fails, Budget: budget})
		if !errors.Is(err, minimize.ErrLost) || ctx.Err() != nil {
			break
		}
	}
	return part, cmp.Or(ctx.Err(), err)
}

// outermost returns the node of the main graph that a node is, or lies in.
func outermost(n *graph.Node) *graph.Node {
	for n.Graph.Owner != nil {
		n = n.Graph.Owner
	}
	return n
}

// limits returns the bounds of the values of the main graph that have some.
func (a *analysis) limits() map[string]minimize.Range {
	list := map[string]minimize.Range{}
	for _, v := range a.model.Graph.Values {
		if x := a.ranges.Val(v); x != nil && x.Hull().Bounded() {
			list[v.Name] = minimize.Range(x.Hull())
		}
	}
	return list
}

// taken returns the bounds with those of inner values replaced by what they were in FP32 on the
// input that shows a finding. An input of the model keeps what was declared for it, and so does a
// value that was one number throughout.
func (a *analysis) taken(ctx context.Context, f *rules.Finding, bounds map[string]minimize.Range) (map[string]minimize.Range, error) {
	list := maps.Clone(bounds)
	if f.Input == nil {
		return list, nil
	}
	r, err := refeval.New(a.model, refeval.Options{Wide: true, Free: a.free(f), Observe: func(v *graph.Value, t *refeval.Tensor) {
		if h, ok := hullOf(t); ok && v.Graph == a.model.Graph && v.Producer != nil && h.Lo < h.Hi {
			list[v.Name] = h
		}
	}})
	if err != nil {
		return nil, err
	}
	_, err = r.Run(ctx, f.Input)
	return list, err
}

// free lists the initializers that the input of a finding moves.
func (a *analysis) free(f *rules.Finding) []*graph.Value {
	var list []*graph.Value
	for _, v := range a.model.Graph.Inits() {
		if f.Input[v.Name] != nil && !v.Input {
			list = append(list, v)
		}
	}
	return list
}

// shower tells whether a part shows what the model does.
type shower struct {
	ctx   context.Context
	opt   Options
	want  *rules.Finding
	valid bool          // the model keeps to the standard, and so must a part
	last  bool          // the part is the smallest
	shown rules.Finding // by the last part that did
}

// fails checks a part. What does not keep to the standard would fail for other reasons; where an
// input showed the finding in the model, one must in the part.
func (s *shower) fails(m *graph.Model) bool {
	if s.ctx.Err() != nil || s.valid && m.Check() != nil {
		return false
	}
	opt := s.opt
	a, err := analyse(s.ctx, m, &opt)
	if err != nil {
		return false
	}
	for _, f := range a.check(s.ctx, opt.Target, &opt).Findings {
		if f.Node != nil && s.same(&f) {
			s.shown = f
			return true
		}
	}
	return false
}

// same tells whether a finding of a part is that of the model. What only a bound allows there is not
// to be certain here: the report would be about another thing.
func (s *shower) same(f *rules.Finding) bool {
	w := s.want
	alike := f.Severity == w.Severity && (f.Evidence >= rules.Observed) == (w.Evidence >= rules.Observed)
	return f.Rule == w.Rule && f.Kind == w.Kind && (alike || s.last && f.Severity > w.Severity) &&
		f.Node.OpName() == w.Node.OpName() && (f.Input != nil || w.Input == nil)
}

// hullOf returns the least and the largest element; ok is false where one is not finite, or none is
// a number.
func hullOf(t *refeval.Tensor) (r minimize.Range, ok bool) {
	r = minimize.Range{Lo: math.Inf(1), Hi: math.Inf(-1)}
	see := func(f float64) { r.Lo, r.Hi = math.Min(r.Lo, f), math.Max(r.Hi, f) }
	for _, f := range t.F {
		see(float64(f))
	}
	for _, f := range t.D {
		see(f)
	}
	for _, i := range t.I {
		see(float64(i))
	}
	return r, r.Hi-r.Lo >= 0 && r.Hi-r.Lo <= math.MaxFloat64
}
