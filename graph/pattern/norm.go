package pattern

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// norm reads a product as a normalisation.
func (f *finder) norm(v *graph.Value) {
	p := f.product(v)
	if !f.normOf(v, p) && len(p.factors) > 1 {
		f.normOf(v, f.outermost(v, 2))
	}
}

// normOf reads a value, p in other words, as a normalisation.
func (f *finder) normOf(v *graph.Value, p *product) bool {
	for _, g := range p.factors {
		d, ok := f.denominator(g)
		if !ok {
			continue
		}
		rest := p.without(g.base, g.pow)
		if n := f.normOver(d, rest); n != nil && d.sum.aligned(g.base) && !f.inside(v, n.Numerator) {
			n.Output = v
			f.addNorm(n, d)
			return true
		}
	}
	return false
}

// outermost reads a value as a product of what its last nodes multiply: a factor that is made of the sum of squares
// itself, as ‖x‖²/(1 + ‖x‖²), is left as it is.
func (f *finder) outermost(v *graph.Value, depth int) *product {
	v = f.narrow(v)
	n := v.Producer
	if c, ok := f.number1(v); ok && c != 0 && !math.IsInf(c, 0) && !math.IsNaN(c) {
		return &product{coef: c}
	}
	if depth == 0 || n == nil || v.Const != nil || n.In(0) == nil || n.In(1) == nil || !v.Type.Elem.IsFloat() {
		return atom(v)
	}
	switch n.OpName() {
	case "Mul":
		return f.outermost(n.In(0), depth-1).times(f.outermost(n.In(1), depth-1), 1)
	case "Div":
		return f.outermost(n.In(0), depth-1).times(f.outermost(n.In(1), depth-1), -1)
	}
	return atom(v)
}

// inside tells whether an operand of the node already is a normalisation of the same numerator:
// then this node only scales it, which needs no pattern.
func (f *finder) inside(v, numerator *graph.Value) bool {
	for _, in := range v.Producer.Inputs {
		if in == nil {
			continue
		}
		if n := f.set.norms[f.unwrap(in)]; n != nil && n.Numerator == numerator {
			return true
		}
	}
	return false
}

// unwrap looks through Identity and Cast without taking the representative: patterns are entered
// under the values they were found at.
func (f *finder) unwrap(v *graph.Value) *graph.Value {
	for f.set.norms[v] == nil && v.Producer != nil && passes(v.Producer) {
		v = v.Producer.In(0)
	}
	return v
}

// normOver builds the normalisation from its denominator and what else stands in the product.
func (f *finder) normOver(d *denominator, rest *product) *Norm {
	n := d.norm()
	if d.mid == nil {
		left := rest.times(d.numer, -1)
		if scales, ok := f.values(left); ok {
			n.Coef, n.Scales = left.coef*d.outer, scales
			f.center(n, d, d.operand)
			f.centered(n, d, d.operand)
			return n
		}
		if !f.center(n, d, d.operand) {
			return f.otherShape(n, d, rest)
		}
	}
	for _, g := range rest.factors { // the numerator as a factor of its own: x - m
		if g.pow != 1 || !f.center(n, d, g.base) {
			continue
		}
		if scales, ok := f.values(rest.without(g.base, 1)); ok {
			n.Numerator, n.Coef, n.Scales = g.base, rest.coef*d.outer, scales
			return n
		}
	}
	return nil
}

// otherShape reads a normalisation of x by squares that were summed in another shape of it.
func (f *finder) otherShape(n *Norm, d *denominator, rest *product) *Norm {
	for _, g := range rest.factors {
		if v, ok := d.numer.single(1); g.pow != 1 || !ok || d.numer.coef != 1 || v != d.operand || !f.alike(g.base, v) {
			continue
		}
		scales, ok := f.values(rest.without(g.base, 1))
		sum, ok2 := d.sum.reshaped(g.base)
		if !ok || !ok2 {
			continue
		}
		d.sum = sum
		n.Input, n.Numerator, n.Axes, n.Coef, n.Scales = g.base, g.base, sum.axes, rest.coef*d.outer, scales
		return n
	}
	return nil
}

