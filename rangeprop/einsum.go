package rangeprop

import (
	"math"
	"slices"
	"strings"
)

// einsumOp multiplies and sums: at most the product of the bounds, as often as the summed indices
// count.
func einsumOp(c *call) *Val {
	eq := strings.ReplaceAll(c.n.Str("equation", ""), " ", "")
	in, out, explicit := strings.Cut(eq, "->")
	terms := strings.Split(in, ",")
	v := c.x(0).flat()
	for i := 1; i < len(c.in); i++ {
		v = times(v, c.x(i).flat())
	}
	n := c.einsumCount(terms, out, explicit)
	w := map1flags(v, func(x Range) Range { return mul(x, n) })
	for i := range c.in {
		w.nan = w.nan || c.x(i).special()
	}
	w = c.summed(w, v.Hull(), n.Hi, product(n.Hi, v.Hull().MaxAbs()))
	if explicit && len(terms) == 2 && len(c.in) == 2 && !strings.Contains(eq, ".") {
		if trans, ok := matrixProduct(terms[0], terms[1], out); ok {
			w = c.logits(w, trans)
		}
		w = c.einsumByBalls(w, terms, out, n.Hi)
		return c.einsumMean(w, terms, out, n.Hi)
	}
	return w
}

// matrixProduct tells whether an equation is a product of matrices, the second one transposed or not,
// under equal batches.
func matrixProduct(a, b, out string) (trans, ok bool) {
	r := len(out)
	if r < 2 || len(a) != r || len(b) != r || a[:r-2] != out[:r-2] || b[:r-2] != out[:r-2] || a[r-2] != out[r-2] || strings.Contains(out, a[r-1:]) {
		return false, false
	}
	k, n := a[r-1], out[r-1]
	return b[r-1] == k, b[r-2] == k && b[r-1] == n || b[r-2] == n && b[r-1] == k
}

// einsumByBalls meets the bounds with the product of the lengths of the vectors whose elements are multiplied and
// summed, where both have a ball over just the indices that are summed (Cauchy-Schwarz).
func (c *call) einsumByBalls(v *Val, terms []string, out string, n float64) *Val {
	m := 1 + 1e-5 + n*accumUnit
	var over [2]string
	for i, t := range terms {
		b := c.x(i).ball
		if b == nil || len(t) != c.rank(i) || strings.ContainsFunc(t, func(l rune) bool { return strings.Count(t, string(l)) > 1 }) {
			return v
		}
		for k, l := range t {
			if on := slices.Contains(b.axes, k); on != !strings.ContainsRune(out, l) {
				return v
			} else if on {
				over[i] += string(l)
			}
		}
		m *= b.norm()
	}
	if math.IsInf(m, 0) || math.IsNaN(m) || over[0] != over[1] || over[0] == "" {
		return v
	}
	return v.meet(scalar(Range{-m, m}))
}

// einsumMean meets the bounds with those of a mean where one operand holds weights along the only index
// that is summed.
func (c *call) einsumMean(v *Val, terms []string, out string, n float64) *Val {
	summed := ""
	for _, l := range terms[0] + terms[1] {
		if !strings.ContainsRune(out+summed, l) {
			summed += string(l)
		}
	}
	for i, t := range terms {
		w := c.x(i).shares
		if at := len(t) - w.axis; len(summed) == 1 && w.axis > 0 && at >= 0 && t[at:at+1] == summed && strings.Count(t, summed) == 1 && strings.Contains(terms[1-i], summed) {
			return v.meet(w.mean(c.x(1-i).flat(), 0, n, c.p.unit(c.n.Out(0))))
		}
	}
	return v
}

// einsumCount bounds how many products each output sums.
func (c *call) einsumCount(terms []string, out string, explicit bool) Range {
	sizes := map[rune]Range{} // an index of size 1 is repeated to the size that another operand has
	if strings.Contains(out, ".") || strings.Contains(strings.Join(terms, ""), ".") {
		for _, t := range terms { // an ellipsis is never summed where the output has one
			if explicit && strings.Contains(t, ".") && !strings.Contains(out, ".") {
				return Range{1, math.Inf(1)}
			}
		}
	}
	whole := strings.Join(terms, "")
	for i, t := range terms {
		before, after, _ := strings.Cut(t, "...")
		for k, r := range before + after {
			summed := explicit && !strings.ContainsRune(out, r) || !explicit && strings.Count(whole, string(r)) > 1
			if !summed {
				continue
			}
			d := k
			if k >= len(before) {
				d = c.rank(i) - len(before+after) + k
			}
			lo, hi := c.dim(i, d)
			size := Range{math.Max(float64(lo), 1), float64(hi)}
			if hi < 0 {
				size.Hi = math.Inf(1)
			}
			if was, seen := sizes[r]; seen {
				size = Range{math.Max(size.Lo, was.Lo), math.Max(size.Hi, was.Hi)}
			}
			sizes[r] = size
		}
	}
	n := Range{1, 1}
	for _, size := range sizes {
		n.Lo *= size.Lo
		n.Hi *= size.Hi
	}
	return n
}
