package trace

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/samples"
)

// Value is what was seen of one value of the model, in all passes through its graph and all
// samples.
type Value struct {
	*graph.Value
	Elem      graph.ElemType
	Dims      []int
	Format    numfmt.Format // that it is held in
	Passes    int
	Target    Stats
	Reference Stats
	Error     Diff // of the target against the reference
}

// First is the first value of a kind in the order of the graph, and the sample that showed it.
type First struct {
	Value  *Value
	Sample int
}

// Trace is what a model did on samples.
type Trace struct {
	Values []*Value // of real numbers, in the order of the run
	// NonFinite, Flush and Lossy are the first values with an element that is not finite, or is
	// zero, and is not so in FP32; and the first that is off by [Lossy]. Nil where there is none.
	NonFinite, Flush, Lossy *First
	Outputs                 [][]samples.Named // of the target, for each sample that ran to its end
	// Stopped is what ended a run of the target early, nil if nothing did: an index that rounding
	// led out of its range, for one. It is the last that was seen.
	Stopped *refeval.NodeError

	known map[*graph.Value]*Value
	at    int // the sample that runs
}

// Of traces a model on samples, one after the other, up to one that stops at a node.
func Of(ctx context.Context, m *graph.Model, list []*samples.Sample, opt Options) (*Trace, error) {
	opt.free = moved(m, list)
	t := &Trace{known: map[*graph.Value]*Value{}}
	p, err := newPair(m, opt, t.see)
	if err != nil {
		return nil, err
	}
	for i, s := range list {
		t.at = i
		out, err := p.run(ctx, m, s)
		if errors.As(err, &t.Stopped) {
			break
		}
		if err != nil {
			return nil, sampleErr(s, err)
		}
		t.Outputs = append(t.Outputs, named(m, out))
	}
	return t, nil
}

func sampleErr(s *samples.Sample, err error) error {
	if s.Name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", s.Name, err)
}

// see takes in one value of the target and its like in the reference, nil where the runs parted.
func (t *Trace) see(v *graph.Value, got, want *refeval.Tensor, f numfmt.Format) {
	if !isReal(got) {
		return
	}
	r := t.known[v]
	if r == nil {
		r = &Value{Value: v, Elem: got.Elem, Format: f, Target: noStats(), Reference: noStats()}
		t.known[v] = r
		t.Values = append(t.Values, r)
	}
	r.Dims, r.Passes = got.Dims, r.Passes+1
	r.Target.add(got, f)
	if want != nil {
		r.Reference.add(want, numfmt.FP32)
		r.Error.add(got, want, f, Tolerance{})
	}
	t.note(r)
}

// note keeps the first value of each kind. A sample that shows one earlier in the graph does not
// count: which node breaks first is a question about one run.
func (t *Trace) note(v *Value) {
	if v.Producer == nil { // inputs and initializers are no node's doing
		return
	}
	first := &First{v, t.at}
	if t.NonFinite == nil && v.Error.Overflowed+v.Error.NaN > 0 {
		t.NonFinite = first
	}
	if t.Flush == nil && v.Error.Flushed > 0 {
		t.Flush = first
	}
	if t.Lossy == nil && v.Error.Relative() > Lossy {
		t.Lossy = first
	}
}
