package rangeprop

import (
	"math"
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
	return c.summed(w, n.Hi, product(n.Hi, v.Hull().MaxAbs()))
}

// einsumCount bounds how many products each output sums.
func (c *call) einsumCount(terms []string, out string, explicit bool) Range {
	n, seen := Range{1, 1}, map[rune]bool{}
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
			if !summed || seen[r] {
				continue
			}
			seen[r] = true
			d := k
			if k >= len(before) {
				d = c.rank(i) - len(before+after) + k
			}
			lo, hi := c.dim(i, d)
			n.Lo *= math.Max(float64(lo), 1)
			if n.Hi *= float64(hi); hi < 0 {
				n.Hi = math.Inf(1)
			}
		}
	}
	return n
}
