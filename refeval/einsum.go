package refeval

import (
	"slices"
	"strings"
)

// term is an operand of a sum of products: each dimension has a label.
type term struct {
	t      *Tensor
	labels []rune
}

// sumOfProducts is an equation such as "ij,jk->ik", with the size that each label stands for.
type sumOfProducts struct {
	c     *Call
	sizes map[rune]int
	terms []term
	out   []rune
}

// einsum multiplies its operands from the first to the last; what neither the result nor a later
// operand asks for is summed at once, so that each step is a product of matrices.
func einsum(c *Call) error {
	e := c.equation()
	acc := e.sumOut(e.terms[0], e.needed(1))
	for i, next := range e.terms[1:] {
		later := e.needed(i + 2)
		next = e.sumOut(next, slices.Concat(later, acc.labels))
		acc = e.sumOut(acc, slices.Concat(later, next.labels))
		acc = e.contract(acc, next, later)
	}
	y := e.arrange(acc, e.out)
	c.Set(0, TensorValue(y))
	return nil
}

// ellipsis is the label of the last dimension that "..." stands for; those before it count up.
const ellipsis = rune(1 << 16)

// equation reads the attribute.
func (c *Call) equation() *sumOfProducts {
	text := strings.ReplaceAll(c.Str("equation"), " ", "")
	left, right, explicit := strings.Cut(text, "->")
	parts := strings.Split(left, ",")
	if len(parts) != c.Len() {
		refuse("the equation %q has %d terms for %d inputs", text, len(parts), c.Len())
	}
	e := &sumOfProducts{c: c, sizes: map[rune]int{}}
	dots := 0
	for i, p := range parts {
		t := c.In(i)
		sameType(c.In(0), t)
		n := t.Rank() - len(strings.ReplaceAll(p, "...", ""))
		dots = max(dots, n)
		e.terms = append(e.terms, term{t, labelsOf(p, n)})
		e.measure(e.terms[i], p)
	}
	if explicit {
		e.out = labelsOf(right, dots)
	} else {
		e.out = append(labelsOf("...", dots), once(left)...)
	}
	for _, l := range e.out {
		if _, ok := e.sizes[l]; !ok {
			refuse("the equation %q does not say how large its result is", text)
		}
	}
	return e
}

// labelsOf spells out the labels of a term whose dots stand for n dimensions.
func labelsOf(p string, n int) []rune {
	var list []rune
	before, after, dots := strings.Cut(p, "...")
	list = append(list, []rune(before)...)
	for i := n; dots && i > 0; i-- {
		list = append(list, ellipsis+rune(i-1))
	}
	return append(list, []rune(after)...)
}

// once returns the letters that stand only once in a text, sorted.
func once(text string) []rune {
	var list []rune
	for _, l := range text {
		letter := l >= 'a' && l <= 'z' || l >= 'A' && l <= 'Z'
		if letter && strings.Count(text, string(l)) == 1 {
			list = append(list, l)
		}
	}
	slices.Sort(list)
	return list
}

// measure notes the sizes of labels; a dimension of 1 goes with any other.
func (e *sumOfProducts) measure(t term, text string) {
	if len(t.labels) != t.t.Rank() {
		refuse("the term %q for %s", text, t.t)
	}
	for i, l := range t.labels {
		d, had := t.t.Dims[i], e.sizes[l]
		switch {
		case had == 0 || had == 1:
			e.sizes[l] = d
		case d != 1 && d != had:
			refuse("the label %c stands for %d and %d", l, had, d)
		}
	}
}

// needed returns the labels that the result and the terms from i on have.
func (e *sumOfProducts) needed(i int) []rune {
	list := slices.Clone(e.out)
	for _, t := range e.terms[min(i, len(e.terms)):] {
		list = append(list, t.labels...)
	}
	return list
}

// arrange returns the elements of a term with its dimensions in the order of labels: a label that
// the term has twice runs along its diagonal, a dimension of 1 is repeated.
func (e *sumOfProducts) arrange(t term, order []rune) *Tensor {
	own := strides(t.t.Dims)
	dims, from := make([]int, len(order)), make([]int, len(order))
	for i, l := range order {
		dims[i] = e.sizes[l]
		for k, m := range t.labels {
			if m == l && t.t.Dims[k] != 1 {
				from[i] += own[k]
			}
		}
	}
	if slices.Equal(t.labels, order) && slices.Equal(dims, t.t.Dims) {
		return t.t
	}
	y := e.c.Temp(t.t.Elem, dims)
	copyBox(y, whole(y), t.t, layout{strides: from}, dims)
	return y
}

// sumOut sums over the labels of a term that are not kept.
func (e *sumOfProducts) sumOut(t term, keep []rune) term {
	var kept, gone []rune
	for _, l := range t.labels {
		switch {
		case slices.Contains(kept, l) || slices.Contains(gone, l):
		case slices.Contains(keep, l):
			kept = append(kept, l)
		default:
			gone = append(gone, l)
		}
	}
	if len(gone) == 0 {
		return term{e.arrange(t, kept), kept}
	}
	rows := e.arrange(t, slices.Concat(kept, gone))
	y := e.c.Temp(t.t.Elem, rows.Dims[:len(kept)])
	additive{}.into(e.c, y, rows, size(rows.Dims[len(kept):]))
	return term{y, kept}
}

// contract multiplies two terms and sums over what they share and nothing later needs.
func (e *sumOfProducts) contract(x, y term, later []rune) term {
	var batch, left, right, inner []rune
	for _, l := range x.labels {
		switch {
		case !slices.Contains(y.labels, l):
			left = append(left, l)
		case slices.Contains(later, l):
			batch = append(batch, l)
		default:
			inner = append(inner, l)
		}
	}
	for _, l := range y.labels {
		if !slices.Contains(x.labels, l) {
			right = append(right, l)
		}
	}
	a := e.arrange(x, slices.Concat(batch, left, inner))
	b := e.arrange(y, slices.Concat(batch, inner, right))
	n, m, k, p := e.size(batch), e.size(left), e.size(inner), e.size(right)
	labels := slices.Concat(batch, left, right)
	dims := make([]int, len(labels))
	for i, l := range labels {
		dims[i] = e.sizes[l]
	}
	z := e.c.Temp(a.Elem, dims)
	for i := range n {
		e.c.matmulOf(z, i*m*p, a, i*m*k, b, i*k*p, m, p, k)
	}
	return term{z, labels}
}

// size is the product of the sizes of labels.
func (e *sumOfProducts) size(labels []rune) int {
	n := 1
	for _, l := range labels {
		n *= e.sizes[l]
	}
	return n
}
