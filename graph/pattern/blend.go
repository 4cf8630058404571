package pattern

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// blend reads z·a + (1-z)·b, a + z·(b-a) and a - z·(a-b), the update of gated recurrent units.
func (f *finder) blend(v *graph.Value) {
	n := v.Producer
	a, b, minus := f.difference(v)
	if !minus {
		if a, b = n.In(0), n.In(1); a == nil || b == nil || len(n.Inputs) != 2 {
			return
		}
	}
	q := f.lerp(a, b, minus)
	if q == nil && !minus {
		if q = f.lerp(b, a, false); q == nil {
			q = f.convex(a, b)
		}
		if q == nil {
			q = f.convex(b, a)
		}
	}
	if q != nil {
		q.Output = v
		f.set.blends[v] = q
	}
}

// convex reads a as z·A and b as (1-z)·B.
func (f *finder) convex(a, b *graph.Value) *Blend {
	p, q := f.product(a), f.product(b)
	for _, w := range q.factors {
		z := f.complement(w.base)
		if z == nil {
			z = f.mirrored(w.base, p)
		}
		if z == nil || w.pow != 1 || p.power(z) != 1 {
			continue
		}
		left, right := p.without(z, 1), q.without(w.base, 1)
		as, ok := f.values(left)
		bs, ok2 := f.values(right)
		if ok && ok2 {
			return &Blend{Weight: z, Rest: w.base, A: as, B: bs, CoefA: left.coef, CoefB: right.coef}
		}
	}
	return nil
}

// mirrored returns the sigmoid of x among factors where v is that of -x, which is 1 less the first.
func (f *finder) mirrored(v *graph.Value, p *product) *graph.Value {
	n := f.same(v).Producer
	if n == nil || n.OpName() != "Sigmoid" || n.In(0) == nil {
		return nil
	}
	for _, g := range p.factors {
		m := g.base.Producer
		if m == nil || g.base.Const != nil || m.OpName() != "Sigmoid" || m.In(0) == nil {
			continue
		}
		x, y := n.In(0), m.In(0) // of one rounding: σ(-x) would be another number
		a, b, ok := f.difference(x)
		c, d, ok2 := f.difference(y)
		if f.negated(x) == y || f.negated(y) == x || ok && ok2 && a == d && b == c {
			return g.base
		}
	}
	return nil
}

// complement returns z where v is 1 - z.
func (f *finder) complement(v *graph.Value) *graph.Value {
	a, z, ok := f.difference(v)
	if !ok {
		return nil
	}
	if c, ok := f.number1(f.same(a)); !ok || c != 1 {
		return nil
	}
	return f.same(z)
}

// lerp reads b as z·(c-a), or z·(a-c) where it is subtracted.
func (f *finder) lerp(a, b *graph.Value, minus bool) *Blend {
	p := f.product(b)
	for _, d := range p.factors {
		x, y, ok := f.difference(d.base)
		if !ok || d.pow != 1 || p.coef != 1 || len(p.factors) != 2 {
			continue
		}
		if minus {
			x, y = y, x
		}
		if f.same(y) != f.same(a) {
			continue
		}
		if z, ok := p.without(d.base, 1).single(1); ok {
			return &Blend{Weight: z, A: []*graph.Value{f.same(x)}, B: []*graph.Value{f.same(a)}, CoefA: 1, CoefB: 1}
		}
	}
	return nil
}

// overlap reads x / (a + b - x) where x is at most a and at most b by what it is made of: the
// intersection of two boxes over their union.
func (f *finder) overlap(v, num, den *graph.Value) {
	if !settled(num.Type.Shape) {
		return
	}
	x := f.same(num)
	if ts, c := f.terms(num); len(ts) == 1 && c > 0 && ts[0].sign > 0 && slices.Equal(ts[0].value.Type.Shape, num.Type.Shape) {
		f.more(v, num, ts[0].value, c, den)
	}
	e := f.stripEps(den)
	of := e.of
	if !e.max && e.value != 0 { // terms reads the constant
		of, e.value = f.same(den), 0
	}
	terms, c := f.terms(of)
	if len(terms) == 1 && c >= 0 && terms[0].sign > 0 {
		f.smaller(v, x, den, terms[0].value, c, e)
	}
	if len(terms) != 3 || c < 0 {
		return
	}
	minus, at := 0, 0
	for i, t := range terms {
		if t.sign < 0 {
			minus, at = minus+1, i
		}
	}
	if minus != 1 || terms[at].value != x {
		return
	}
	f.needs = nil
	for i, t := range terms {
		if i != at && (!spreads(t.value.Type.Shape, x.Type.Shape) || !f.below(x, t.value, 12)) {
			return
		}
	}
	f.addPart(v, x, of, den, c, e)
}

