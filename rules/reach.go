package rules

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// Ranges bound from outside: no input leaves them. The reach bounds from inside: some input inside
// the declared ranges does take these numbers. Where the reach passes a limit the overflow is no
// artefact of a loose bound, and an input that shows it can be written down: every element of the
// inputs at the one or the other end of its range.

// level tells how well a number can be reached. The zero value is not at all.
type level uint8

const (
	unreached level = iota
	some            // some input puts some element there
	uniform         // some input puts all elements there
	free            // the elements can be put anywhere in the range, each by itself
)

// end is one end of a reach.
type end struct {
	at    float64
	level level
}

// reach is a range whose ends, and all numbers between two ends both reached, some input reaches.
type reach struct {
	lo, hi end
	// deps are the inputs it depends on, one bit each. The ends of two values can be reached at once
	// only where they depend on different inputs.
	deps uint64
}

func (r reach) known() bool { return r.lo.level > unreached || r.hi.level > unreached }

// level returns what both ends have in common.
func (r reach) level() level { return min(r.lo.level, r.hi.level) }

// within restricts a reach to the finite numbers of a format, so that what follows is judged by
// inputs that are still right.
func (r reach) within(limit float64) reach {
	r.lo.at, r.hi.at = math.Max(r.lo.at, -limit), math.Min(r.hi.at, limit)
	if r.lo.at > limit {
		r.lo = end{}
	}
	if r.hi.at < -limit {
		r.hi = end{}
	}
	return r
}

// lower returns the lower of two reached ends, the better reached one where they are equal.
func lower(a, b end) end {
	switch {
	case a.level == unreached:
		return b
	case b.level == unreached, a.at < b.at, a.at == b.at && a.level >= b.level:
		return a
	}
	return b
}

func upper(a, b end) end {
	a.at, b.at = -a.at, -b.at
	c := lower(a, b)
	c.at = -c.at
	return c
}

// add widens the reach by one more number that is reached.
func (r *reach) add(e end) {
	if e.level == unreached || math.IsNaN(e.at) {
		return
	}
	r.lo, r.hi = lower(r.lo, e), upper(r.hi, e)
}

// sure is a number that holds whatever the input.
func sure(x float64) reach { return reach{lo: end{x, free}, hi: end{x, free}} }

// between is the reach of a constant's elements, or of something else that takes both ends at some
// element in every run.
func between(lo, hi float64) reach {
	if lo == hi {
		return sure(lo)
	}
	return reach{lo: end{lo, some}, hi: end{hi, some}}
}

// capped lowers both levels to at most l.
func (r reach) capped(l level) reach {
	r.lo.level, r.hi.level = min(r.lo.level, l), min(r.hi.level, l)
	return r
}

// monotone is the reach of f(x) for an f that rises or falls throughout.
func (r reach) monotone(f func(float64) float64) reach {
	out := reach{deps: r.deps}
	for _, e := range []end{r.lo, r.hi} {
		if e.level > unreached {
			out.add(end{f(e.at), e.level})
		}
	}
	return out
}

// even is the reach of f(x) for an f that falls up to 0 and rises from there.
func (r reach) even(f func(float64) float64) reach {
	out := r.monotone(f)
	if l := r.level(); l > unreached && r.lo.at < 0 && r.hi.at > 0 {
		out.add(end{f(0), l})
	}
	return out
}

// meet tells how well two numbers are reached at once.
func meet(a, b level) level {
	switch {
	case a == unreached || b == unreached:
		return unreached
	case a == some && b == some:
		return unreached // at different elements, perhaps
	}
	return min(a, b)
}

// pair is the reach of f(x, y) for an f that has its extremes at ends of both.
func pair(a, b reach, f func(x, y float64) float64) reach {
	if a.deps&b.deps != 0 {
		return reach{}
	}
	out := reach{deps: a.deps | b.deps}
	for _, x := range []end{a.lo, a.hi} {
		for _, y := range []end{b.lo, b.hi} {
			out.add(end{f(x.at, y.at), meet(x.level, y.level)})
		}
	}
	return out
}

