package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
)

// What rounding to few bits inside a normalisation adds to its bound.

// normLoss is loss below a root, for the squares of as many elements as are summed, and of what is rounded
// behind it.
func (p *pass) normLoss(n *pattern.Norm) float64 {
	f, _ := p.coarsest(n.Output, n.Nodes)
	if f.Bits() >= 32 {
		return 1
	}
	if n.Square == nil && p.storedIn(n.Numerator, f) {
		if k, ok := p.byLength(n, f); ok {
			return k
		}
	}
	if n.Shifted == nil || n.Bound == 0 {
		return math.Inf(1)
	}
	least := f.Round(p.val(n.Shifted).Hull().Lo) // a cast may follow
	if n.EpsOnRoot {
		return p.besideRoot(n, f, least)
	}
	k, g := p.behindRoot(n, f), narrowest(sinceSquared(n, n.Shifted))
	switch {
	case g.Bits() >= 32:
		return k
	case n.EpsValue > 0 && !n.EpsMax:
		return k * math.Sqrt(regained(squaresShort(n, g), g.Round(n.EpsValue), least))
	}
	return k * math.Sqrt(short(g, p.val(n.Shifted).Hull().Lo, float64(n.Count)))
}

// sinceSquared lists what is computed from what a norm squares up to v: differences that are stored low lose
// nothing of that by it.
func sinceSquared(n *pattern.Norm, v *graph.Value) []*graph.Value {
	from := n.Input
	if n.Square != nil && n.Square.Producer != nil && n.Square.Producer.In(0) != nil {
		from = uncast(n.Square.Producer.In(0))
	}
	list := behind(v, from)
	if from != n.Input && slices.Contains(list, n.Input) { // the squares of an equal value were found
		return behind(v, n.Input)
	}
	return list
}

// besideRoot is normLoss where ε stands beside the root: the root and the numerator round by half the least
// number, and the root of squares that are short is as far short as what they lack has for a root.
func (p *pass) besideRoot(n *pattern.Norm, f numfmt.Format, least float64) float64 {
	m := f.MinSubnormal()
	s := m + m/n.Bound
	if g := narrowest(sinceSquared(n, n.Var)); g.Bits() < 32 && (n.Var.Producer == nil || n.Var.Producer.Op != "ReduceL2") {
		s += math.Sqrt(squaresShort(n, g))
	}
	if n.EpsMax {
		return regained(s, 0, least)
	}
	return regained(s, f.Round(n.EpsValue), least)
}

// regained is how much larger than its bound b/v a quotient b/(v - s + ε) can be: larger only where s is above
// ε, and most where the denominator is least.
func regained(s, eps, least float64) float64 {
	if !(least > 0) {
		return math.Inf(1)
	}
	return math.Max(1, 1+(s-eps)/least)
}

// scaledEarly is how far a normalised value may be off because a numerator is rounded that was scaled before
// it is divided.
func (p *pass) scaledEarly(n *pattern.Norm) float64 {
	f, _ := p.coarsest(n.Output, n.Nodes)
	if f.Bits() >= 32 || n.Coef == 1 && len(n.Scales) == 0 || n.Shifted == nil {
		return 0
	}
	least := p.val(n.Shifted).Hull().Lo
	if !n.EpsOnRoot {
		least = math.Sqrt(math.Max(least, 0))
	}
	if !(least > 0) { // ReduceL2, or a loss without end
		return 0
	}
	return f.MinSubnormal() / 2 / least
}

// behindRoot is how much larger than its bound a quotient may come out because the numerator, the root and
// its reciprocal are rounded to multiples of the least number of a format. Squares that overflow make the
// root infinite and its reciprocal 0, which is no larger.
func (p *pass) behindRoot(n *pattern.Norm, f numfmt.Format) float64 {
	h := p.val(n.Shifted).Hull()
	least, m := math.Sqrt(math.Max(h.Lo, 0)), f.MinSubnormal()
	if n.Expanded && !n.Floored && !n.EpsOnRoot {
		relative, unit := p.shortfall(n)
		top := p.val(n.Input).Hull().MaxAbs()
		least = math.Sqrt(leastLeft(n.EpsValue, relative/unit, unit*top*top))
	}
	if least <= 2*m || p.val(n.Root).special() && 1/least >= f.Max()/2 { // the reciprocal overflows
		return math.Inf(1)
	}
	most := math.Min(math.Sqrt(h.Hi), f.Max())
	return (1 + m/least) / (1 - m/least) * (1 + math.Min(most, p.val(n.Numerator).Hull().MaxAbs()/n.Bound)*m)
}

// byLength is normLoss where elements are divided by what ReduceL2 gives, which no element is larger than
// also once it is rounded: all that happens to it on the way makes it larger, or moves it. Elements that
// are scaled before round by half the least number.
func (p *pass) byLength(n *pattern.Norm, f numfmt.Format) (k float64, ok bool) {
	for _, d := range n.Nodes {
		if d.Op != "Div" || d.In(1) == nil || !isLength(d.In(1)) {
			continue
		}
		if d.In(0) == n.Numerator {
			return 1, true
		}
		m := d.In(0).Producer
		if m == nil || m.Op != "Mul" || m.In(0) != n.Numerator && m.In(1) != n.Numerator {
			return 1, false
		}
		scale := p.val(m.In(0))
		if m.In(0) == n.Numerator {
			scale = p.val(m.In(1))
		}
		least := p.val(d.In(1)).Hull().Lo * scale.Tiny()
		return 1 + f.MinSubnormal()/least, least > 0 && !scale.zero()
	}
	return 1, false
}

// lengthLoss is how much longer than 1 a row may be that is divided by what ReduceL2 gives: the length rounds by
// half the least number m, and that of the shortest row, of two elements of m, is √2·m.
func (p *pass) lengthLoss(n *pattern.Norm) float64 {
	if n.Square != nil || !n.EpsOnRoot || n.Shifted == nil {
		return 1
	}
	f := narrowest(behind(n.Shifted, n.Numerator))
	m, eps := f.MinSubnormal(), f.Round(n.EpsValue)
	switch {
	case f.Bits() >= 32 || !n.EpsMax && eps >= m/2:
		return 1
	case eps >= m:
		return 1 + m/2/eps
	}
	return math.Sqrt2
}

// isLength tells whether a value is the result of ReduceL2, or larger.
func isLength(v *graph.Value) bool {
	for v != nil && v.Producer != nil {
		switch v.Producer.Op {
		case "ReduceL2":
			return true
		case "Max", "Clip", "Add":
			if in := v.Producer.In(1); in != nil && in.Const == nil {
				v = in
				continue
			}
		case "Cast", "Identity", "Expand", "Unsqueeze", "Reshape":
		default:
			return false
		}
		v = v.Producer.In(0)
	}
	return false
}
