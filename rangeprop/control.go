package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

func controlOps() map[string]op {
	return map[string]op{
		"If": {f: ifOp, exact: true}, "Loop": {f: loopOp, exact: true}, "Scan": {f: scanOp, exact: true}, "SequenceMap": {f: mapOp, exact: true},
	}
}

// maxUnrolled is the number of iterations up to which a body with a known number of them is
// followed one by one.
const maxUnrolled = 64

// maxSteps bounds the nodes visited in bodies: nested loops multiply.
const maxSteps = 1 << 21

// ifOp joins the branches, or follows the one that a constant condition takes.
func ifOp(c *call) []*Val {
	then, other := c.n.Body("then_branch"), c.n.Body("else_branch")
	if then == nil || other == nil {
		return nil
	}
	cond := c.x(0).Hull()
	c.p.run(then)
	c.p.run(other)
	outs := make([]*Val, len(c.n.Outputs))
	for i := range outs {
		a, b := c.p.output(then, i), c.p.output(other, i)
		switch {
		case cond.Lo > 0:
			outs[i] = a
		case cond.Hi <= 0 && cond.Lo == cond.Hi:
			outs[i] = b
		case a != nil && b != nil:
			outs[i] = either(a, b, then.Outputs[i].Type.Shape, other.Outputs[i].Type.Shape)
		}
	}
	return outs
}

// either bounds what is one of two tensors. Positions are kept apart along the dimensions, counted from
// the end, that have one length in both: elsewhere nobody knows which tensor a position belongs to.
func either(a, b *Val, s, t graph.Shape) *Val { return joined(a.shared(s, t), b.shared(t, s)) }

// shared joins the positions of a value of the shape own along the dimensions that other has not, or of
// another length.
func (v *Val) shared(own, other graph.Shape) *Val {
	if own == nil || other == nil || len(v.lo) == 0 {
		return v.flatOrEmpty()
	}
	w := v.ranked(own)
	if len(w.dims) != len(own) {
		return w.flat()
	}
	keep, off := make([]bool, len(own)), len(other)-len(own)
	for i, d := range own {
		keep[i] = off+i >= 0 && d.Known() && other[off+i].Known() && d.N == other[off+i].N
	}
	w = w.collapse(keep)
	w.dims = w.dims[max(-off, 0):]
	return w
}

// flatOrEmpty is flat for all but empty tensors, which stay empty.
func (v *Val) flatOrEmpty() *Val {
	if len(v.lo) > 0 {
		return v.flat()
	}
	w := v.clone().plain()
	w.dims = []int{0}
	return w
}

// run bounds the values of a body. Past the budget its values are left as anything.
func (p *pass) run(g *graph.Graph) bool {
	if p.steps += len(g.Nodes) + 1; p.steps > maxSteps {
		for _, n := range g.Nodes {
			for _, v := range n.Outputs {
				if v != nil {
					p.vals[v] = typed(anything(v), v.Type)
				}
			}
		}
		return false
	}
	p.graph(g)
	return true
}

// output returns the bounds of a body's output, nil where it has none.
func (p *pass) output(g *graph.Graph, i int) *Val {
	if i >= len(g.Outputs) || g.Outputs[i] == nil {
		return nil
	}
	return p.val(g.Outputs[i])
}

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

// loopOp follows a Loop: carried values after the iteration number and the condition.
func loopOp(c *call) []*Val {
	g := c.n.Body("body")
	if g == nil || len(g.Inputs) < 2 || len(g.Outputs) < 1 {
		return nil
	}
	b := &body{p: c.p, n: c.n, g: g, carried: g.Inputs[2:], first: 1, steps: math.Inf(1)}
	least := 0.0
	if c.has(0) {
		h := c.in[0].Hull()
		b.steps = math.Max(h.Hi, 0)
		if h.Lo == h.Hi && c.endless() {
			least = h.Lo
		}
	}
	for i := range b.carried {
		b.state = append(b.state, c.x(i+2))
	}
	iteration := intRange(Range{0, math.Max(math.Min(b.steps, math.MaxInt64)-1, 0)})
	c.p.vals[g.Inputs[0]] = iteration
	c.p.vals[g.Inputs[1]] = intRange(maybe)
	b.solve(least, func(i int) {
		if i >= 0 {
			c.p.vals[g.Inputs[0]] = intRange(Range{float64(i), float64(i)})
		} else {
			c.p.vals[g.Inputs[0]] = iteration
		}
	})
	return b.results(len(c.n.Outputs))
}

// endless tells whether the condition of a Loop never ends it: left out, or constantly true from
// start to end.
func (c *call) endless() bool {
	g := c.n.Body("body")
	if c.has(1) && c.in[1].Hull().Lo < 1 {
		return false
	}
	v := g.Outputs[0]
	for v != nil && v.Producer != nil && v.Producer.Op == "Identity" {
		v = v.Producer.In(0)
	}
	if v == g.Inputs[1] {
		return true
	}
	if v == nil || v.Const == nil {
		return false
	}
	x, err := v.Const.Float64s()
	return err == nil && len(x) == 1 && x[0] != 0
}