// center notes the mean where the value is x - mean(x) over the axes of the sum. For E[x²] - m²
// the x must be the one that was squared.
func (f *finder) center(n *Norm, d *denominator, v *graph.Value) bool {
	terms, c := f.terms(v)
	if len(terms) != 2 || c != 0 {
		return false
	}
	for i, x := range terms {
		m := terms[1-i]
		r, ok := f.meanOf(m.value, x.value)
		if !ok || x.sign*m.sign > 0 || !r.aligned(m.value) {
			continue
		}
		if d.mid != nil && d.operand != x.value || n.Input != d.operand && !f.alike(n.Input, x.value) {
			continue // the variance of another value, or of one centered at another
		}
		sum, ok := d.sum.reshaped(x.value)
		if !ok || !r.over(sum) {
			continue
		}
		if len(sum.of.Type.Shape) != len(d.sum.of.Type.Shape) {
			d.sum, n.Axes = sum, sum.axes
		}
		n.Kind, n.Input, n.Mean = LayerNorm, x.value, m.value
		return true
	}
	return false
}

// centered notes the mean where the value is x - mean(x) in another layout.
func (f *finder) centered(n *Norm, d *denominator, v *graph.Value) {
	t := f.same(v).Producer
	if t == nil || t.In(0) == nil || d.mid != nil || n.Kind == LayerNorm {
		return
	}
	perm := permutation(t)
	x, m, ok := f.difference(t.In(0))
	if !ok || perm == nil {
		return
	}
	r, ok := f.meanOf(m, x)
	if !ok || r.all || !r.aligned(m) || len(r.of.Type.Shape) != len(perm) {
		return
	}
	var axes []int
	for i, a := range perm {
		if slices.Contains(r.axes, int(a)) {
			axes = append(axes, i)
		}
	}
	if slices.Equal(axes, d.sum.axes) {
		n.Kind, n.Mean = LayerNorm, m
	}
}

// norm starts the description with what the denominator knows.
func (d *denominator) norm() *Norm {
	n := &Norm{Kind: RMSNorm, Input: d.operand, Numerator: d.operand, Square: d.square, Var: d.variance, Shifted: d.shifted, Root: d.used,
		Eps: d.eps, EpsValue: d.value, EpsOnRoot: d.onRoot, EpsMax: d.max, Expanded: d.mid != nil, Floored: d.floored || d.max && d.value > 0, Axes: d.sum.axes, Count: d.sum.count}
	if !d.mean && !near(d.outer*d.outer, float64(d.sum.count)*d.coef) {
		n.Kind = L2Norm
	}
	return n
}

// addNorm enters a normalisation with the bound that follows from it: one element's square is at
// most the sum of all, and at most (N-1)/N of it where the elements add up to zero.
func (f *finder) addNorm(n *Norm, d *denominator) {
	if d.coef > 0 {
		n.Bound = 1 / math.Sqrt(d.coef)
		if n.Kind == LayerNorm && n.Count > 0 {
			n.Bound *= math.Sqrt(float64(n.Count-1) / float64(n.Count))
		}
	}
	n.Nodes = f.between(n.Output, n.Input)
	f.set.Norms = append(f.set.Norms, n)
	f.set.norms[n.Output] = n
	if n.Var != nil {
		f.set.vars[n.Var] = n
	}
	for _, k := range n.Nodes {
		if f.set.parts[k] == nil {
			f.set.parts[k] = n
		}
	}
}

// foldedNorm reads x·(r·γ) + (β - m·(r·γ)), the normalisation as Keras and TensorFlow fold it: no
// single product holds it.
func (f *finder) foldedNorm(v *graph.Value) {
	terms, c := f.terms(v)
	if len(terms) < 2 || len(terms) > 4 {
		return
	}
	for i, t := range terms {
		for _, g := range t.factors {
			d, ok := f.denominator(g)
			if !ok {
				continue
			}
			if n := f.foldedOver(d, g, terms, i); n != nil && d.sum.aligned(g.base) {
				n.Output, n.Offset = v, c
				f.addNorm(n, d)
				return
			}
		}
	}
}

