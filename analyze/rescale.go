package analyze

import (
	"context"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
)

// rescaledFor keeps what a node makes at half the limit by a power of two, nil where nothing behind it
// takes that back.
func (c *chooser) rescaledFor(rule string, n *graph.Node) rewrite.Edit {
	switch rule {
	case "attention-logits":
		if e := c.rescaled(n); e != nil {
			return e
		}
		return c.rebalanced(n)
	case "sum-of-squares":
		return c.smallSquares(n)
	case "matmul-overflow", "conv-overflow", "value-overflow":
		return c.rebalanced(n)
	}
	return nil
}

// power returns the power of two that brings a magnitude to half the limit of the target at most.
func (c *chooser) power(top float64) int {
	if top == 0 || math.IsInf(top, 0) || math.IsNaN(top) {
		return 0
	}
	return -int(math.Ceil(math.Log2(top / (c.target.Max() / 2))))
}

// top returns the largest bound of some values.
func (c *chooser) top(values []*graph.Value) float64 {
	top := 0.0
	for _, v := range values {
		top = max(top, c.bound(v).Range.MaxAbs())
	}
	return top
}

// rebalanced moves a power of two from the weights of a node to those of the next.
func (c *chooser) rebalanced(n *graph.Node) rewrite.Edit {
	e, values, ok := rewrite.RebalanceFor(n)
	if !ok {
		return nil
	}
	if e.Power = c.power(c.top(values)); e.Power >= 0 {
		return nil
	}
	return e
}

// smallSquares makes what is squared smaller, where the epsilon that goes with it stays a normal number of
// the target.
func (c *chooser) smallSquares(n *graph.Node) rewrite.Edit {
	if in := n.In(0); in != nil && in.Producer != nil && n.OpName() != "Mul" && n.OpName() != "Pow" {
		if _, _, ok := (rewrite.RescaleSquare{Square: in.Producer}).Squares(); ok { // the sum was found, not the square
			n = in.Producer
		}
	}
	e := rewrite.RescaleSquare{Square: n}
	values, eps, ok := e.Squares()
	if !ok {
		return nil
	}
	top := c.top(values)
	if n.OpName() == "ReduceL2" {
		top *= top // the squares are inside
	}
	if e.Power = c.power(top); e.Power >= 0 {
		return nil
	}
	e.Power = -(1 - e.Power) / 2 // of what is squared
	for _, v := range eps {
		if x, ok := single(v); !ok || math.Ldexp(math.Abs(x), 2*e.Power) < c.target.MinNormal() {
			return nil
		}
	}
	return e
}

// rescaled keeps a product of queries and keys at half the limit by a power of two, which its scale
// takes back.
func (c *chooser) rescaled(n *graph.Node) rewrite.Edit {
	l := c.patterns.Logit(n)
	if l == nil || len(l.Scale) == 0 || len(n.Out(0).Uses) != 1 || slices.Contains(n.Graph.Outputs, n.Out(0)) {
		return nil
	}
	scale := l.Scale[0]
	i := slices.Index(scale.Inputs, n.Out(0))
	if i < 0 || scale.Op == "Div" && i == 1 {
		return nil
	}
	_, ok := single(scale.In(1 - i))
	top := c.bound(n.Out(0)).Range.MaxAbs()
	if !ok || math.IsInf(top, 0) || top == 0 {
		return nil
	}
	power := c.power(top)
	if power >= 0 {
		return nil
	}
	return rewrite.Rescale{Product: n, Scale: scale, Power: power}
}

// rescales tells whether edits rest on powers of two.
func rescales(edits []rewrite.Edit) bool {
	return has[rewrite.Rescale](edits) || has[rewrite.RescaleSquare](edits) || has[rewrite.Rebalance](edits)
}

// has tells whether one of the edits is of a kind.
func has[T rewrite.Edit](edits []rewrite.Edit) bool {
	return slices.ContainsFunc(edits, func(e rewrite.Edit) bool { _, ok := e.(T); return ok })
}

// without is proved without ways whose result was not right: what powers of two make smaller may be too small
// for the format elsewhere, and in a row that is masked as a whole a score shows beside a clamped mask.
func (f *Fixed) without(ctx context.Context, a *analysis, plan *rewrite.Plan, opt *FixOptions, way, note string) (*graph.Model, error) {
	other := *opt
	other.Prefer = slices.DeleteFunc(slices.Clone(opt.Prefer), func(w string) bool { return w == way })
	f.reset(plan, &other)
	plan.Edits = nil
	m, err := f.proved(ctx, a, plan, &other)
	f.Summary.Notes = append(f.Summary.Notes, note)
	return m, err
}

const (
	scaledBadly  = "powers of two were not used: a run or the analysis of the result showed that they lose too much"
	clampedBadly = "masks were not clamped: a run of the result showed a difference"
)