// reached is the reach of a value as its node gives it from right inputs, and as the format then
// holds it.
type reached struct{ raw, held reach }

// reachAll computes the reach of all values of the model.
func (p *Pass) reachAll() {
	p.reached = map[*graph.Value]reached{}
	for i, v := range p.Model.Graph.Inputs {
		if r, ok := p.declared(v); ok && v.Const == nil {
			x := reach{lo: end{r.Lo, free}, hi: end{r.Hi, free}, deps: 1 << min(i, 63)}
			if p.padding(v) {
				x.lo.level = some // a sequence has at least one token
			}
			p.setReach(v, x)
		}
	}
	p.reachGraph(p.Model.Graph)
}

// setReach notes the reach of a value. What the model itself makes infinite in its own type, or
// cannot be written down, is no reach.
func (p *Pass) setReach(v *graph.Value, r reach) {
	if !r.known() {
		return
	}
	if p.Target != numfmt.FP32 {
		r = r.within(math.MaxFloat32)
	}
	held := r
	if f, ok := p.Hold(v); ok {
		held = r.within(f.Max())
	}
	p.reached[v] = reached{raw: r, held: held}
}

// reachOf returns how a reader finds the value: as its format holds it.
func (p *Pass) reachOf(v *graph.Value) reach {
	if v == nil {
		return reach{}
	}
	if t := p.constant(v); t != nil {
		return p.constantReach(t)
	}
	return p.reached[v].held
}

func (p *Pass) constantReach(t *graph.Tensor) reach {
	s, ok := statsOf(t)
	if !ok || s.Infs()+s.NaNs() > 0 || s.Count() == 0 {
		return reach{}
	}
	return between(s.extremes())
}

func (p *Pass) reachGraph(g *graph.Graph) {
	for _, n := range g.Nodes {
		switch {
		case n.Call != nil:
			p.reachCall(n)
		case is(n, "If"):
			p.reachIf(n)
		default:
			p.reachNode(n)
		}
	}
}

func (p *Pass) reachNode(n *graph.Node) {
	f := reachTable[n.OpName()]
	if f == nil {
		return
	}
	r := f(p, n)
	for _, o := range n.Outputs {
		if o != nil {
			p.setReach(o, r)
		}
	}
}

// reachCall carries the reach into a function and out again.
func (p *Pass) reachCall(n *graph.Node) {
	for i, v := range n.Inputs {
		if v == nil {
			continue
		}
		if inner := parameter(n, i); inner != nil {
			p.copyReach(inner, v)
		}
	}
	p.reachGraph(n.Call)
	for i, o := range n.Outputs {
		if o != nil && i < len(n.Call.Outputs) && n.Call.Outputs[i] != nil {
			p.copyReach(o, n.Call.Outputs[i])
		}
	}
}

func (p *Pass) copyReach(to, from *graph.Value) {
	if r, ok := p.reached[from]; ok {
		p.reached[to] = r
	}
}

// reachIf goes into both branches where the condition can be chosen freely, so that each branch is
// run by some input.
func (p *Pass) reachIf(n *graph.Node) {
	cond := p.reachOf(n.In(0))
	if cond.level() < uniform || p.constant(n.In(0)) != nil {
		return
	}
	for _, g := range n.Subgraphs() {
		p.reachGraph(g)
	}
	for i, o := range n.Outputs {
		var r reach
		for _, g := range n.Subgraphs() {
			if o == nil || i >= len(g.Outputs) || g.Outputs[i] == nil {
				continue
			}
			b := p.reachOf(g.Outputs[i]).capped(uniform)
			if b.deps&cond.deps == 0 {
				r.add(b.lo)
				r.add(b.hi)
				r.deps |= b.deps | cond.deps
			}
		}
		if o != nil {
			p.setReach(o, r)
		}
	}
}