// addPart enters v = x / (of + c), or with ε, as a part of what is no less than it.
func (f *finder) addPart(v, x, of, den *graph.Value, c float64, e epsilon) {
	f.addRatio(&Ratio{Kind: OfPart, Num: x, Den: of, Input: x, Output: v, Coef: 1, EpsValue: max(c, e.value), EpsMax: e.max, Denominator: f.same(den), Parts: f.needs, Nodes: f.between(v, x)})
}

// smaller reads x / (y + c) where x is at most y by what both are made of, as Σ min(a, b) / Σ max(a, b).
func (f *finder) smaller(v, x, den, y *graph.Value, c float64, e epsilon) {
	f.needs = nil
	if x == y || !slices.Equal(y.Type.Shape, x.Type.Shape) || !f.below(x, y, 12) {
		return
	}
	f.addPart(v, x, y, den, c, e)
}

// more reads (x + c) / (y + d) with c no more than d where x is at most y by what both are made of.
func (f *finder) more(v, num, x *graph.Value, c float64, den *graph.Value) {
	ts, d := f.terms(den)
	if len(ts) != 1 || ts[0].sign < 0 || c > d || !slices.Equal(ts[0].value.Type.Shape, x.Type.Shape) {
		return
	}
	f.needs = nil
	if y := ts[0].value; x != y && f.below(x, y, 12) {
		f.addRatio(&Ratio{Kind: OfPart, Num: f.same(num), Den: y, Input: f.same(num), Output: v, Coef: 1, EpsValue: d, Denominator: f.same(den), Parts: f.needs, Nodes: f.between(v, x)})
	}
}

// spreads tells whether a value of the first shape meets one of the second element by element.
func spreads(s, t graph.Shape) bool {
	if s == nil || len(s) > len(t) {
		return false
	}
	for i, d := range s {
		if d != (graph.Dim{N: 1}) && d != t[len(t)-len(s)+i] {
			return false
		}
	}
	return true
}

// below tells whether each element of a is at most that of b, by what they are made of: both pass the
// same monotone operators, and where they part a is a minimum or b a maximum.
func (f *finder) below(a, b *graph.Value, depth int) bool {
	a, b = f.same(a), f.same(b)
	if a == b {
		return true
	}
	n, m := a.Producer, b.Producer
	if depth == 0 {
		return false
	}
	if x, y := f.cut0(a), f.cut0(b); x != nil && y != nil && f.below(x, y, depth-1) {
		return true
	}
	needs := f.needs
	if x := f.cut0(a); x != nil && (f.notNegative(b) || f.spans(b)) && f.below(x, b, depth-1) {
		return true
	}
	f.needs = needs
	if n != nil && n.OpName() == "Min" && slices.ContainsFunc(n.Inputs, func(x *graph.Value) bool { return x != nil && f.below(x, b, depth-1) }) {
		return true
	}
	if m != nil && m.OpName() == "Max" && slices.ContainsFunc(m.Inputs, func(x *graph.Value) bool { return x != nil && f.below(a, x, depth-1) }) {
		return true
	}
	if x, less, ok := f.difference(a); ok {
		y, by, ok := f.difference(b)
		return ok && f.below(x, y, depth-1) && f.below(by, less, depth-1)
	}
	if n == nil || m == nil || n.OpName() != m.OpName() || len(n.Inputs) != len(m.Inputs) || a.Index != b.Index {
		return false
	}
	switch n.OpName() {
	case "Add":
		return f.below(n.In(0), m.In(0), depth-1) && f.below(n.In(1), m.In(1), depth-1)
	case "Mul":
		return f.factorsBelow(n.In(0), n.In(1), m.In(0), m.In(1), depth-1) || f.factorsBelow(n.In(0), n.In(1), m.In(1), m.In(0), depth-1)
	case "ReduceProd":
		return f.notNegative(n.In(0)) && f.notNegative(m.In(0)) && f.moved(n, m, depth)
	case "Max", "Min", "Clip", "Relu", "ReduceSum", "ReduceMax", "ReduceMin", "Slice", "Split", "Gather", "Squeeze", "Unsqueeze", "Reshape", "Transpose":
		return f.moved(n, m, depth)
	}
	return false
}

