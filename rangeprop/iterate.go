package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// maxUnrolled is the number of iterations up to which a body with a known number of them is
// followed one by one.
const maxUnrolled = 64

// body is a loop being bounded: its carried values, and the outputs of the body that follow them.
type body struct {
	p       *pass
	n       *graph.Node
	g       *graph.Graph
	carried []*graph.Value // inputs of the body
	first   int            // of its outputs that are carried on
	state   []*Val         // bounds at the start of an iteration
	outs    []*Val         // of all outputs, joined over the iterations
	steps   float64
}

// solve bounds the carried values: iteration by iteration where there are few, else by widening
// until a further iteration stays inside, else by all iterations that may come where their number is
// known. least is how many iterations are certain. enter sets the number of an iteration, -1 for any.
func (b *body) solve(least float64, enter func(i int)) {
	if b.steps <= maxUnrolled && b.steps == math.Trunc(b.steps) && float64(len(b.g.Nodes))*b.steps < maxSteps/8 {
		b.unroll(least, enter)
		return
	}
	enter(-1)
	start := b.state
	grown := func(next []*Val) []*Val { return b.join(b.state, next) }
	b.state = b.loosened(start)
	if b.steady(start, 3, grown) || b.steady(start, 4, b.widen) { // most carried values settle at once
		return
	}
	b.measure(start)
	if float64(len(b.g.Nodes)+1)*b.steps >= maxSteps/32 {
		b.grow(start)
		return
	}
	b.state = b.loosened(start)
	if !b.steady(start, int(math.Ceil(b.steps))-1, grown) {
		b.finish(start, b.step())
	}
}

// steady goes through up to n iterations, between which ahead makes a wider state of what one has left,
// until one stays inside. It tells whether one did.
func (b *body) steady(start []*Val, n int, ahead func(next []*Val) []*Val) bool {
	for range n {
		next := b.step()
		if b.inside(next) {
			b.finish(start, next)
			return true
		}
		b.state = ahead(next)
	}
	return false
}

// loosened keeps of carried values only what a later iteration is held against: their bounds and flags.
// Positions along a dimension that may change from one iteration to the next are not kept apart.
func (b *body) loosened(state []*Val) []*Val {
	out := make([]*Val, len(state))
	for i, v := range state {
		s := b.carried[i].Type.Shape
		out[i] = v.shared(s, s).clone().plain()
		out[i].tiny = 0
	}
	return out
}

// unroll follows each iteration. The loop may end before any that is not certain.
func (b *body) unroll(least float64, enter func(i int)) {
	exit, acc := b.state, map[*graph.Value]*Val{}
	var seen []*Val
	for i := range int(b.steps) {
		enter(i)
		next := b.step()
		seen = b.collect(seen)
		b.p.remember(b.g, acc)
		b.state = next
		if float64(i+1) < least || least == b.steps {
			exit = next
		} else {
			exit = b.join(exit, next)
		}
	}
	if b.steps == 0 {
		enter(-1)
		b.step()
		seen = b.collect(nil)
	}
	for v, x := range acc {
		b.p.vals[v] = x
	}
	b.outs = seen
	b.settle(exit)
}

// remember joins the bounds of a body's values over its iterations: what is said of a value holds
// for all of them.
func (p *pass) remember(g *graph.Graph, acc map[*graph.Value]*Val) {
	for _, v := range g.Values {
		x := p.vals[v]
		if x == nil {
			continue
		}
		if old := acc[v]; old != nil && old != x {
			x = either(old, x, v.Type.Shape, v.Type.Shape)
		}
		acc[v] = x
	}
	for _, n := range g.Nodes {
		for _, s := range n.Subgraphs() {
			p.remember(s, acc)
		}
	}
}

// step runs the body on the present state and returns the state after it.
func (b *body) step() []*Val {
	for i, v := range b.carried {
		b.p.vals[v] = b.state[i]
	}
	b.p.run(b.g)
	next := make([]*Val, len(b.carried))
	for i := range next {
		if next[i] = b.p.output(b.g, b.first+i); next[i] == nil {
			next[i] = anything(b.carried[i])
		}
		next[i] = next[i].carried()
	}
	return next
}

