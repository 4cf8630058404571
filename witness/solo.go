package witness

import (
	"context"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
)

// solo is the run in which one value alone is held low: what a hazard does by itself, where another
// one spoils the outputs anyway.
type solo struct {
	runner *refeval.Runner // nil where it could not be planned
	runs   int
}

// maxSolos bounds the values that are held low by themselves: each takes a plan of the model.
const maxSolos = maxSuspects

// alone tells whether the outputs are right when of all values this one alone is held low. want are
// the outputs in FP32.
func (p *prober) alone(ctx context.Context, v *graph.Value, in Input, want map[string]*refeval.Value) bool {
	if p.low == nil || p.opt.Target == numfmt.Invalid || want == nil {
		return false
	}
	s := p.solos[v]
	if s == nil {
		if len(p.solos) >= maxSolos {
			return false
		}
		s = p.newSolo(v)
		p.solos[v] = s
	}
	if s.runner == nil || s.runs >= Enough { // it has been right as often as it needs to be
		return s.runner != nil
	}
	s.runs++
	got, err := s.runner.Run(ctx, in)
	return err == nil && same(want, got)
}

func (p *prober) newSolo(v *graph.Value) *solo {
	o := p.opt.lowered(p.free, p.spend, nil)
	o.Keep = func(w *graph.Value) bool { return w != v }
	return planSolo(p.m, o)
}

func planSolo(m *graph.Model, o refeval.Options) *solo {
	r, _ := refeval.New(m, o)
	return &solo{runner: r}
}

// maxBlamed bounds the runs that tell whether a goal is why an output is not finite.
const maxBlamed = 24

// breaksAlone tells whether an output is wrong too, and where it was not finite, is so too, when of all
// values only those of a goal, and what they are computed from, are held low. A goal whose runs are used
// up is not blamed; where nothing can be held low by itself, all are.
func (f *finder) breaksAlone(ctx context.Context, h *hunt, in Input, want map[string]*refeval.Value, notFinite bool) bool {
	if f.opt.Target == numfmt.Invalid {
		return true
	}
	got := f.runAlone(ctx, h, in)
	if got == nil {
		return h.alone.runner == nil
	}
	return allFinite(want) && !same(want, got) && (!notFinite || !allFinite(got))
}
