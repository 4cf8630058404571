package analyze

import (
	"cmp"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rules"
)

// Profile is what a page draws of an analysed model. Like a report's text it holds nothing of the
// model itself.
type Profile struct {
	Format  numfmt.Format  // whose limits are drawn
	Values  []ProfileValue // inputs and results that are no constants, in graph order
	Nodes   []ProfileNode  // in graph order, those with float results
	Weights numfmt.Histogram
	// Tensors are the constants that lose numbers in the format, the worst first.
	Tensors []ProfileTensor
	// Chains tell for the values of findings, by their keys, how their bounds came to be.
	Chains map[string][]ProfileStep
}

// ProfileValue is a value with its bound.
type ProfileValue struct {
	Name, Node, Op string // the node and its operator are "" for inputs
	Range          rangeprop.Range
	Basis          rangeprop.Basis
	Likely         float64       // largest magnitude that is expected, 0 where there is no estimate
	Format         numfmt.Format // that it is held in, or would be after narrowing; Invalid where it is not judged
}

// ProfileNode is the type in which a node computes.
type ProfileNode struct {
	Key, Op  string
	Elem     graph.ElemType // of its first float result
	From     graph.ElemType // of a Cast: what it converts
	Elements int64          // of that result, over the dimensions that are numbers
	Open     []string       // its other dimensions; "?" alone where nothing is known of the shape
}

// ProfileTensor is a constant that loses numbers.
type ProfileTensor struct {
	Name                         string
	Count, Over, Zero, Subnormal int64
	Lo, Hi                       float64
}

// ProfileStep is a step on the way of a bound.
type ProfileStep struct {
	Value, Op string
	Range     rangeprop.Range
	Factor    float64 // how many times as large as the step before, 0 where that says nothing
}

// The bounds of what a page holds of one model.
const (
	maxTensors = 25
	maxChains  = 300
)

// profile gathers what a page draws.
func (a *analysis) profile(in *rules.Input, r *Report) *Profile {
	p := &Profile{Format: in.Target, Chains: map[string][]ProfileStep{}}
	for g := range a.model.Graphs() {
		for _, v := range g.Inputs {
			p.value(a, in, v)
		}
		for _, n := range g.Nodes {
			p.node(n)
			for _, v := range n.Outputs {
				p.value(a, in, v)
			}
		}
		for _, v := range g.Values {
			p.weights(v)
		}
	}
	slices.SortStableFunc(p.Tensors, func(x, y ProfileTensor) int {
		return cmp.Or(cmp.Compare(y.Over, x.Over), cmp.Compare(y.Zero, x.Zero), cmp.Compare(y.Subnormal, x.Subnormal))
	})
	p.Tensors = p.Tensors[:min(maxTensors, len(p.Tensors))]
	for _, f := range r.Findings {
		if f.Value != nil && len(p.Chains) < maxChains && p.Chains[f.Value.Key()] == nil {
			p.Chains[f.Value.Key()] = a.steps(f.Value)
		}
	}
	return p
}

// value adds a float value that is no constant.
func (p *Profile) value(a *analysis, in *rules.Input, v *graph.Value) {
	if v == nil || v.Const != nil || !v.Type.Float() {
		return
	}
	b := a.bound(v)
	x := ProfileValue{Name: v.Key(), Range: b.Range, Basis: b.Basis}
	if v.Producer != nil {
		x.Node, x.Op = v.Producer.Key(), v.Producer.OpName()
	}
	if b.Estimate != nil {
		x.Likely = b.Estimate.Likely.MaxAbs()
	}
	if f, ok := in.Hold(v); ok {
		x.Format = f
	}
	p.Values = append(p.Values, x)
}

// node adds a node with a float result.
func (p *Profile) node(n *graph.Node) {
	for _, v := range n.Outputs {
		if v == nil || !v.Type.Float() {
			continue
		}
		x := ProfileNode{Key: n.Key(), Op: n.OpName(), Elem: v.Type.Elem}
		x.Elements, x.Open = elements(v.Type.Shape)
		if in := n.In(0); n.Op == "Cast" && in != nil {
			x.From = in.Type.Elem
		}
		p.Nodes = append(p.Nodes, x)
		return
	}
}

// elements multiplies the dimensions that are known and names the others.
func elements(s graph.Shape) (n int64, open []string) {
	if s == nil {
		return 1, []string{"?"}
	}
	n = 1
	for _, d := range s {
		if d.Known() {
			n *= d.N
		} else {
			open = append(open, d.String())
		}
	}
	return n, open
}

// weights counts the elements of a float constant of the file. What cannot be read is left out: the
// report tells of it elsewhere.
func (p *Profile) weights(v *graph.Value) {
	if v.Const == nil || v.Init == nil && (v.Producer == nil || v.Producer.Op != "Constant") || !v.Const.Elem.IsFloat() {
		return
	}
	h, err := v.Const.Histogram()
	if err != nil {
		return
	}
	p.Weights.Merge(h)
	t := ProfileTensor{v.Key(), h.Count(), h.Overflow(p.Format), h.Underflow(p.Format), h.Subnormal(p.Format), h.Min(), h.Max()}
	if t.Over+t.Zero+t.Subnormal > 0 {
		p.Tensors = append(p.Tensors, t)
	}
}

// steps follows a bound back to where it comes from, the value itself last.
func (a *analysis) steps(v *graph.Value) []ProfileStep {
	var list []ProfileStep
	for _, s := range a.chain(v) {
		x := ProfileStep{Value: s.Value.Key(), Range: s.Range, Factor: s.Factor}
		if s.Node != nil {
			x.Op = s.Node.OpName()
		}
		list = append(list, x)
	}
	return list
}
