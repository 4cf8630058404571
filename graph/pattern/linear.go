package pattern

import (
	"maps"
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
)

// linear reads linear attention: Σ A·(B·V) / (A·ΣB + ε), the sums over the same axes in either order. For A
// and B not below zero that is a weighted mean of V.
func (f *finder) linear(v *graph.Value) {
	n := v.Producer
	if f.set.ratios[v] != nil || !settled(v.Type.Shape) || !v.Type.Elem.IsFloat() || n.In(1) == nil {
		return
	}
	switch {
	case n.OpName() == "Einsum" && len(n.Inputs) == 3:
		f.linearOfThree(v)
	case n.OpName() == "Div":
		f.linearBy(v, n.In(0), n.In(1), n.In(1).Type.Shape)
	case n.OpName() == "Mul" && len(n.Inputs) == 2:
		for i, in := range n.Inputs {
			if den := f.inverted(f.shaped(in)); den != nil && f.set.ratios[v] == nil {
				f.linearBy(v, n.In(1-i), den, in.Type.Shape)
			}
		}
	}
}

// linearBy enters num over den, which has the given shape where it meets num. Both may be sums: of an attention that is
// computed in parts, each part has weights of its own.
func (f *finder) linearBy(v, num, den *graph.Value, shape graph.Shape) {
	if len(num.Type.Shape) < len(shape) {
		return
	}
	s := &summing{f: f, inside: map[*graph.Value]bool{}}
	e, below := s.divisors(den, shape)
	ts, c := f.products(num)
	if len(below) == 0 || len(ts) != len(below) || c != 0 {
		return
	}
	var above []*summed
	for _, t := range ts {
		w, ok := s.read(t.value, maxSummed)
		if !ok || t.sign < 0 {
			return
		}
		if w = w.restated(num.Type.Shape); w == nil {
			return
		}
		above = append(above, w)
	}
	f.weightedBy(v, num, e, above, below)
}

// products is terms of a sum that a Gemm may have been fused with.
func (f *finder) products(v *graph.Value) (list []term, constant float64) {
	v = f.same(v)
	n := v.Producer
	if n == nil || v.Const != nil || n.OpName() != "Gemm" || n.In(2) == nil || n.Float("beta", 1) != 1 || !slices.Equal(n.In(2).Type.Shape, v.Type.Shape) {
		return f.terms(v)
	}
	list, constant = f.terms(n.In(2))
	bare := withoutBias(v)
	return append(list, term{bare, 1, atom(bare)}), constant
}

// withoutBias returns the result of a node less its third input, which no node of the model computes.
func withoutBias(v *graph.Value) *graph.Value {
	bare := *v.Producer
	bare.Inputs = bare.Inputs[:2:2]
	w := &graph.Value{Name: v.Name, Graph: v.Graph, Producer: &bare, Type: v.Type}
	bare.Outputs = []*graph.Value{w}
	return w
}

// linearOfThree enters an Einsum of which one operand is a reciprocal.
func (f *finder) linearOfThree(v *graph.Value) {
	n := v.Producer
	terms, out, ok := equation(n)
	if !ok || len(terms) != 3 {
		return
	}
	for i, z := range n.Inputs {
		den := f.inverted(f.shaped(z))
		if den == nil {
			continue
		}
		s := &summing{f: f, inside: map[*graph.Value]bool{}}
		e, list := s.divisors(den, z.Type.Shape)
		if len(list) != 1 || len(list[0].out) != len(terms[i]) {
			return
		}
		a, b := (i+1)%3, (i+2)%3
		above, ok := s.product(&contraction{a: n.In(a), b: n.In(b), coef: 1, in: [2]string{terms[a], terms[b]}, out: out}, maxSummed)
		if below := list[0].spelled(terms[i], out); ok && below != nil {
			f.weightedBy(v, n.In(b), e, []*summed{above}, []*summed{below})
		}
		return
	}
}

// spelled gives a result whose axes have letters the axes of another one, nil where that has not all of them.
func (w *summed) spelled(letters, out string) *summed {
	for _, l := range letters {
		if !strings.ContainsRune(out, l) {
			return nil
		}
	}
	axes := make([]int, len(out))
	for i, l := range []byte(out) {
		if at := strings.IndexByte(letters, l); at >= 0 {
			axes[i] = w.out[at]
		}
	}
	w.out = axes
	return w
}

// divisors reads a sum of sums of products, with an ε or none, in the shape given; it is nil where it is none. Their
// factors are not taken apart again.
func (s *summing) divisors(den *graph.Value, shape graph.Shape) (epsilon, []*summed) {
	e := s.f.stripEps(den)
	ts, c := s.f.terms(e.of)
	if (e.max || e.value > 0) && e.value < least || c != 0 || len(ts) == 0 || len(ts) > maxParts {
		return e, nil
	}
	var list []*summed
	for _, t := range ts {
		w, ok := s.read(t.value, maxSummed)
		if w = w.restated(shape); !ok || w == nil || t.sign < 0 || len(ts) == 1 && len(w.factors) < 2 || !(w.coef > 0) {
			return e, nil
		}
		list = append(list, w)
	}
	for _, w := range list {
		for _, l := range w.factors {
			s.inside[l.value] = true
		}
	}
	return e, list
}

