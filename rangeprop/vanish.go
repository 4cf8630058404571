package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
)

// loss is how much larger than its bound a quotient can come out in the format it is computed in, as a
// factor: each of n parts of the denominator may be short by what rounds to zero, which only the
// least value of the denominator holds up. It is 1 for FP32 and wider, where nothing in a model's
// range vanishes, and for values that are only going to be held low: there the rules judge the
// denominator, and what follows is sized as if it had been repaired.
func (p *pass) loss(f numfmt.Format, den *graph.Value, n float64) float64 {
	if f.Bits() >= 32 {
		return 1
	}
	if den == nil {
		return math.Inf(1)
	}
	return short(f, f.Round(p.val(den).Hull().Lo), n) // a cast may follow
}

// short is loss for the least value of a denominator.
func short(f numfmt.Format, least, n float64) float64 {
	if least <= 0 || math.IsNaN(n) {
		return math.Inf(1)
	}
	return 1 + math.Max(n, 1)*f.MinSubnormal()/least
}

// ratioLoss is loss for a quotient by a sum. Elements round by half the least number where only the sum
// reads them as they are stored, each low result on the way to the sum as well, and the sum itself. An ε
// that is added makes up for as much.
func (p *pass) ratioLoss(q *pattern.Ratio, f numfmt.Format) float64 {
	switch {
	case f.Bits() >= 32 || q.Denominator == nil:
		return p.loss(f, q.Denominator, 1)
	case q.Kind == pattern.OfPart:
		return p.partLoss(q, f)
	case q.Kind != pattern.OfSum && q.Kind != pattern.OfAbs && q.Kind != pattern.OfMax || q.Terms == 0:
		return p.loss(f, q.Denominator, elements(q.Nodes, q.Num))
	}
	s := q.Terms*p.lowResults(q.Den, q.Num) + 1
	if !q.EpsMax && len(q.Scales) == 0 {
		s = math.Max(0, s-2*f.Round(q.EpsValue)/f.MinSubnormal())
	}
	least := f.Round(p.val(q.Denominator).Hull().Lo) // a cast may follow
	if !(least > 0) {
		return math.Inf(1)
	}
	return 1 + s*f.MinSubnormal()/2/least
}

// inverts tells whether a reciprocal on the way to a quotient may be infinite: in 16 bits that of a small number
// is, and what it multiplies need not be 0.
func (p *pass) inverts(q *pattern.Ratio) bool {
	nodes := slices.Clone(q.Nodes)
	for _, v := range q.Output.Producer.Inputs {
		for k := v; k != nil && k.Producer != nil; k = k.Producer.In(0) {
			if nodes = append(nodes, k.Producer); !keepsNumbers(k.Producer.OpName()) && k.Producer.Op != "Cast" {
				break
			}
		}
	}
	return p.infinite(nodes)
}

// infinite tells whether one of the nodes is a reciprocal that may be infinite.
func (p *pass) infinite(nodes []*graph.Node) bool {
	return slices.ContainsFunc(nodes, func(n *graph.Node) bool {
		alone := n.Op == "Reciprocal" || n.Op == "Pow" || n.Op == "Div" && n.In(0) != nil && n.In(0).Const != nil
		return alone && n.Out(0) != nil && p.val(n.Out(0)).posInf
	})
}

// partLoss is loss for x / (a + b - x + ε): sums of numbers that are stored round to none that is smaller than
// the least one, so that the denominator is 0 only where x is, or where x is read as it was before it was
// rounded and the three below it are not.
func (p *pass) partLoss(q *pattern.Ratio, f numfmt.Format) float64 {
	eps := f.Round(q.EpsValue)
	least := math.Max(f.Round(p.val(q.Denominator).Hull().Lo), eps)
	if q.EpsMax {
		eps = 0
	}
	return regained(2*f.MinSubnormal(), eps, least)
}

// lowResults counts the values that are stored low on the way to a value, which may be one of several that
// are not known to be; it is at least 1.
func (p *pass) lowResults(v, from *graph.Value) float64 {
	n := 0
	for _, w := range behind(v, from) {
		if f, ok := held(w.Type.Elem); ok && f.Bits() < 32 && !rearranges(w) {
			n++
		}
	}
	return float64(max(n, 1))
}

