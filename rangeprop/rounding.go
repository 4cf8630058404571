package rangeprop

import (
	"cmp"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// NodeRounding is what one node adds to the error of the outputs when it runs in a low format.
type NodeRounding struct {
	Node *graph.Node
	// Variance is the mean square of the error that the rounding of the node's results, and of the
	// constants it reads, leaves in an output, divided by the mean square of that output, and the mean of
	// that over the float outputs of the model.
	Variance float64
}

// Rounding tells how the rounding of all results to a format adds up in the outputs of a model.
type Rounding struct {
	Format numfmt.Format
	Nodes  []NodeRounding // those that add something, the largest first
}

// Error returns the root mean square error of the outputs relative to their own root mean square, where all
// nodes run in the format but those that exact names; exact may be nil.
func (r *Rounding) Error(exact func(n *graph.Node) bool) float64 {
	total := 0.0
	for _, n := range r.Nodes {
		if exact == nil || !exact(n.Node) {
			total += n.Variance
		}
	}
	return math.Sqrt(total)
}

// Rounding ranks the nodes of a model by what their rounding to a format adds to the error of its outputs.
//
// It carries mean squares of errors, as if every rounding were free of all others: a result of root mean
// square r is off by 0.42·u·r, and an error of one value is in the next multiplied by the mean square of
// the derivative between them. That puts nodes in an order; it is no bound, and knows neither overflow
// nor what is lost below the smallest numbers of the format. Sums are taken to be accumulated in FP32,
// bodies of loops to run once. There are no estimates, and so no ranking, for a result without moments or
// after Forget.
func (r *Result) Rounding(f numfmt.Format) *Rounding {
	out := &Rounding{Format: f}
	if r.p.opt.NoMoments {
		return out
	}
	e := &rounding{p: r.p, f: f, weight: map[*graph.Value]float64{}, parts: map[*graph.Node]float64{}, adds: map[*graph.Node]float64{}, squares: map[*graph.Tensor]float64{}, masked: map[*graph.Node]bool{}}
	for _, m := range r.p.facts.Masks {
		e.masked[m.At] = true
	}
	e.seed(r.p.m.Graph)
	e.back(r.p.m.Graph)
	for g := range r.p.m.Graphs() {
		for _, n := range g.Nodes {
			if v := e.adds[n]; v > 0 && !math.IsInf(v, 0) {
				out.Nodes = append(out.Nodes, NodeRounding{n, v})
			}
		}
	}
	slices.SortStableFunc(out.Nodes, func(a, b NodeRounding) int { return cmp.Compare(b.Variance, a.Variance) })
	return out
}

// rounding is the walk from the outputs back to what their errors come from.
type rounding struct {
	p *pass
	f numfmt.Format
	// weight is what a mean square error of a value adds to that of the outputs.
	weight map[*graph.Value]float64
	// parts is the same for the relative error of a result within a normalisation.
	parts   map[*graph.Node]float64
	adds    map[*graph.Node]float64
	squares map[*graph.Tensor]float64 // mean squares of constants
	masked  map[*graph.Node]bool      // where logits meet a mask
}

// seed weighs each output by its own mean square.
func (e *rounding) seed(g *graph.Graph) {
	n := 0.0
	for _, v := range g.Outputs {
		if v != nil && v.Type.Float() {
			n++
		}
	}
	for _, v := range g.Outputs {
		if s := e.square(v); v != nil && v.Type.Float() && s > 0 {
			e.weight[v] += 1 / s / n
		}
	}
}

// back walks a scope from its last node to its first: what reads a value comes before what makes it.
func (e *rounding) back(g *graph.Graph) {
	for _, n := range slices.Backward(g.Nodes) {
		e.node(n)
	}
}

func (e *rounding) node(n *graph.Node) {
	if e.nested(n) {
		return
	}
	if s := e.parts[n]; s > 0 {
		e.adds[n] += s * e.unit()
	}
	c := e.call(n)
	for i, v := range n.Outputs {
		s := e.weight[v]
		if s == 0 || v.Const != nil {
			continue
		}
		e.adds[n] += s * e.rounded(n, v)
		if e.macro(v, s) {
			continue
		}
		for k, in := range n.Inputs {
			if in != nil && in.Type.Float() && (!e.masked[n] || k == e.unmasked(n)) {
				e.into(n, in, s*e.gain(c, i, k))
			}
		}
	}
}

// into weighs an input of a node. Constants are rounded where they are read.
func (e *rounding) into(n *graph.Node, v *graph.Value, s float64) {
	switch {
	case math.IsNaN(s) || math.IsInf(s, 0):
	case v.Const != nil && !e.p.moving[v]:
		e.adds[n] += s * e.constant(v.Const)
	default:
		e.weight[v] += s
	}
}

// unit is the mean square relative error of rounding to nearest: within a binade of numbers the errors lie
// evenly between ±u, relative to numbers between 1 and 2.
func (e *rounding) unit() float64 {
	u := rmsUnit * e.f.Unit()
	return u * u
}

// rmsUnit is the root mean square relative error of rounding to nearest in units of the largest.
const rmsUnit = 0.42

// rounded is the mean square error that the rounding of a result leaves; none where the operator computes
// no new numbers, or whole ones that the format holds.
func (e *rounding) rounded(n *graph.Node, v *graph.Value) float64 {
	o, ok := e.p.ops[n.OpName()]
	if ok && o.exact || moves(n.OpName()) || !v.Type.Float() {
		return 0
	}
	if x := e.p.val(v); x.integer && x.Hull().MaxAbs() <= e.f.ExactInt() {
		return 0
	}
	return e.square(v) * e.unit()
}

// square is the mean square of a value.
func (e *rounding) square(v *graph.Value) float64 {
	if v == nil {
		return 0
	}
	if v.Const != nil && !e.p.moving[v] && v.Type.Float() {
		return e.read(v.Const)
	}
	if e.masked[v.Producer] {
		if k := e.unmasked(v.Producer); k >= 0 {
			return e.square(v.Producer.In(k))
		}
	}
	m := e.p.moments(v).flat()
	if len(m.mean) == 0 {
		return 0
	}
	return m.mean[0]*m.mean[0] + m.vari[0]
}

// unmasked returns the input of a node that holds the logits where they meet a mask, -1 where there is none.
// What a mask drowns is lost in the softmax, and so is its error.
func (e *rounding) unmasked(n *graph.Node) int {
	at, least := -1, math.Inf(1)
	for k, v := range n.Inputs {
		if v == nil || !v.Type.Float() || v.Const != nil {
			continue
		}
		if m := e.p.val(v).Hull().MaxAbs(); at < 0 || m < least {
			at, least = k, m
		}
	}
	return at
}

// read returns the mean square of a constant's elements.
func (e *rounding) read(t *graph.Tensor) float64 {
	if s, ok := e.squares[t]; ok {
		return s
	}
	sum, n := 0.0, 0
	err := stream(t, func(_ int, x float64) {
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			sum += x * x
			n++
		}
	})
	if err != nil || n == 0 {
		n = 1
	}
	e.squares[t] = sum / float64(n)
	return e.squares[t]
}

// maxExact is the number of elements up to which it is looked how much a constant's rounding loses.
const maxExact = 1 << 12

// constant is the mean square error of a constant in the format.
func (e *rounding) constant(t *graph.Tensor) float64 {
	if t.Len() > maxExact || t.Len() == 0 {
		return e.read(t) * e.unit()
	}
	sum := 0.0
	err := stream(t, func(_ int, x float64) {
		if d := e.f.RoundSat(x) - x; !math.IsNaN(d) && !math.IsInf(d, 0) {
			sum += d * d
		}
	})
	if err != nil {
		return 0
	}
	return sum / float64(t.Len())
}