// weightedBy enters a weighted mean, if every part above the divisor has one factor that a part below has not.
func (f *finder) weightedBy(v, num *graph.Value, e epsilon, above, below []*summed) {
	var of []*graph.Value
	by := above[0].coef / below[0].coef
	taken := map[*summed]bool{}
	for _, w := range above {
		at := slices.IndexFunc(below, func(b *summed) bool {
			return !taken[b] && len(w.factors) == len(b.factors)+1 && w.coef/b.coef == by && w.beyond(b) != nil
		})
		if at < 0 {
			return
		}
		taken[below[at]] = true
		of = append(of, w.beyond(below[at]))
	}
	if !(by > 0) {
		return
	}
	r := &Ratio{Kind: OfMean, Power: 1, Num: f.same(num), Den: e.of, Denominator: e.shifted, Input: of[0], Others: of[1:], Output: v, Coef: by,
		EpsValue: e.value, EpsMax: e.max, Products: true, Apart: true}
	for _, b := range below {
		for _, l := range b.factors {
			if !slices.Contains(r.Weights, l.value) {
				r.Weights = append(r.Weights, l.value)
			}
		}
	}
	r.Nodes = f.betweenAll(v, append(of, r.Weights...)...)
	f.addRatio(r)
}

// maxSummed bounds how deep sums of products are read into each other.
const maxSummed = 8

// summed is coef · Σ Π factors: each axis of a factor and of the result has a number, 0 where its length is 1;
// axes of one number run together, and those that the result does not have are summed over.
type summed struct {
	coef    float64
	factors []indexed
	out     []int
	sizes   map[int]graph.Dim
}

// indexed is a factor with the numbers of its axes.
type indexed struct {
	value *graph.Value
	axes  []int
}

// summing reads values as sums of products. Once the factors of one are known, others are taken apart only
// where they are made of those.
type summing struct {
	f      *finder
	last   int
	inside map[*graph.Value]bool
	stop   func(*graph.Value) bool // what is not taken apart; may be nil
}

// read takes a value apart.
func (s *summing) read(v *graph.Value, depth int) (*summed, bool) {
	v = s.f.same(v)
	if !settled(v.Type.Shape) {
		return nil, false
	}
	n := v.Producer
	if n == nil || v.Const != nil || n.In(0) == nil || depth == 0 || s.inside[v] || len(s.inside) > 0 && !s.holds(v, depth) || s.stop != nil && s.stop(v) {
		return s.leaf(v), true
	}
	if w, ok := s.node(v, n, depth-1); ok {
		return w, true
	}
	return s.leaf(v), true
}

// holds tells whether a value is computed from one of the known factors.
func (s *summing) holds(v *graph.Value, depth int) bool {
	seen := map[*graph.Value]bool{nil: true}
	for level := []*graph.Value{v}; len(level) > 0 && depth >= 0; depth-- {
		var next []*graph.Value
		for _, w := range level {
			if w = s.f.same(w); s.inside[w] {
				return true
			}
			if w.Producer == nil {
				continue
			}
			for _, in := range w.Producer.Inputs {
				if !seen[in] {
					seen[in] = true
					next = append(next, in)
				}
			}
		}
		level = next
	}
	return false
}

func (s *summing) leaf(v *graph.Value) *summed {
	w := &summed{coef: 1, sizes: map[int]graph.Dim{}}
	for _, d := range v.Type.Shape {
		w.out = append(w.out, 0)
		if d != (graph.Dim{N: 1}) {
			s.last++
			w.out[len(w.out)-1], w.sizes[s.last] = s.last, d
		}
	}
	w.factors = []indexed{{v, slices.Clone(w.out)}}
	return w
}

// node reads what a node makes of its inputs.
func (s *summing) node(v *graph.Value, n *graph.Node, depth int) (*summed, bool) {
	if c, ok := s.f.contraction(v); ok && s.f.shaped(v) == v {
		return s.product(c, depth)
	}
	switch n.OpName() {
	case "Reshape", "Squeeze", "Unsqueeze", "Flatten":
		w, ok := s.read(n.In(0), depth)
		if !ok {
			return nil, false
		}
		w = w.restated(v.Type.Shape)
		return w, w != nil
	case "Transpose":
		return s.turned(n, depth)
	case "ReduceSum":
		return s.reduced(v, n, depth)
	case "Mul":
		return s.times(v, n, depth)
	}
	return nil, false
}

// turned reads a transposition.
func (s *summing) turned(n *graph.Node, depth int) (*summed, bool) {
	w, ok := s.read(n.In(0), depth)
	perm := permutation(n)
	if !ok || len(perm) != len(w.out) {
		return nil, false
	}
	was := w.out
	w.out = make([]int, len(was))
	for i, a := range perm {
		w.out[i] = was[a]
	}
	return w, true
}

