package rangeprop

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
)

// Errors through what holds other nodes: branches, loops, calls of functions and normalisations.

// nested carries weights through a node that runs a graph. It tells whether it is one.
func (e *rounding) nested(n *graph.Node) bool {
	switch {
	case n.Call != nil:
		e.scope(n, n.Call, n.Outputs, n.Call.Outputs, given(n.Inputs), n.Call.Inputs, 1)
	case n.Op == "If":
		then, other := n.Body("then_branch"), n.Body("else_branch")
		if then == nil || other == nil {
			return false
		}
		runs := e.taken(n)
		e.scope(n, then, n.Outputs, then.Outputs, nil, nil, runs)
		e.scope(n, other, n.Outputs, other.Outputs, nil, nil, 1-runs)
	case n.Op == "Loop":
		g := n.Body("body")
		if g == nil || len(g.Outputs) < 1 || len(g.Inputs) < 2 || len(n.Inputs) < 2 {
			return false
		}
		e.scope(n, g, n.Outputs, g.Outputs[1:], n.Inputs[2:], g.Inputs[2:], 1)
	case n.Op == "Scan":
		g := n.Body("body")
		if g == nil {
			return false
		}
		e.scope(n, g, n.Outputs, g.Outputs, n.Inputs[max(len(n.Inputs)-len(g.Inputs), 0):], g.Inputs, 1)
	default:
		return false
	}
	return true
}

// given leaves out the arguments that a call leaves out.
func given(in []*graph.Value) []*graph.Value {
	var list []*graph.Value
	for _, v := range in {
		if v != nil {
			list = append(list, v)
		}
	}
	return list
}

// taken is how often the first branch of an If runs.
func (e *rounding) taken(n *graph.Node) float64 {
	if n.In(0) == nil {
		return 0.5
	}
	switch h := e.p.val(n.In(0)).Hull(); {
	case h.Lo > 0:
		return 1
	case h == (Range{}):
		return 0
	}
	return 0.5
}

// scope carries the weights of a node's outputs, in a share of the runs, into the graph it runs and out at
// the other end. A graph that is run again starts without weights.
func (e *rounding) scope(n *graph.Node, g *graph.Graph, outs, inner, ins, args []*graph.Value, share float64) {
	if share == 0 {
		return
	}
	for _, v := range g.Values {
		delete(e.weight, v)
	}
	for i, v := range outs {
		if i < len(inner) && v != nil && inner[i] != nil {
			e.weight[inner[i]] += share * e.weight[v]
		}
	}
	e.back(g)
	for i, v := range ins {
		if i < len(args) && v != nil && args[i] != nil && v.Type.Float() {
			e.into(n, v, e.weight[args[i]])
		}
	}
}

// macro carries the weight of what a pattern ends in to what it begins with, past its parts: an error in
// a variance is divided out again by the root, which the parts one by one do not know. It tells whether
// there is such a pattern.
func (e *rounding) macro(v *graph.Value, s float64) bool {
	if n := e.p.facts.Norm(v); n != nil {
		e.norm(n, s)
		return true
	}
	if r := e.p.facts.Ratio(v); r != nil && r.Kind == pattern.OfMean && !r.Root && !r.Products && !r.Capped && r.Power == 1 {
		e.mean(r, s)
		return true
	}
	if m := e.p.facts.Softmax(v); m != nil && m.Node == nil && !m.Log && m.Exp != nil && m.Exp.Producer != nil {
		y := e.square(v)
		for _, n := range m.Nodes {
			if n != v.Producer && (n == m.Exp.Producer || m.Sum != nil && n == m.Sum.Producer) {
				e.parts[n] += s * y
			}
		}
		if in := m.Exp.Producer.In(0); in != nil {
			e.into(m.Exp.Producer, in, s*y)
		}
		return true
	}
	return false
}

// mean carries a weight through a weighted mean: errors of its terms average out, those of its sums stay.
func (e *rounding) mean(r *pattern.Ratio, s float64) {
	scale, n := r.Coef*r.Coef, 1.0
	for _, k := range r.Scales {
		scale *= e.square(k)
	}
	for _, a := range r.Axes {
		if sh := r.Num.Producer; sh != nil && sh.In(0) != nil && a < len(sh.In(0).Type.Shape) && sh.In(0).Type.Shape[a].N > 1 {
			n *= float64(sh.In(0).Type.Shape[a].N)
		}
	}
	if n == 1 {
		n = manyTerms
	}
	e.into(r.Output.Producer, r.Input, s*scale/n)
	for _, sum := range []*graph.Value{r.Num, r.Den} { // that of the weights is on no way from the input
		if k := sum.Producer; k != nil && k != r.Output.Producer && e.rounded(k, sum) > 0 {
			e.parts[k] += s * e.square(r.Output)
		}
	}
}

// manyTerms is what the number of elements in a mean over a dimension without a number is taken for.
const manyTerms = 64

// norm carries a weight through a normalisation spelled out.
func (e *rounding) norm(n *pattern.Norm, s float64) {
	y := e.square(n.Output)
	scale := n.Coef * n.Coef
	for _, k := range n.Scales {
		scale *= e.square(k)
	}
	if d := e.spread(n.Input, n.Mean != nil); d > 0 {
		if n.Kind == pattern.L2Norm && n.Count > 0 {
			d *= float64(n.Count)
		}
		e.into(n.Output.Producer, n.Input, s*scale/d)
	}
	for _, k := range n.Scales {
		if q := e.square(k); q > 0 {
			e.into(n.Output.Producer, k, s*y/q)
		}
	}
	for _, b := range n.Biases {
		e.into(n.Output.Producer, b, s)
	}
	for _, k := range n.Nodes {
		if k != n.Output.Producer && len(k.Outputs) > 0 && k.Outputs[0] != nil && e.rounded(k, k.Outputs[0]) > 0 {
			e.parts[k] += s * y * e.within(n, k.Outputs[0])
		}
	}
}

// within is how much of the relative error of a part is left in what a normalisation ends in, squared: a
// root halves it, a mean over a row averages it, and an error of the mean counts against the deviation.
func (e *rounding) within(n *pattern.Norm, v *graph.Value) float64 {
	switch v {
	case n.Mean:
		if d := e.spread(n.Input, true); d > 0 {
			return e.square(v) / d
		}
		return 0
	case n.Square:
		return 0.25 / float64(max(n.Count, 1))
	case n.Var, n.Shifted:
		return 0.25
	}
	return 1
}

// spread is the mean square of what a normalisation divides by: the variance within a row where the mean is
// taken off, else the mean square.
func (e *rounding) spread(v *graph.Value, centred bool) float64 {
	m := e.p.moments(v).flat()
	if len(m.mean) == 0 {
		return 0
	}
	if centred {
		return m.vari[0]
	}
	return m.vari[0] + m.mean[0]*m.mean[0]
}