func (f *finder) foldedOver(d *denominator, g factor, terms []term, i int) *Norm {
	x, m, coef := d.operand, d.mid, d.midCoef
	if m == nil {
		n := d.norm()
		if !f.center(n, d, d.operand) {
			return nil
		}
		var ok bool
		p := f.product(n.Mean)
		if m, ok = p.single(1); !ok {
			return nil
		}
		x, coef = n.Input, p.coef
	}
	t := terms[i]
	if t.power(x) != 1 {
		return nil
	}
	left := t.without(x, 1)
	for j, u := range terms {
		m := f.squeezed(u, m, x)
		if j == i || u.power(m) != 1 || !left.equal(u.without(m, 1)) || !near(-u.sign*u.coef/(t.sign*t.coef), coef) {
			continue
		}
		scales, ok := f.values(left.without(g.base, g.pow))
		if !ok {
			continue
		}
		n := d.norm()
		n.Kind, n.Input, n.Mean, n.Numerator = LayerNorm, x, m, x
		n.Coef, n.Scales = t.sign*t.coef*d.outer, scales
		for k, b := range terms {
			if k == i || k == j {
				continue
			}
			if b.sign < 0 {
				return nil
			}
			n.Biases = append(n.Biases, b.value)
		}
		return n
	}
	return nil
}

// squeezed returns the factor of a term that is a mean m of x in another shape, m itself where none is.
func (f *finder) squeezed(t term, m, x *graph.Value) *graph.Value {
	for _, g := range t.factors {
		if g.base == m || !f.alike(g.base, m) {
			continue
		}
		if r, ok := f.meanOf(g.base, x); ok && r.aligned(g.base) {
			return g.base
		}
	}
	return m
}

// between lists the nodes on the paths from one value to another, in graph order.
func (f *finder) between(to, from *graph.Value) []*graph.Node {
	reach := map[*graph.Value]bool{}
	var nodes []*graph.Node
	budget := 256
	var visit func(v *graph.Value) bool
	visit = func(v *graph.Value) bool {
		if f.same(v) == f.same(from) {
			return true
		}
		if on, ok := reach[v]; ok {
			return on
		}
		reach[v] = false
		n := v.Producer
		if budget--; n == nil || v.Const != nil || budget < 0 {
			return false
		}
		for _, in := range n.Inputs {
			if in != nil && visit(in) {
				reach[v] = true
			}
		}
		if reach[v] && !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
		return reach[v]
	}
	visit(to)
	slices.SortFunc(nodes, func(a, b *graph.Node) int { return a.Index - b.Index })
	return nodes
}

// betweenAll lists the nodes between a value and any of others.
func (f *finder) betweenAll(to *graph.Value, from ...*graph.Value) (nodes []*graph.Node) {
	for _, v := range from {
		for _, n := range f.between(to, v) {
			if !slices.Contains(nodes, n) {
				nodes = append(nodes, n)
			}
		}
	}
	return nodes
}

// variance reads the mean of (x - mean(x))².
func (f *finder) variance(v *graph.Value) {
	r, _, mean, ok := f.averageAll(v)
	if !ok || !mean {
		return
	}
	var d *graph.Value
	switch r.op {
	case "SumSquare":
		d = r.of
	case "Mean", "Sum":
		root, ok := f.product(r.of).root()
		if !ok || root.coef != 1 {
			return
		}
		if d, ok = root.single(1); !ok {
			return
		}
	default:
		return
	}
	x, m, ok := f.difference(d)
	if !ok {
		return
	}
	if q, ok := f.meanOf(m, x); ok && q.over(r) && q.aligned(m) && len(q.of.Type.Shape) == len(r.of.Type.Shape) {
		f.set.spreads[v] = q.of
	}
}

// batchStats notes a BatchNormalization whose mean and variance are those of its own input, over all axes
// but the channels: batch normalisation in training, as it is exported when it is not folded.
func (f *finder) batchStats(n *graph.Node) {
	x := n.In(0)
	for i := range 5 {
		if n.In(i) == nil {
			return
		}
	}
	trained := f.statsOf(n, x, 1)
	if t := f.same(x).Producer; t != nil && t.In(0) != nil && len(permutation(t)) > 1 { // of the same images in another layout
		trained = trained || f.statsOf(n, t.In(0), int(permutation(t)[1]))
	}
	if trained {
		f.set.trained[n] = true
	}
}

// statsOf tells whether the mean and the variance of a BatchNormalization are those of x over all axes but one.
func (f *finder) statsOf(n *graph.Node, x *graph.Value, channels int) bool {
	v := f.shaped(n.In(4))
	m, ok := f.meanOf(n.In(3), x)
	r, _, _, ok2 := f.averageAll(v)
	if !ok || !ok2 || f.set.spreads[v] == nil || f.same(f.set.spreads[v]) != f.same(x) || !r.over(m) || m.all {
		return false
	}
	for i := range x.Type.Shape {
		if slices.Contains(m.axes, i) == (i == channels) {
			return false
		}
	}
	return len(x.Type.Shape) > 1
}