// rearranges tells whether a value is another one with its shape or its sign changed at most.
func rearranges(v *graph.Value) bool {
	return v.Producer != nil && keepsNumbers(v.Producer.OpName())
}

// keepsNumbers lists the operators that hand numbers on as they are stored, but for their sign.
func keepsNumbers(op string) bool {
	switch op {
	case "Abs", "Neg", "Identity", "Reshape", "Flatten", "Expand", "Transpose", "Unsqueeze", "Squeeze", "Relu", "Slice", "Gather":
		return true
	}
	return false
}

// uneven is how far a weighted mean in a format may leave the hull of its elements because products,
// sums and weights round to multiples of the least number; ok is false where nothing holds the sum of the
// weights up. Products of matrices are summed before they are rounded.
func (p *pass) uneven(q *pattern.Ratio, f numfmt.Format) (e float64, ok bool) {
	loose := slices.DeleteFunc(slices.Clone(q.Weights), func(w *graph.Value) bool { return p.val(w).integer || p.crisp(w) })
	if q.Apart {
		return 0, false
	}
	if len(loose) == 0 {
		return 0, true
	}
	least := math.Max(p.val(q.Den).Hull().Lo, f.Round(q.EpsValue))
	if q.Denominator != nil {
		least = math.Max(least, p.val(q.Denominator).Hull().Lo)
	}
	if !(least > 0) {
		return 0, false
	}
	top, n := p.val(q.Input).Hull().MaxAbs(), float64(q.Count)
	if n == 0 {
		n = elements(q.Nodes, q.Num)
	}
	over, less := n+1, 0.0 // numbers that are stored add up to a multiple of the least one
	if q.Products {
		over = 1
	}
	for _, w := range loose {
		if !p.storedIn(w, f) { // the sum may read other numbers than the products
			less += n + 1
		}
	}
	if q.Augmented {
		less = 1
	}
	e = f.MinSubnormal() / 2 * (over + top*less) / least
	if q.Augmented && len(q.Weights) > 1 {
		inner, ok := p.unevenBelow(q, f, least, top)
		return e + inner, ok
	}
	return e, true
}

// unevenBelow is what A·(B·[V 1]) adds to uneven: B·V and B·1 are rounded before A multiplies them. Numbers
// that are stored are multiples k of the least one, and so is their sum; then k·v rounds to no more than k
// times the next whole number above v.
func (p *pass) unevenBelow(q *pattern.Ratio, f numfmt.Format, least, top float64) (e float64, ok bool) {
	a, b := q.Weights[0], q.Weights[1]
	if len(q.Weights) > 2 || len(a.Type.Shape) == 0 {
		return 0, false
	}
	if p.storedIn(b, f) {
		return math.Min(math.Ceil(top)-top, 0.5), true
	}
	n := float64(unknownCount)
	if d := a.Type.Shape[len(a.Type.Shape)-1]; d.Known() {
		n = float64(d.N)
	}
	return f.MinSubnormal() / 2 * (1 + top) * n * p.val(a).Hull().MaxAbs() / least, true
}

// squaresShort is how much the sum or mean of a norm's squares may be short of: each square, what they add up to
// and what that is scaled by round by half the least number of a format at most.
func squaresShort(n *pattern.Norm, f numfmt.Format) float64 {
	elements := float64(n.Count)
	if n.Count == 0 {
		elements = unknownCount
	}
	if n.Kind == pattern.LayerNorm {
		elements--
	}
	return f.MinSubnormal() * (elements/(n.Bound*n.Bound)/2 + 1) // elements/Bound² is 1 for a mean, n for a sum
}

// unknownCount is how many elements are taken to meet where a dimension has no number.
const unknownCount = 1 << 16

// elements is how many numbers can meet in one sum on the way to a quotient of num.
func elements(nodes []*graph.Node, num *graph.Value) float64 {
	most := perhaps(num.Type.Shape)
	for _, n := range nodes {
		for _, v := range n.Outputs {
			if v != nil {
				most = max(most, perhaps(v.Type.Shape))
			}
		}
	}
	return most
}

// perhaps multiplies the dimensions of a shape that may be summed over, all unknown ones as one.
func perhaps(s graph.Shape) float64 {
	n := float64(count(s))
	if _, ok := s.Ints(); !ok {
		n *= unknownCount
	}
	return n
}