// factorsBelow tells whether of two products none is negative and the first has the smaller factors.
func (f *finder) factorsBelow(a, b, c, d *graph.Value, depth int) bool {
	needs := f.needs
	for _, x := range []*graph.Value{a, b, c, d} {
		if x == nil || !f.notNegative(x) && !f.spans(x) {
			f.needs = needs
			return false
		}
	}
	if f.below(a, c, depth) && f.below(b, d, depth) {
		return true
	}
	f.needs = needs
	return false
}

// cut0 returns x where v is max(x, 0), in whichever spelling, and nothing above is cut off.
func (f *finder) cut0(v *graph.Value) *graph.Value {
	n := v.Producer
	if n == nil || n.In(0) == nil {
		return nil
	}
	switch n.OpName() {
	case "Relu":
		return f.same(n.In(0))
	case "Max":
		for i, x := range n.Inputs {
			if len(n.Inputs) == 2 && n.In(1-i) != nil && f.isNumber(x, 0) {
				return f.same(n.In(1 - i))
			}
		}
	case "Clip":
		e := epsilon{}
		if e.clip(f, n); e.of != nil && e.value == 0 {
			return f.same(n.In(0))
		}
	}
	return nil
}

// moved tells whether two nodes do the same to equally shaped inputs, one below the other.
func (f *finder) moved(n, m *graph.Node, depth int) bool {
	s := n.In(0).Type.Shape
	return f.sameBut0(n, m) && settled(s) && slices.Equal(s, m.In(0).Type.Shape) && f.below(n.In(0), m.In(0), depth-1)
}

// notNegative tells whether a value is cut off at zero or above.
func (f *finder) notNegative(v *graph.Value) bool {
	for range maxDepth {
		n := f.same(v).Producer
		if n == nil || n.In(0) == nil {
			return false
		}
		if picks(n.OpName()) {
			v = n.In(0)
			continue
		}
		switch n.OpName() {
		case "Relu", "Abs", "Exp":
			return true
		case "Clip", "Max":
			e := epsilon{}
			if n.Op == "Clip" {
				e.clip(f, n)
				return e.of != nil && (n.In(1) != nil || n.Attr("min") != nil)
			}
			e.pick(f, n.In(0), n.In(1), true)
			return e.of != nil
		}
		return f.set.rises[f.same(v)] != nil
	}
	return false
}

// sameBut0 tells whether two nodes have equal attributes, and equal inputs but for the first.
func (f *finder) sameBut0(n, m *graph.Node) bool {
	for i := 1; i < len(n.Inputs); i++ {
		if f.name(n.Inputs[i]) != f.name(m.Inputs[i]) && !sameConstant(n.Inputs[i], m.Inputs[i]) {
			return false
		}
	}
	return attrs(n) == attrs(m)
}

// sameConstant tells whether two constants hold the same few integers.
func sameConstant(a, b *graph.Value) bool {
	if a == nil || b == nil || a.Const == nil || b.Const == nil || !slices.Equal(a.Const.Dims, b.Const.Dims) || a.Const.Elem != b.Const.Elem || a.Const.Len() > 16 {
		return false
	}
	x, err := a.Const.Int64s()
	y, err2 := b.Const.Int64s()
	return err == nil && err2 == nil && slices.Equal(x, y)
}