// reduced reads a sum over axes.
func (s *summing) reduced(v *graph.Value, n *graph.Node, depth int) (*summed, bool) {
	axes, all, ok := Axes(n)
	if !ok || all {
		return nil, false
	}
	w, ok := s.read(n.In(0), depth)
	if !ok {
		return nil, false
	}
	for _, a := range axes {
		if a < 0 || a >= len(w.out) {
			return nil, false
		}
		w.out[a] = 0
	}
	w = w.restated(v.Type.Shape)
	return w, w != nil
}

// times reads a product element by element, of which one factor may be a number.
func (s *summing) times(v *graph.Value, n *graph.Node, depth int) (*summed, bool) {
	a, b := n.In(0), n.In(1)
	if b == nil || s.f.same(a) == s.f.same(b) {
		return nil, false
	}
	for range 2 {
		if c, ok := s.f.number1(s.f.same(b)); ok && c > 0 && slices.Equal(a.Type.Shape, v.Type.Shape) {
			w, ok := s.read(a, depth)
			if ok {
				w.coef *= c
			}
			return w, ok
		}
		a, b = b, a
	}
	letters := "abcdefgh"
	ranks := [2]int{len(a.Type.Shape), len(b.Type.Shape)}
	if r := max(ranks[0], ranks[1]); r <= len(letters) && r == len(v.Type.Shape) {
		return s.product(&contraction{a: a, b: b, coef: 1, in: [2]string{letters[r-ranks[0] : r], letters[r-ranks[1] : r]}, out: letters[:r]}, depth)
	}
	return nil, false
}

// product reads a contraction.
func (s *summing) product(c *contraction, depth int) (*summed, bool) {
	a, ok := s.read(c.a, depth)
	b, ok2 := s.read(c.b, depth)
	if !ok || !ok2 || len(a.out) != len(c.in[0]) || len(b.out) != len(c.in[1]) || len(a.factors)+len(b.factors) > maxParts {
		return nil, false
	}
	w := &summed{coef: c.coef * a.coef * b.coef, sizes: maps.Clone(a.sizes)}
	maps.Copy(w.sizes, b.sizes)
	named := map[byte]int{}
	for i, l := range []byte(c.in[0]) {
		if strings.Count(c.in[0], string(l)) > 1 {
			return nil, false
		}
		named[l] = a.out[i]
	}
	rename := map[int]int{}
	for i, l := range []byte(c.in[1]) {
		at, both := named[l]
		switch own := b.out[i]; {
		case strings.Count(c.in[1], string(l)) > 1 || both && at != 0 && own != 0 && a.sizes[at] != b.sizes[own]:
			return nil, false
		case both && at != 0 && own != 0:
			rename[own] = at
		case own != 0 || !both:
			named[l] = own
		}
	}
	w.factors = slices.Clone(a.factors)
	for _, g := range b.factors {
		axes := slices.Clone(g.axes)
		for i, x := range axes {
			if to, ok := rename[x]; ok {
				axes[i] = to
			}
		}
		w.factors = append(w.factors, indexed{g.value, axes})
	}
	for _, l := range []byte(c.out) {
		x, ok := named[l]
		if !ok {
			return nil, false
		}
		w.out = append(w.out, x)
	}
	return w, true
}

// restated gives the result another shape that has the same axes but for those of length 1, nil for others.
func (w *summed) restated(s graph.Shape) *summed {
	if w == nil {
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(w.out), func(x int) bool { return x == 0 })
	out := make([]int, len(s))
	for i, d := range s {
		if d == (graph.Dim{N: 1}) {
			continue
		}
		if len(left) == 0 || w.sizes[left[0]] != d {
			return nil
		}
		out[i], left = left[0], left[1:]
	}
	if len(left) > 0 {
		return nil
	}
	w.out = out
	return w
}

// beyond returns the one factor that w has and below has not, where the others are the same and are summed over
// the same axes, and where below stands for each element of w that it divides.
func (w *summed) beyond(below *summed) *graph.Value {
	to := map[int]int{}
	left := slices.Clone(w.factors)
	for _, l := range below.factors {
		at := slices.IndexFunc(left, func(g indexed) bool { return g.value == l.value })
		if at < 0 {
			return nil
		}
		for i, x := range l.axes {
			y := left[at].axes[i]
			if was, known := to[x]; x != 0 && known && was != y {
				return nil
			}
			to[x] = y
		}
		left = slices.Delete(left, at, at+1)
	}
	delete(to, 0)
	back := map[int]int{}
	for x, y := range to {
		if back[y] != 0 || slices.Contains(below.out, x) != slices.Contains(w.out, y) {
			return nil
		}
		back[y] = x
	}
	off := len(w.out) - len(below.out)
	for i, x := range below.out {
		if x != 0 && to[x] != w.out[off+i] {
			return nil
		}
	}
	for _, x := range left[0].axes { // what V alone has is not summed over
		if x != 0 && back[x] == 0 && !slices.Contains(w.out, x) {
			return nil
		}
	}
	return left[0].value
}
