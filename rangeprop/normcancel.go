package rangeprop

import (
	"iter"
	"math"

	"github.com/amplint/amplint/graph/pattern"
)

// What E[x²] - m² in floating point leaves of a variance.

// inSequence is the number of terms up to which a sum is taken to go in sequence; kernels add more of them in
// several chains at once.
const inSequence = 24

// shortfall is how far E[x²] - m² may lie below the variance, relative to the largest square: both
// parts round their squares, their sums of n terms and their means. unit is that of the result. Few
// roundings in a low type may all go one way, and so may those of few terms in FP32: 1.5·n units for the
// partial sums of the squares and, twice, of the mean. Those of many are taken to be independent, for which
// √n units are three deviations of a sum in sequence and more of one in blocks (Higham and Mary, A new
// approach to probabilistic rounding error analysis, 2019). Short sums do go in
// sequence: six are allowed for them, since rows are sought that show three.
func (p *pass) shortfall(n *pattern.Norm) (relative, unit float64) {
	unit = p.unitBehind(n.Var, n.Input)
	relative = meanShortfall(float64(n.Count))
	if unit > accumUnit {
		relative += 5 * unit
	}
	return relative, unit
}

// meanShortfall is shortfall in FP32 for k terms.
func meanShortfall(k float64) float64 {
	return math.Max(math.Sqrt(7+5*k), math.Min(1.5*k+6, 2*math.Sqrt(7+5*math.Min(k, inSequence)))) * accumUnit
}

// cancellation is how much larger than √n a value normalised by E[x²] - m² can come out: a row whose
// variance is below the shortfall δ = relative·max x² is divided by the root of ε alone, and the
// mean that is subtracted may be off.
func (p *pass) cancellation(n *pattern.Norm) float64 {
	if n.EpsValue <= 0 {
		return math.Inf(1)
	}
	m := p.val(n.Input).Hull().MaxAbs()
	relative, unit := p.shortfall(n)
	root := leastRoot(n)
	k := math.Hypot(1, math.Sqrt(relative)*m/root)
	if !n.Floored && !n.EpsOnRoot {
		k = math.Max(k, math.Sqrt(leftOver(n.EpsValue, relative/unit, unit*m*m)))
	}
	return k + (unit+math.Sqrt(float64(n.Count))*accumUnit)*m/root
}

// leftOver bounds a variance over v + ε where v, a difference of two rounded numbers, may be negative.
// Numbers with the unit h in the last place differ by a multiple of h, so v + ε, if it is not negative,
// is at least what is left of ε modulo h; and the variance is then at most ulps·h. top is the largest h.
func leftOver(eps, ulps, top float64) float64 {
	worst := 0.0
	for h := range lastPlaces(eps, ulps, top) {
		worst = math.Max(worst, ulps*h/math.Mod(eps, h))
	}
	return worst
}

// leastLeft is the least v + ε above 0 of leftOver.
func leastLeft(eps, ulps, top float64) float64 {
	least := eps / 2
	for h := range lastPlaces(eps, ulps, top) {
		least = math.Min(least, math.Mod(eps, h))
	}
	return least
}

// lastPlaces lists the units in the last place that may take half of an ε or more away.
func lastPlaces(eps, ulps, top float64) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for h := math.Exp2(math.Floor(math.Log2(eps))); ulps*h > eps/2; h /= 2 {
			if h <= 2*top && !yield(h) {
				return
			}
		}
	}
}
