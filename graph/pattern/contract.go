package pattern

import (
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
)

// contraction is a sum of products of two values over axes of both: a matrix product or an einsum.
type contraction struct {
	a, b *graph.Value
	in   [2]string // the axes, a letter each
	out  string
	coef float64
}

// contraction reads a product of two matrices, or an Einsum of two operands.
func (f *finder) contraction(v *graph.Value) (*contraction, bool) {
	n := f.shaped(v).Producer
	if n == nil || n.In(1) == nil || len(n.Inputs) != 2 && !(len(n.Inputs) == 3 && n.Op == "Gemm" && n.In(2) == nil) {
		return nil, false
	}
	c := &contraction{a: f.same(n.In(0)), b: f.same(n.In(1)), coef: 1}
	switch n.OpName() {
	case "MatMul":
		return c, c.matrices("mk", "kn")
	case "Gemm", "com.microsoft.FusedMatMul":
		if n.Int("transBatchA", 0) != 0 || n.Int("transBatchB", 0) != 0 {
			return nil, false
		}
		c.coef = float64(n.Float("alpha", 1))
		return c, c.matrices([]string{"mk", "km"}[n.Int("transA", 0)&1], []string{"kn", "nk"}[n.Int("transB", 0)&1])
	case "Einsum":
		terms, out, ok := equation(n)
		if !ok || len(terms) != 2 {
			return nil, false
		}
		c.in, c.out = [2]string{terms[0], terms[1]}, out
		return c, true
	}
	return nil, false
}

// matrices names the axes of a product of matrices, or of a row of them; what the axes of the matrices are called is given.
func (c *contraction) matrices(a, b string) bool {
	ranks := [2]int{len(c.a.Type.Shape), len(c.b.Type.Shape)}
	if ranks[0] < 2 || ranks[0] != ranks[1] || ranks[0] > 10 {
		return false
	}
	batch := "abcdefgh"[:ranks[0]-2]
	c.in, c.out = [2]string{batch + a, batch + b}, batch+"mn"
	return true
}

// equation returns the axes of the operands and of the result of an Einsum, a letter each. Those of an ellipsis are given
// letters that no equation has.
func equation(n *graph.Node) (terms []string, out string, ok bool) {
	in, out, explicit := strings.Cut(strings.ReplaceAll(n.Str("equation", ""), " ", ""), "->")
	terms = strings.Split(in, ",")
	if !explicit || len(terms) != len(n.Inputs) {
		return nil, "", false
	}
	const unnamed = "0123456789"
	most := 0
	for i, t := range terms {
		if !strings.Contains(t, "...") {
			continue
		}
		if n.In(i) == nil || n.In(i).Type.Shape == nil {
			return nil, "", false
		}
		more := len(n.In(i).Type.Shape) - (len(t) - len("..."))
		if more < 0 || more > len(unnamed) {
			return nil, "", false
		}
		most = max(most, more)
		terms[i] = strings.Replace(t, "...", unnamed[len(unnamed)-more:], 1)
	}
	out = strings.Replace(out, "...", unnamed[len(unnamed)-most:], 1)
	return terms, out, !strings.Contains(strings.Join(terms, "")+out, ".")
}

// contracted reads Σ(w·x) / Σw where a matrix product or an einsum multiplies and sums.
func (f *finder) contracted(num, den *graph.Value, r *reduction, rest *product) *Ratio {
	c, ok := f.contraction(num)
	if !ok || r.op != "Sum" || r.all {
		return nil
	}
	for i, w := range []*graph.Value{c.a, c.b} {
		x := c.b
		if i == 1 {
			x = c.a
		}
		if f.shaped(w) != f.shaped(r.of) || !c.sums(i, r, w) || !c.meets(i, num, den) {
			continue
		}
		left := rest.without(num, 1)
		if scales, ok := f.values(left); ok {
			return &Ratio{Kind: OfMean, Power: 1, Products: true, Num: num, Input: x, Weights: []*graph.Value{w}, Coef: left.coef * c.coef, Scales: scales}
		}
	}
	return nil
}

// sums tells whether a reduction of operand i runs over just the axes that the contraction sums, and
// whether the other operand has them all.
func (c *contraction) sums(i int, r *reduction, w *graph.Value) bool {
	own, other := c.in[i], c.in[1-i]
	var sizes, reduced graph.Shape
	for k, l := range own {
		if strings.ContainsRune(c.out, l) {
			continue
		}
		if !strings.ContainsRune(other, l) || strings.Count(own, string(l)) > 1 || k >= len(w.Type.Shape) {
			return false
		}
		sizes = append(sizes, w.Type.Shape[k])
	}
	for _, l := range other { // nor may it sum over an axis that the weights do not have
		if !strings.ContainsRune(c.out, l) && !strings.ContainsRune(own, l) {
			return false
		}
	}
	for _, a := range r.axes {
		if a < len(r.of.Type.Shape) {
			reduced = append(reduced, r.of.Type.Shape[a])
		}
	}
	one := func(d graph.Dim) bool { return d == graph.Dim{N: 1} }
	sizes, reduced = slices.DeleteFunc(sizes, one), slices.DeleteFunc(reduced, one)
	return len(own) == len(w.Type.Shape) && settled(sizes) && slices.Equal(sizes, reduced)
}

// meets tells whether the sum of the weights, operand i, stands below the products of the same weights:
// each axis of it that is not 1 must meet the axis of the result that comes from the same axis of i.
func (c *contraction) meets(i int, num, den *graph.Value) bool {
	letters, ok := c.letters(num.Type.Shape)
	s, off := den.Type.Shape, len(num.Type.Shape)-len(den.Type.Shape)
	if !ok || off < 0 || !settled(s) {
		return false
	}
	left := 0
	for k, l := range c.in[i] {
		if d := c.operand(i).Type.Shape[k]; strings.ContainsRune(c.out, l) && d != (graph.Dim{N: 1}) {
			left++
		}
	}
	for k, d := range s {
		if d == (graph.Dim{N: 1}) {
			continue
		}
		l := letters[off+k]
		at := strings.IndexByte(c.in[i], l)
		if l == 0 || at < 0 || c.operand(i).Type.Shape[at] != d {
			return false
		}
		left--
	}
	return left == 0
}

func (c *contraction) operand(i int) *graph.Value { return [2]*graph.Value{c.a, c.b}[i] }

// letters names the axes of the result after axes of length 1 were added or dropped; 0 for those.
func (c *contraction) letters(s graph.Shape) ([]byte, bool) {
	var names []byte
	var dims graph.Shape
	for _, l := range []byte(c.out) {
		d := graph.Dim{N: 1}
		for i := range 2 {
			if at := strings.IndexByte(c.in[i], l); at >= 0 && at < len(c.operand(i).Type.Shape) && c.operand(i).Type.Shape[at] != (graph.Dim{N: 1}) {
				d = c.operand(i).Type.Shape[at]
			}
		}
		if d != (graph.Dim{N: 1}) {
			names, dims = append(names, l), append(dims, d)
		}
	}
	out := make([]byte, len(s))
	for i, d := range s {
		if d == (graph.Dim{N: 1}) {
			continue
		}
		if len(dims) == 0 || dims[0] != d {
			return nil, false
		}
		out[i], names, dims = names[0], names[1:], dims[1:]
	}
	return out, len(dims) == 0 && settled(s)
}
