package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

var aboveOne = Rule{
	Name:  "above-one",
	Title: "cosine comes out above 1",
	Kind:  PrecisionLoss,
	Model: checkAboveOne,
}

// checkAboveOne looks at inverse functions that end at 1, and follows their argument back to the
// product of unit vectors that it is: a cosine of 1 comes out as 1.001, which has no arccosine.
func checkAboveOne(p *Pass) {
	for n := range p.Model.Nodes() {
		if walk.Is(n, "Acos", "Asin", "Atanh", "Acosh") {
			checkCosine(p, n)
		}
	}
}

func checkCosine(p *Pass, n *graph.Node) {
	ways, v := p.unscaled(n.In(0))
	sum := walk.Maker(v)
	f, ok := p.low(v)
	if !ok || !walk.Is(sum, "ReduceSum", "MatMul", "Einsum", "Gemm") || p.known(sum, nil) {
		return
	}
	a, b := p.factors(sum)
	if a == nil || b == nil || p.rests(n.In(0)) && p.Range(n.In(0)).MaxAbs() < 1-4*f.Unit() {
		return
	}
	find := p.at(sum, v)
	find.Limit, find.Evidence = 1, Likely
	if p.aligned(a, b) {
		find.Evidence, find.Consequence = Witness, Visible
	}
	find.Message = fmt.Sprintf("the cosine %s is 1 for vectors of one direction, give or take %.5g in %s; above 1 %s (%s) has no result", v.Name, 2*f.Unit(), f, n.LocalKey(), n.OpName())
	for _, w := range append(ways, v) {
		find.Edits = append(find.Edits, rewrite.Widen{Value: w})
	}
	for _, m := range []*pattern.Norm{a, b} {
		find.Edits = append(find.Edits, p.normEdits(m)...)
		find.Edits = append(find.Edits, rewrite.Widen{Value: m.Output})
	}
	if walk.Is(sum, "ReduceSum") {
		find.Edits = append(find.Edits, rewrite.Widen{Value: sum.In(0)})
	}
	p.report(find)
}

// unscaled follows a value back through products with constants close to 1, which move a cosine by
// less than its rounding.
func (p *Pass) unscaled(v *graph.Value) (ways []*graph.Value, w *graph.Value) {
	for w = walk.Moved(walk.Plain(v)); ; w = walk.Moved(walk.Plain(w)) {
		n := walk.MakerOf(w, "Mul")
		if n == nil {
			return ways, w
		}
		next := (*graph.Value)(nil)
		for i := range 2 {
			if c, ok := walk.Scalar(n.In(i)); ok && c > 0.999 && c < 1.001 {
				next = n.In(1 - i)
			}
		}
		if next == nil {
			return ways, w
		}
		ways, w = append(ways, w), next
	}
}

// factors returns the normalisations of the two vectors whose product a sum is.
func (p *Pass) factors(sum *graph.Node) (a, b *pattern.Norm) {
	x, y := sum.In(0), sum.In(1)
	if walk.Is(sum, "ReduceSum") {
		m := walk.MakerOf(x, "Mul")
		if m == nil {
			return nil, nil
		}
		x, y = m.In(0), m.In(1)
	}
	return p.unit(x), p.unit(y)
}

// unit returns the L2 normalisation that a value is the result of.
func (p *Pass) unit(v *graph.Value) *pattern.Norm {
	if v == nil {
		return nil
	}
	m := p.Patterns.Norm(walk.Moved(walk.Plain(v)))
	if m == nil || m.Kind != pattern.L2Norm {
		return nil
	}
	return m
}

// aligned tells whether inputs can give both vectors one direction.
func (p *Pass) aligned(a, b *pattern.Norm) bool {
	x, y := p.reach.Of(a.Input), p.reach.Of(b.Input)
	return x.Level() == reach.Free && y.Level() == reach.Free && x.Deps&y.Deps == 0 && max(x.Lo.At, y.Lo.At) < min(x.Hi.At, y.Hi.At)
}