// carried drops what ties a value to others of its iteration: in the next one their names stand for
// other values.
func (v *Val) carried() *Val {
	if v.pieces == nil {
		return v
	}
	w := v.clone()
	w.pieces = nil
	return w
}

// collect joins the scanned outputs of an iteration to those of the earlier ones.
func (b *body) collect(seen []*Val) []*Val {
	var outs []*Val
	for i := range b.g.Outputs {
		v, s := b.p.output(b.g, i), graph.Shape(nil)
		if v == nil {
			v = anything(b.n.Out(0))
		} else {
			s = b.g.Outputs[i].Type.Shape
		}
		if i < len(seen) {
			v = either(seen[i], v, s, s)
		}
		outs = append(outs, v)
	}
	return outs
}

// join bounds the carried values of one of two iterations.
func (b *body) join(x, y []*Val) []*Val {
	out := make([]*Val, len(x))
	for i := range x {
		s := b.carried[i].Type.Shape
		out[i] = either(x[i], y[i], s, s)
	}
	return out
}

// inside tells whether the state after an iteration stays within the one before it: then it does
// for ever.
func (b *body) inside(next []*Val) bool {
	for i, v := range next {
		if !b.state[i].holds(v) {
			return false
		}
	}
	return true
}

// holds tells whether everything v may be lies in w.
func (w *Val) holds(v *Val) bool {
	if v.nan && !w.nan || v.posInf && !w.posInf || v.negInf && !w.negInf || w.integer && !v.integer || v.basis < w.basis {
		return false
	}
	if len(v.lo) == 0 {
		return true
	}
	if _, fit := broadcast(v, w); !fit || len(w.lo) == 0 { // it grows: positions do not stay what they were
		return false
	}
	ok := true
	zip(w, v, func(x, y Range) Range {
		ok = ok && x.Contains(y)
		return x
	})
	return ok
}

// widen lets ends that still move jump to the next power of two.
func (b *body) widen(next []*Val) []*Val {
	out := b.join(b.state, next)
	for i, v := range out {
		old := b.state[i]
		out[i] = zip(old, v, func(x, y Range) Range {
			if y.Lo < x.Lo {
				y.Lo = -powerAbove(-y.Lo)
			}
			if y.Hi > x.Hi {
				y.Hi = powerAbove(y.Hi)
			}
			return y
		})
		w := out[i]
		w.nan, w.posInf, w.negInf, w.integer, w.tiny = v.nan, v.posInf, v.negInf, v.integer, 0
		w.basis, w.why = v.basis, v.why
	}
	return out
}

// powerAbove is the power of two at or above x, with room for one more doubling; 0 for x ≤ 0.
func powerAbove(x float64) float64 {
	if x <= 0 {
		return 0
	}
	if math.IsInf(x, 0) {
		return x
	}
	return math.Exp2(math.Ceil(math.Log2(x)) + 1)
}

// finish takes a state that holds for every iteration.
func (b *body) finish(start, next []*Val) {
	b.outs = b.collect(nil)
	b.settle(b.join(start, next))
}

// grow gives up: the carried values that still move are unbounded.
func (b *body) grow(start []*Val) {
	for range len(b.carried) + 1 {
		next := b.step()
		if b.inside(next) {
			break
		}
		for i, v := range next {
			if !b.state[i].holds(v) {
				w := scalar(all)
				w.basis, w.why = min(v.basis, b.state[i].basis), v.why
				w.nan, w.posInf, w.negInf = true, true, true
				w.rest(b.state[i])
				b.state[i] = typed(w, b.carried[i].Type)
			}
		}
	}
	b.finish(start, b.step())
}

// settle sets what the carried outputs of the loop end with.
func (b *body) settle(exit []*Val) {
	outs := make([]*Val, len(b.outs))
	copy(outs, b.outs)
	for i, v := range exit {
		if b.first+i < len(outs) {
			outs[b.first+i] = v
		}
	}
	b.outs = outs
}

// results returns the outputs of the loop: carried values, then scanned ones, which gain an axis.
func (b *body) results(n int) []*Val {
	outs := make([]*Val, n)
	for i := range outs {
		if k := b.first + i; k < len(b.outs) && b.outs[k] != nil {
			if outs[i] = b.outs[k]; i >= len(b.carried) {
				outs[i] = outs[i].flat()
			}
		}
	}
	return outs
}
