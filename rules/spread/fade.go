package spread

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/walk"
)

// quotient tells what it does that a divisor is infinite, and the quotient 0. By 1 + exp(z), where
// exp(z) comes below 1 too, nothing is lost: beside quotients of half the numerator and more, what is
// 0 now was as good as 0.
func (f *follow) quotient(n *graph.Node, divisor *graph.Value, d Damage) Harm {
	if d.Pos && !d.Neg && d.Least >= leastFading && f.sigmoid(divisor) && f.fades(n.Out(0), maxFading) {
		return Harmless
	}
	return f.p.tiny(n, d)
}

// tiny tells what it does that a quotient is 0 which should be tiny: it is missed only where it is not far
// below what the quotient comes to elsewhere, or something is divided by it.
func (p Walk) tiny(n *graph.Node, d Damage) Harm {
	top := 1.0
	if !walk.Is(n, "Reciprocal") {
		top = p.Range(n.In(0)).MaxAbs()
	}
	if top /= d.Least; d.Least > 0 && p.small(n.Out(0), top) {
		return p.Lost(n.Out(0), top)
	}
	return Wrong
}

// missed is the share of the largest number that some input takes a value to below which nobody misses
// what is 0.
const missed = 0.02

// small tells whether a number is far below what some input takes a value to.
func (p Walk) small(v *graph.Value, top float64) bool {
	return p.Reached != nil && top <= missed*p.Reached(v)
}

// leastFading is the divisor from which on a quotient is far below the rounding of the others, and
// maxFading how many nodes are looked through for what would notice.
const (
	leastFading = 1 << 14
	maxFading   = 16
)

// sigmoid tells whether a value is a positive number plus an exponential that comes below it.
func (f *follow) sigmoid(v *graph.Value) bool {
	n := walk.MakerOf(v, "Add")
	if n == nil || len(n.Inputs) != 2 {
		return false
	}
	for i, in := range n.Inputs {
		c, ok := walk.Scalar(in)
		if other := n.In(1 - i); ok && c > 0 && walk.MakerOf(other, "Exp") != nil && f.p.Range(other).Lo < c {
			return true
		}
	}
	return false
}

// fades tells whether all that a value comes to takes a 0 for a tiny number: sums, products with
// ordinary numbers, outputs. Logarithms and divisions do not.
func (f *follow) fades(v *graph.Value, left int) bool {
	uses, _ := walk.Flow(v)
	for _, u := range uses {
		n := u.Node
		switch {
		case left == 0:
			return false
		case walk.Carries(u), walk.Is(n, "Add", "Sub", "Neg", "Tanh", "Sigmoid", "Relu", "Cast", "CastLike"):
		case walk.Is(n, "Mul") && f.p.Range(n.In(1-u.Index)).MaxAbs() < leastFading/64:
		case walk.Is(n, "MatMul", "Gemm", "Conv"):
			continue // one term of many
		default:
			return false
		}
		for _, o := range n.Outputs {
			if o != nil && !f.fades(o, left-1) {
				return false
			}
		}
	}
	return true
}
