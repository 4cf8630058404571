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
	outs := b.results(len(c.n.Outputs))
	for i := states; skip == 1 && c.has(0) && i < len(outs); i++ {
		if outs[i] != nil { // what lies behind the end of a sequence is 0
			outs[i] = joined(outs[i], scalar(Range{}))
		}
	}
	return outs
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
