package rules

import (
	"fmt"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

var loopGrowth = Rule{
	Name:  "loop-growth",
	Title: "what a loop carries grows from turn to turn",
	Kind:  Overflow,
	Model: checkLoopGrowth,
}

// checkLoopGrowth looks at the bodies of loops, at what is computed from the last turn and carried to
// the next one. It is rounded in every turn, whatever the kernels accumulate in.
func checkLoopGrowth(p *Pass) {
	for n := range p.Model.Nodes() {
		c := carrying(n.Graph)
		if c == nil || n.Out(0) == nil || n.Call != nil || p.known(n, nil) || !c.recurs(n) {
			continue
		}
		if e, ok := p.rootOf(n.Out(0)); ok && e.evidence != Unproved {
			p.overflowAt(n, e, true, "what the loop carries from turn to turn")
			continue
		}
		if p.grows(n, c) {
			continue
		}
		if walk.Is(n, "Add") {
			checkRunningSum(p, n, c)
			checkRunningMean(p, n, c)
		}
	}
}

// grows reports a node whose result is handed to the next turn and grows from turn to turn without a
// bound, past the limit within the turns that the loop may take. Whether it does is left to the runs.
func (p *Pass) grows(n *graph.Node, c *carried) bool {
	f, low := p.low(n.Out(0))
	if !low || p.Ranges == nil {
		return false
	}
	for _, g := range p.Ranges.Growth() {
		out := c.next[g.Value]
		if g.Node != n.Graph.Owner || out == nil || walk.Plain(out) != n.Out(0) {
			continue
		}
		after := g.Iterations(f.OverflowAt())
		if !p.rests(out) || after > p.turns(c, n.Graph.Owner) {
			return false
		}
		find := p.at(n, n.Out(0))
		find.Limit, find.Evidence = f.Max(), Unproved
		find.Message = growthText(g, n.Out(0).Name, f, after)
		find.Reason = fmt.Sprintf("the loop begins with %s", g.Start)
		find.Edits = p.widened(n.Out(0))
		p.report(find)
		return true
	}
	return false
}

// turns is how many turns a loop may take at most, as far as that is known.
func (p *Pass) turns(c *carried, loop *graph.Node) float64 {
	if c.turns > 0 {
		return c.turns
	}
	if r, ok := p.declared(walk.Plain(loop.In(0))); ok && loop.Op == "Loop" {
		return r.Hi
	}
	return math.MaxFloat64
}

func growthText(g rangeprop.Growth, name string, f numfmt.Format, after float64) string {
	if math.IsInf(g.Step, 1) {
		return fmt.Sprintf("nothing bounds %s, which the loop carries, after its first turn", name)
	}
	return fmt.Sprintf("%s, which the loop carries, grows by up to %.3g, %.3g times, in the second turn; so it may pass the max of %s, %.5g, after %.5g turns",
		name, g.Step, g.Factor, f, f.Max(), after)
}

// carried is what the body of a loop takes over from the last turn and hands to the next.
type carried struct {
	next  map[*graph.Value]*graph.Value // of a value taken over, what it is in the next turn
	out   map[*graph.Value]bool         // what is handed on
	turns float64                       // at most; 0 where not known
}

// carrying returns what a graph carries, nil where it is no body of a loop.
func carrying(g *graph.Graph) *carried {
	if g.Kind != graph.SubGraph || !walk.Is(g.Owner, "Loop", "Scan") {
		return nil
	}
	c := &carried{next: map[*graph.Value]*graph.Value{}, out: map[*graph.Value]bool{}}
	ins, outs := g.Inputs, g.Outputs
	if g.Owner.Op == "Loop" {
		ins, outs = ins[min(2, len(ins)):], outs[min(1, len(outs)):]
		c.turns, _ = walk.Scalar(g.Owner.In(0))
	} else {
		states := len(g.Owner.Inputs) - int(g.Owner.Int("num_scan_inputs", 0))
		c.turns = float64(scanLength(g.Owner, states))
		ins = ins[:min(max(states, 0), len(ins))]
	}
	for i, v := range ins {
		if i < len(outs) {
			c.next[v], c.out[outs[i]] = outs[i], true
		}
	}
	return c
}

// scanLength is the number of turns of a Scan, 0 where not known.
func scanLength(n *graph.Node, states int) int64 {
	axis := int64(0)
	if axes := n.Ints("scan_input_axes"); len(axes) > 0 {
		axis = axes[0]
	}
	return walk.Dim(n.In(states), axis)
}

// recurs tells whether a node's result comes from the last turn and goes to the next.
func (c *carried) recurs(n *graph.Node) bool {
	forth, back := false, false
	for v := range c.out {
		forth = forth || v == n.Out(0) || computedFrom(v, n.Out(0), layerDepth)
	}
	for v := range c.next {
		back = back || computedFrom(n.Out(0), v, layerDepth)
	}
	return forth && back
}

// checkRunningSum reports a sum over so many turns that it grows past what a summand can still
// change.
func checkRunningSum(p *Pass, n *graph.Node, c *carried) {
	f, ok := p.low(n.Out(0))
	if !ok || c.turns < f.ExactInt() {
		return
	}
	for i := range 2 {
		if c.next[walk.Plain(n.In(i))] == nil {
			continue
		}
		x := n.In(1 - i)
		r := p.Range(x)
		if same := r.Lo == r.Hi; c.turns < equalTerms*f.ExactInt() || !same && c.turns < longTerms*f.ExactInt() {
			return
		}
		if !p.rests(x) || !r.Bounded() || r.Lo < 0 && r.Hi > 0 || r.MaxAbs() == 0 {
			return
		}
		p.report(runningSum(p, n, x, c.turns))
		return
	}
}

// equalTerms is longTerms for terms that are all the same: a running sum of ones stops at the exact
// integers themselves.
const equalTerms = 1.05

// slowStep is how many roundings of the whole a step of a moving average must be for the average to come
// within a few percent of what it moves to.
const slowStep = 16

// moved is the share of a change that a moving average has come to follow before what it loses shows.
const moved = 0.05

// checkRunningMean reports a moving average s + k·(x - s) that stops before it has come to x: steps below
// half the spacing at s change nothing, and they are k times what is left.
func checkRunningMean(p *Pass, n *graph.Node, c *carried) {
	f, ok := p.low(n.Out(0))
	k := c.meanStep(n)
	if !ok || p.known(n, nil) || k <= 0 || k >= slowStep*f.Unit() || c.turns*k < moved {
		return
	}
	find := p.at(n, n.Out(0))
	find.Kind, find.Evidence, find.Limit = Swamping, Likely, f.Unit()
	find.Message = fmt.Sprintf("a moving average takes %.3g of what is left in each of %.5g turns; in %s steps below %.2g of it are lost, and it stops that early", k, c.turns, f, f.Unit()/2)
	find.Edits = carriedEdits(n)
	for _, in := range n.Inputs {
		find.Edits = joined(find.Edits, []rewrite.Edit{rewrite.Widen{Value: in}}) // 1 - k is 1 in the format
	}
	p.report(find)
}

// meanStep returns the share of a new value in a moving average, s + k·(x - s) or (1 - k)·s + k·x, 0 for others.
func (c *carried) meanStep(n *graph.Node) float64 {
	for i := range 2 {
		k, x := factorOf(n.In(1 - i))
		keep, s := factorOf(n.In(i))
		switch d := walk.Maker(walk.Plain(x)); {
		case c.next[walk.Plain(n.In(i))] != nil && walk.Is(d, "Sub") && walk.Plain(d.In(1)) == walk.Plain(n.In(i)):
			return k
		case s != n.In(i) && c.next[walk.Plain(s)] != nil && math.Abs(keep+k-1) < 1e-6:
			return k
		}
	}
	return 0
}

// factorOf reads a value as a constant times another one, itself times 1 where it is no such product.
func factorOf(v *graph.Value) (float64, *graph.Value) {
	n := walk.MakerOf(walk.Plain(v), "Mul")
	for i := range 2 {
		if n == nil {
			break
		}
		if k, ok := walk.Scalar(n.In(i)); ok {
			return k, n.In(1 - i)
		}
	}
	return 1, v
}

// carriedEdits holds in FP32 what the loop around a node hands from turn to turn.
func carriedEdits(n *graph.Node) (edits []rewrite.Edit) {
	c := carrying(n.Graph)
	for _, v := range slices.Concat(n.Graph.Outputs, n.Graph.Inputs) {
		if (c.out[v] || c.next[v] != nil) && v.Type.Float() {
			edits = append(edits, rewrite.Widen{Value: v})
		}
	}
	return edits
}

// scanned returns what a Scan takes the elements of a value of its body from, and any other value as
// it is.
func scanned(v *graph.Value) *graph.Value {
	g := v.Graph
	if !v.Input || !walk.Is(g.Owner, "Scan") {
		return v
	}
	for i, in := range g.Inputs {
		if in == v && i < len(g.Owner.Inputs) && g.Owner.In(i) != nil {
			return g.Owner.In(i)
		}
	}
	return v
}

func runningSum(p *Pass, n *graph.Node, x *graph.Value, turns float64) Finding {
	f, _ := p.low(n.Out(0))
	find := p.at(n, n.Out(0))
	find.Kind, find.Evidence, find.Limit = Swamping, Likely, f.ExactInt()
	r := p.reach.Of(scanned(x))
	if e := max(math.Abs(r.Lo.At), math.Abs(r.Hi.At)); e > 0 && max(r.Lo.Level, r.Hi.Level) >= reach.Uniform {
		find.Evidence, find.Consequence = Witness, Silent
	}
	find.Message = fmt.Sprintf("%s is added in each of %.5g turns; a running sum in %s stops growing at about %.5g times a summand%s",
		x.Name, turns, f, f.ExactInt(), consequenceText(find.Consequence))
	find.Edits = carriedEdits(n)
	return find
}
