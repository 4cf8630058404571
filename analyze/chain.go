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
	// Node made the value; nil for inputs of the model, of bodies and of functions.
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
// bound is the largest, and into bodies and functions and out of them again. The value is named as it is in
// its graph, with the keys of the nodes around it where several graphs have one of that name, as in
// outer/then_branch/inner; the key of a node, as findings give it, stands for its first output.
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
	for seen := map[*graph.Value]bool{}; v != nil; v = a.before(v, seen) {
		seen[v] = true
		steps = append(steps, Step{Bound: a.bound(v), Node: v.Producer})
	}
	slices.Reverse(steps)
	for i := 1; i < len(steps); i++ {
		steps[i].Factor = factor(steps[i-1].Range, steps[i].Range)
	}
	return steps
}

// find returns the value of a name or key, of the outermost graph where several have one, else the first
// output of the node of that key.
func (a *analysis) find(name string) *graph.Value {
	for _, fits := range []func(v *graph.Value) bool{
		func(v *graph.Value) bool { return v.Key() == name },
		func(v *graph.Value) bool { return v.Name == name },
		func(v *graph.Value) bool { return v.Producer != nil && v.Producer.Key() == name },
	} {
		if v := firstValue(a.model, fits); v != nil {
			return v
		}
	}
	return nil
}

// firstValue returns the first value that fits, of the outermost graph first, nil where none does.
func firstValue(m *graph.Model, fits func(v *graph.Value) bool) *graph.Value {
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if fits(v) {
				return v
			}
		}
	}
	return nil
}

// before returns the value that the bound of another most likely comes from, nil where there is none. What
// was seen does not come again: a loop is left by what went into it.
func (a *analysis) before(v *graph.Value, seen map[*graph.Value]bool) *graph.Value {
	list := a.sources(v)
	if list == nil && v.Producer != nil {
		list = v.Producer.Inputs
	}
	return a.largest(list, seen)
}

// largest returns the value of the largest bound, nil where there are nothing but constants.
func (a *analysis) largest(list []*graph.Value, seen map[*graph.Value]bool) *graph.Value {
	var found *graph.Value
	top := -1.0
	for _, v := range list {
		if v == nil || seen[v] || v.Const != nil && a.ranges.Val(v).Basis() == rangeprop.Constant {
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
