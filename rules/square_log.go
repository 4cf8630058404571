package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/spread"
	"github.com/amplint/amplint/rules/walk"
)

// energy is what a logarithm is taken of where that is made of squares: one, a sum or mean of some, or
// its root.
type energy struct {
	ways  []*graph.Value // from the argument back to the squares
	sum   *graph.Value   // what the floor is for, or the argument
	bases []*graph.Value // what is squared
	floor float64        // what keeps the squares from 0, counted as a square: 0 where nothing does
}

// maxEnergy bounds the values between a logarithm and the squares.
const maxEnergy = 32

// energyOf returns the squares that a value is made of, nil where it is made of something else.
func (p *Pass) energyOf(v *graph.Value) *energy {
	e := &energy{sum: walk.Moved(walk.Plain(v))}
	if !e.back(p, v) {
		return nil
	}
	return e
}

// back follows a value back to squares, and tells whether it is made of nothing else.
func (e *energy) back(p *Pass, v *graph.Value) bool {
	for v = walk.Source(v); walk.Moved(v) != v || walk.Plain(v) != v; v = walk.Source(walk.Maker(v).In(0)) {
		e.ways = append(e.ways, v)
	}
	if len(e.ways) >= maxEnergy {
		return false
	}
	e.ways = append(e.ways, v)
	if s := p.Patterns.Square(v); s != nil {
		e.bases = append(e.bases, s.Base)
		return true
	}
	n := walk.Maker(v)
	switch {
	case walk.Is(n, "ReduceSumSquare"):
		e.bases = append(e.bases, n.In(0))
		return true
	case walk.Is(n, "Sqrt"):
		e.floor *= e.floor
		return e.back(p, n.In(0))
	case walk.Is(n, "ReduceSum", "ReduceMean", "GlobalAveragePool", "AveragePool", "Relu"):
		return e.back(p, n.In(0))
	case walk.Is(n, "Clip"):
		if lo, _, ok := walk.Clip(n); ok {
			e.raise(lo, n.In(0))
		}
		return e.back(p, n.In(0))
	case walk.Is(n, "Add", "Max", "Mul", "MatMul", "Gemm", "Conv") && len(n.Inputs) == 2:
		return e.pair(p, n)
	}
	return false
}

// pair follows both operands of a node back, constants aside: what is added or bounds from below keeps the
// squares from 0, and weights that are not negative leave a sum of squares one.
func (e *energy) pair(p *Pass, n *graph.Node) bool {
	sums := walk.Is(n, "Add", "Max")
	for i, in := range n.Inputs {
		if walk.Constant(in) == nil {
			continue
		}
		other := n.In(1 - i)
		if p.Range(in).Lo < 0 || walk.Constant(other) != nil {
			return false
		}
		if sums {
			e.raise(p.Range(in).Lo, other)
		}
		return e.back(p, other)
	}
	return sums && e.back(p, n.In(0)) && e.back(p, n.In(1))
}

// raise notes a floor under a value.
func (e *energy) raise(floor float64, v *graph.Value) {
	if floor > 0 {
		e.floor, e.sum = math.Max(e.floor, floor), walk.Moved(walk.Plain(v))
	}
}

// edits holds all of it in FP32.
func (e *energy) edits() (edits []rewrite.Edit) {
	for _, v := range e.ways {
		edits = joined(edits, []rewrite.Edit{rewrite.Widen{Value: v}})
	}
	return edits
}

// faint is the share of what a square is 0 below, from which on a floor shows squares that are gone.
const faint = 1.0 / 16

// checkEnergy reports squares whose logarithm is taken, where inputs are small enough for all of them to
// be 0. A logarithm shows how small a number is, however small: nothing else swallows what is gone.
func checkEnergy(p *Pass, log *graph.Node) {
	e := p.energyOf(log.In(0))
	if e == nil || p.known(log, nil) {
		return
	}
	square := e.ways[len(e.ways)-1]
	f, ok := p.low(square)
	if !ok || f.ZeroAt() < numfmt.FP32.MinNormal() || e.floor > faint*f.ZeroAt() {
		return
	}
	least := math.Sqrt(f.ZeroAt())
	for _, b := range e.bases {
		if r := p.reach.Of(b); r.Level() < reach.Uniform || r.Lo.At >= least || r.Hi.At <= -least {
			return
		}
	}
	for _, v := range e.ways {
		if p.known(walk.Maker(v), v) { // an epsilon that is lost, or squares that are too large
			return
		}
	}
	find := p.at(walk.Maker(e.sum), e.sum)
	find.Occurrences = []Place{{walk.Maker(square), square}}
	find.Evidence, find.Limit, find.Consequence = Witness, f.MinSubnormal(), Silent
	then := "a logarithm shows how small they are"
	if e.floor == 0 {
		find.Consequence = consequence(p.harm.Of(log.Out(0), spread.Damage{Neg: true, Whole: true, Least: 10}))
		then = "the logarithm is then -Inf"
	}
	find.Message = fmt.Sprintf("the squares of %s are 0 below %s in %s, and %s at %s", e.bases[len(e.bases)-1].Name, number(least), f, then, log.LocalKey())
	find.Edits = e.edits()
	p.report(find)
}
