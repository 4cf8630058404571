package trace

import (
	"context"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/samples"
)

// pair runs a model twice at the same time, node by node: no value is kept longer than until it
// was compared.
type pair struct {
	target, reference *refeval.Runner
	opt               refeval.Options
	see               func(v *graph.Value, got, want *refeval.Tensor, f numfmt.Format)

	events chan event
	next   chan struct{} // lets the reference go on
	ended  bool
	held   *event // what the reference waits with
	stored map[*graph.Value]*refeval.Tensor
}

// event is a value that the reference shows.
type event struct {
	v *graph.Value
	t *refeval.Tensor
}

func newPair(m *graph.Model, opt Options, see func(v *graph.Value, got, want *refeval.Tensor, f numfmt.Format)) (*pair, error) {
	p := &pair{opt: opt.target(), see: see}
	target, reference := p.opt, opt.reference()
	target.Observe = p.fromTarget
	reference.Observe = p.fromReference
	var err error
	if p.target, err = refeval.New(m, target); err != nil {
		return nil, err
	}
	p.reference, err = refeval.New(m, reference)
	return p, err
}

// run evaluates both on a sample. The outputs are the target's. An error of the reference alone is
// of no matter but for what it leaves uncompared.
func (p *pair) run(ctx context.Context, m *graph.Model, s *samples.Sample) (map[string]*refeval.Value, error) {
	in, err := feed(m, s)
	if err != nil {
		return nil, err
	}
	p.events, p.next = make(chan event), make(chan struct{})
	p.ended, p.held, p.stored = false, nil, map[*graph.Value]*refeval.Tensor{}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(p.events)
		_, _ = p.reference.Run(ctx, in)
	}()
	out, err := p.target.Run(ctx, in)
	if err != nil {
		cancel()
	}
	p.finish()
	cancel()
	return out, err
}

// finish lets the reference run out.
func (p *pair) finish() {
	for p.pull() {
		p.drop()
	}
}

// fromReference hands a value over and waits until it was looked at.
func (p *pair) fromReference(v *graph.Value, t *refeval.Tensor) {
	p.events <- event{v, t}
	<-p.next
}

// fromTarget compares a value with its like.
func (p *pair) fromTarget(v *graph.Value, t *refeval.Tensor) {
	p.see(v, t, p.like(v), p.format(v, t))
}

// format returns the format that a value of the target is held in.
func (p *pair) format(v *graph.Value, t *refeval.Tensor) numfmt.Format {
	if t.Elem == graph.Float && p.opt.As != numfmt.Invalid {
		return p.opt.As
	}
	f, _ := t.Elem.Format()
	return f
}

// pull makes the reference's next value the held one, unless it holds one already; it is false at
// the end.
func (p *pair) pull() bool {
	for p.held == nil && !p.ended {
		e, ok := <-p.events
		if !ok {
			p.ended = true
			break
		}
		p.held = &e
		if constant(e.v) { // in an order of their own, and of no cost to keep
			p.stored[e.v] = e.t
			p.drop()
		}
	}
	return p.held != nil
}

// drop lets the reference go on from the value it holds.
func (p *pair) drop() {
	p.held = nil
	p.next <- struct{}{}
}

// like returns the reference's tensor of a value, nil where it has none. The two runs may part: a
// condition or the length of a loop can depend on rounding. Then what one of them does inside a
// subgraph alone is passed over; in the main graph both go the same way.
func (p *pair) like(v *graph.Value) *refeval.Tensor {
	if constant(v) {
		if p.stored[v] == nil {
			p.pull()
		}
		return p.stored[v]
	}
	for p.pull() {
		if p.held.v == v {
			t := p.held.t
			defer p.drop()
			return t
		}
		if !within(p.held.v.Graph, v.Graph) {
			return nil
		}
		p.drop()
	}
	return nil
}

// within tells whether a graph is another one or below it.
func within(g, outer *graph.Graph) bool {
	for ; g != nil; g = g.Outer() {
		if g == outer {
			return true
		}
	}
	return false
}

// constant tells whether the model itself says what a value is.
func constant(v *graph.Value) bool {
	return v.Producer == nil && !v.Input || v.Producer != nil && v.Producer.OpName() == "Constant"
}