// scanOp follows a Scan: states, then slices of the scanned inputs.
func scanOp(c *call) []*Val {
	g := c.n.Body("body")
	k := int(c.n.Int("num_scan_inputs", 0))
	skip := 0
	if c.n.Version() < 9 { // the first input is the lengths
		skip = 1
	}
	states := len(c.in) - k - skip
	if g == nil || k < 1 || states < 0 || len(g.Inputs) < states+k {
		return nil
	}
	b := &body{p: c.p, n: c.n, g: g, carried: g.Inputs[:states], steps: math.Inf(1)}
	for i := range states {
		b.state = append(b.state, c.x(i+skip))
	}
	axes := c.n.Ints("scan_input_axes")
	for i := range k {
		at := states + skip + i
		axis := skip
		if i < len(axes) {
			axis = int(axes[i])
		}
		if axis < 0 {
			axis += c.rank(at)
		}
		c.p.vals[g.Inputs[states+i]] = c.x(at).sliceOf(axis, c.rank(at), skip)
		if _, hi := c.dim(at, axis); hi >= 0 {
			b.steps = math.Min(b.steps, float64(hi))
		}
	}
	least := b.steps
	if skip == 1 || math.IsInf(b.steps, 1) {
		least = 0
	}
	b.solve(least, func(int) {})
	return b.results(len(c.n.Outputs))
}

// sliceOf drops an axis whose positions are handed to the body one by one.
func (v *Val) sliceOf(axis, rank, skip int) *Val {
	if skip > 0 || rank != len(v.dims) || axis < 0 || axis >= rank {
		return v.flat()
	}
	w := v.joinAxis(axis)
	dims := append(append([]int{}, w.dims[:axis]...), w.dims[axis+1:]...)
	return w.with(dims, w.lo, w.hi)
}

// mapOp applies a body to every element of sequences.
func mapOp(c *call) []*Val {
	g := c.n.Body("body")
	if g == nil {
		return nil
	}
	for i, v := range g.Inputs {
		c.p.vals[v] = c.x(i).flat()
	}
	c.p.run(g)
	outs := make([]*Val, len(c.n.Outputs))
	for i := range outs {
		if v := c.p.output(g, i); v != nil {
			outs[i] = v.flat()
		}
	}
	return outs
}

// solve bounds the carried values: iteration by iteration where there are few, else by widening
// until a further iteration stays inside. least is how many iterations are certain. enter sets the
// number of an iteration, -1 for any.
func (b *body) solve(least float64, enter func(i int)) {
	if b.steps <= maxUnrolled && b.steps == math.Trunc(b.steps) && float64(len(b.g.Nodes))*b.steps < maxSteps/8 {
		b.unroll(least, enter)
		return
	}
	enter(-1)
	start := b.state
	b.state = b.loosened(start)
	for range 3 { // most carried values settle at once
		next := b.step()
		if b.inside(next) {
			b.finish(start, next)
			return
		}
		b.state = b.join(b.state, next)
	}
	for range 4 {
		next := b.step()
		if b.inside(next) {
			b.finish(start, next)
			return
		}
		b.state = b.widen(next)
	}
	b.measure(start)
	if float64(len(b.g.Nodes)+1)*b.steps < maxSteps/32 {
		b.count(start)
		return
	}
	b.grow(start)
}

// count goes through every iteration that the loop may take, each of them on all that those before may
// have left: no widening is needed where their number is known.
func (b *body) count(start []*Val) {
	b.state = b.loosened(start)
	for i := 1.0; i < b.steps; i++ {
		next := b.step()
		if b.inside(next) {
			break
		}
		b.state = b.join(b.state, next)
	}
	b.finish(start, b.step())
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

// Growth is how a value that a loop carries grows where no widening holds it.
type Growth struct {
	Node  *graph.Node  // the Loop or Scan
	Value *graph.Value // the body's input that is carried
	// Start bounds it at the first iteration.
	Start Range
	// Step is by how much its greatest magnitude grows in the second iteration, and Factor how many
	// times; both are infinite where one iteration leaves every bound behind.
	Step, Factor float64
}

// Iterations returns after how many iterations the bound of the carried value reaches a limit, as its
// first three values continue: in equal steps, or in steps that grow by one ratio. It is 1 where one
// iteration leaves every bound behind, and +Inf where the steps die out before the limit.
func (g Growth) Iterations(limit float64) float64 {
	begin, first := g.Start.MaxAbs(), g.Step/(g.Factor-1)
	rise := first - begin
	ratio := g.Step / rise
	switch {
	case math.IsInf(g.Step, 1) || begin >= limit:
		return 1
	case !(g.Step > 0):
		return math.Inf(1)
	case rise <= 0: // it begins to grow with the second iteration
		return 1 + math.Ceil((limit-first)/g.Step)
	case math.Abs(ratio-1) < 1e-6:
		return math.Ceil((limit - begin) / rise)
	}
	// begin + rise (ratio^n - 1) / (ratio - 1) ≥ limit
	power := 1 + (limit-begin)*(ratio-1)/rise
	if power <= 0 {
		return math.Inf(1)
	}
	return math.Ceil(math.Log(power) / math.Log(ratio))
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

// measure notes by how much the values grow that no widening could hold, from one iteration to the
// next.
func (b *body) measure(start []*Val) {
	last := b.state
	b.state = b.loosened(start)
	first := b.loosened(b.step())
	b.state = first
	second := b.step()
	b.state = last
	for i, v := range b.step() {
		if last[i].holds(v) {
			continue
		}
		x, y := first[i].Hull().MaxAbs(), second[i].Hull().MaxAbs()
		g := Growth{Node: b.n, Value: b.carried[i], Start: start[i].Hull(), Step: y - x, Factor: y / x}
		if math.IsInf(x, 0) || math.IsNaN(g.Factor) {
			g.Step, g.Factor = math.Inf(1), math.Inf(1)
		}
		b.p.res.grows(g)
	}
}

// grows notes a carried value without a bound, once: the loop may stand in another one.
func (r *Result) grows(g Growth) {
	for i, old := range r.growing {
		if old.Node == g.Node && old.Value == g.Value {
			r.growing[i] = g
			return
		}
	}
	r.growing = append(r.growing, g)
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
