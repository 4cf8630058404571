package analyze

import (
	"context"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
)

// Step is a value on the way to another, and what its node did to the bound.
type Step struct {
	Bound
	// Node made the value; nil for the first of a chain that begins at an input.
	Node *graph.Node
	// Factor is how many times as large the bound is as that of the value before; 0 for the first, and
	// where one of the two has no bound or is 0.
	Factor float64
}

// Chain tells how the bound of a value came to be as large as it is.
type Chain struct {
	Path  string
	Steps []Step // the value itself last
	Notes []string
}

// Explain follows the bound of a value back to where it comes from: at every node to the input whose
// bound is the largest.
func Explain(ctx context.Context, path, value string, opt Options) (*Chain, error) {
	a, err := load(ctx, path, &opt, false)
	if err != nil {
		return nil, err
	}
	defer a.model.Close()
	v := a.find(value)
	if v == nil {
		return nil, usagef("%s has no value %q", path, value)
	}
	return &Chain{Path: path, Steps: a.chain(v), Notes: a.allNotes()}, nil
}

// chain returns the steps that made the bound of a value, the value itself last.
func (a *analysis) chain(v *graph.Value) []Step {
	var steps []Step
	for seen := map[*graph.Value]bool{}; v != nil && !seen[v]; v = a.widest(v.Producer) {
		seen[v] = true
		steps = append(steps, Step{Bound: a.bound(v), Node: v.Producer})
	}
	slices.Reverse(steps)
	for i := 1; i < len(steps); i++ {
		steps[i].Factor = factor(steps[i-1].Range, steps[i].Range)
	}
	return steps
}

// find returns the value of a name, of the main graph where several scopes have one.
func (a *analysis) find(name string) *graph.Value {
	for g := range a.model.Graphs() {
		for _, v := range g.Values {
			if v.Name == name || v.Key() == name {
				return v
			}
		}
	}
	return nil
}

// widest returns the input of a node that the bound of its output most likely comes from, nil where
// nothing but constants goes in.
func (a *analysis) widest(n *graph.Node) *graph.Value {
	if n == nil {
		return nil
	}
	var found *graph.Value
	top := -1.0
	for _, v := range n.Inputs {
		if v == nil || v.Const != nil && a.ranges.Val(v).Basis() == rangeprop.Constant {
			continue
		}
		m := a.bound(v).Range.MaxAbs()
		if !v.Type.Float() { // an index or a condition scales nothing
			m = 0
		}
		if m > top {
			found, top = v, m
		}
	}
	return found
}

func factor(before, after rangeprop.Range) float64 {
	f := after.MaxAbs() / before.MaxAbs()
	if math.IsNaN(f) || math.IsInf(f, 0) || math.IsInf(before.MaxAbs(), 0) {
		return 0
	}
	return f
}
