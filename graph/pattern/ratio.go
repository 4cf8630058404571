package pattern

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// ratio reads a product as a quotient that is bounded by what it is made of.
func (f *finder) ratio(v *graph.Value) {
	p := f.product(v)
	for _, g := range p.factors {
		base, pow, coef := f.expand(g)
		if pow != -1 && pow != -0.5 {
			continue
		}
		e := f.stripEps(f.wholly(base))
		r, c, mean, ok := f.average(e.of)
		if !ok {
			if f.byLength(v, p, g) {
				return
			}
			continue
		}
		if r.op == "Mean" && math.Abs(c-1) < 1e-6 { // a mean times how many there are
			w := *r
			w.op, c, r = "Sum", 1, &w
		}
		rest := p.without(g.base, g.pow)
		q := f.ofReduction(r, rest, g.base)
		if q == nil && r.op == "Mean" && r.count > 0 { // below a sum, the number of elements stands elsewhere in the product
			w := *r
			w.op, r = "Sum", &w
			q = f.ofReduction(r, rest, g.base)
		}
		if q == nil || q.Kind != OfMean && (!r.aligned(g.base) || pow != -1) {
			continue
		}
		unknown := mean && r.op == "Mean" && r.count == 0 // two means over as many
		if unknown && q.Kind == OfMean && pow == -1 {
			c = 1
		}
		q.Root = pow != -1
		if q.Kind == OfSum && r.op == "Max" {
			r.axes = nil
		}
		if q.Kind == OfMean && r.op == "Sum" && c != 1 && pow != -1 || c == 0 && r.op != "Max" && r.op != "AbsMax" {
			continue
		}
		if c < 0 && e.shifted != e.of { // what keeps a sum from zero cuts off one that is negated
			continue
		}
		if q.Kind == OfMean && r.op == "Mean" && !unknown { // both sums are divided by their number
			if c = c * float64(r.count); math.Abs(c-1) < 1e-9 {
				c = 1
			} else if pow != -1 {
				continue
			}
		}
		q.Coef, q.Den, q.Denominator, q.Output, q.EpsValue, q.EpsMax = q.Coef*coef/c, e.of, e.shifted, v, e.value, e.max
		q.Count, q.Terms = r.count, r.terms(c)
		q.Axes = r.axes
		q.Whole = pow == -1 && c == 1 && f.whole(v, r, e.shifted)
		q.Nodes = f.between(v, q.Input)
		f.addRatio(q)
		f.softmaxOf(q, r)
		f.spreadOfMeans(q)
		return
	}
}

// addRatio enters the ratio that gives its output.
func (f *finder) addRatio(q *Ratio) {
	f.set.Ratios = append(f.set.Ratios, q)
	f.set.ratios[q.Output] = q
}

// wholly looks through the cast of a count to a float.
func (f *finder) wholly(v *graph.Value) *graph.Value {
	if n := f.shaped(v).Producer; n != nil && n.OpName() == "Cast" && n.In(0) != nil && n.In(0).Type.Elem.IsInt() && widens(n.In(0).Type.Elem, v.Type.Elem) {
		return n.In(0)
	}
	return v
}

// whole tells whether v is one Div of the very numbers that are added up below it, all in one type: a
// runtime that leaves out roundings to FP16 then leaves them out of both.
func (f *finder) whole(v *graph.Value, r *reduction, den *graph.Value) bool {
	n, t := v.Producer, v.Type.Elem
	return n.OpName() == "Div" && f.same(n.In(0)) == r.of && f.shaped(n.In(1)) == den && n.In(0).Type.Elem == t && r.of.Type.Elem == t &&
		r.value.Type.Elem == t && den.Type.Elem == t
}

// ofReduction tells why what is left of a product is bounded by the reduction below it.
func (f *finder) ofReduction(r *reduction, rest *product, den *graph.Value) *Ratio {
	x := r.of
	switch r.op {
	case "Sum", "Mean":
		if q := f.ratioOf(OfSum, x, f.product(x), rest); q != nil {
			return q
		}
		if a := f.abs(x); a != nil {
			if q := f.ratioOf(OfAbs, a, f.product(a), rest); q != nil {
				return q
			}
		}
		return f.weighted(r, rest, den)
	case "L1":
		return f.ratioOf(OfAbs, x, f.product(x), rest)
	case "AbsMax":
		return f.ratioOf(OfMax, x, f.product(x), rest)
	case "Max":
		if a := f.abs(x); a != nil {
			return f.ratioOf(OfMax, a, f.product(a), rest)
		}
		return f.ratioOf(OfSum, x, f.product(x), rest)
	}
	return nil
}

// abs returns x where v is |x|, also as max(x, -x), as x·sign(x), or as √(x²) where no square vanishes in few bits.
func (f *finder) abs(v *graph.Value) *graph.Value {
	n := v.Producer
	if n == nil || n.Domain != "" || n.In(0) == nil {
		return nil
	}
	a, b := f.same(n.In(0)), f.orNil(n.In(1))
	switch {
	case n.Op == "Abs":
		return a
	case (n.Op == "Sqrt" || n.Op == "Pow" && f.isNumber(n.In(1), 0.5)) && v.Type.Elem.Bits() >= 32 && a.Type.Elem.Bits() >= 32:
		return f.squareOf(a)
	case b == nil || len(n.Inputs) != 2:
	case n.Op == "Max" && f.negation(a, b), n.Op == "Mul" && f.signOf(b) == a:
		return a
	case n.Op == "Max" && f.negation(b, a), n.Op == "Mul" && f.signOf(a) == b:
		return b
	}
	return nil
}

// negation tells whether b is -a.
func (f *finder) negation(a, b *graph.Value) bool {
	x := f.negated(b)
	return x != nil && f.same(x) == a
}

// signOf returns x where v is the sign of x.
func (f *finder) signOf(v *graph.Value) *graph.Value {
	if n := v.Producer; n != nil && n.OpName() == "Sign" && n.In(0) != nil {
		return f.same(n.In(0))
	}
	return nil
}

// ratioOf takes x out of the numerator.
func (f *finder) ratioOf(kind RatioKind, x *graph.Value, xs, rest *product) *Ratio {
	if len(xs.factors) == 0 {
		return nil
	}
	left := rest.times(xs, -1)
	scales, ok := f.values(left)
	if !ok {
		return nil
	}
	return &Ratio{Kind: kind, Num: x, Input: x, Coef: left.coef, Scales: scales}
}

// weighted reads Σ(w·x) / Σw.
func (f *finder) weighted(r *reduction, rest *product, den *graph.Value) *Ratio {
	for _, g := range rest.factors {
		if g.pow != 1 {
			continue
		}
		s, ok := f.reduction(g.base)
		if !ok {
			if q := f.contracted(g.base, den, r, rest); q != nil {
				return q
			}
			continue
		}
		if !s.asMany(r) || s.op != r.op && !(s.op == "Mean" && r.op == "Sum" && s.count > 0) {
			continue
		}
		by := 1.0
		if s.op != r.op {
			by = 1 / float64(s.count)
		}
		x, ws, power, ok := f.weights(s.of, r.of)
		if !ok || power.as != nil && s.crosses(g.base, r, power.as, den) {
			continue
		}
		left := rest.without(g.base, 1)
		if scales, ok := f.values(left); ok {
			counted := s.of.Producer != nil && s.of.Producer.Op == "Where"
			return &Ratio{Counted: counted, Power: power.of, Capped: power.capped, Kind: OfMean, Num: g.base, Input: x, Weights: ws, Coef: left.coef * by * power.coef, Scales: scales}
		}
	}
	return nil
}

// asMany tells whether two reductions run over equally many elements, known by number or by name.
func (r *reduction) asMany(q *reduction) bool {
	if r.count != 0 || q.count != 0 {
		return r.count == q.count
	}
	a, b := r.dims(), q.dims()
	return len(a) > 0 && slices.Equal(a, b)
}

// dims returns the reduced dimensions that are not 1, nil where one has neither number nor name.
func (r *reduction) dims() graph.Shape {
	var list graph.Shape
	for i, d := range r.of.Type.Shape {
		if !r.all && !slices.Contains(r.axes, i) || d == (graph.Dim{N: 1}) {
			continue
		}
		if !d.Known() && d.Sym == "" {
			return nil
		}
		list = append(list, d)
	}
	return list
}

// powers tell that Σ w·x of a weighted mean is coef times Σ w·x^of, or Σ w^k·x^of with k > 1.
type powers struct {
	of, coef float64
	capped   bool
	as       *graph.Value // what stands for w in the product, nil where that is several factors
}

// weights reads wx as w·x for the w of a sum, their shapes aside.
func (f *finder) weights(wx, w *graph.Value) (x *graph.Value, ws []*graph.Value, k powers, ok bool) {
	if n := wx.Producer; n != nil && n.Op == "Where" && n.Domain == "" {
		x, ws, ok = f.selected(n, w)
		return x, ws, powers{of: 1, coef: 1, as: n.In(0)}, ok
	}
	p, q := f.product(wx), f.product(w)
	if m := f.truth(w); m != nil {
		q = atom(m)
	}
	left := &product{coef: p.coef / q.coef}
	used := 0
	for _, g := range p.factors {
		match := false
		for _, h := range q.factors {
			if (f.shaped(g.base) == f.shaped(h.base) || f.truth(g.base) == h.base) && (g.pow == h.pow || g.pow == 2 && h.pow == 1) {
				match = true
				k.capped = k.capped || g.pow != h.pow
			}
		}
		if match {
			used++
			k.as = g.base
		} else {
			left.factors = append(left.factors, g)
		}
	}
	if used > 1 {
		k.as = nil
	}
	k.of = 1
	x, ok = left.single(1)
	if !ok {
		k.of = 2
		x, ok = left.single(2)
	}
	ws, plain := f.values(q)
	k.coef = left.coef
	return x, ws, k, ok && plain && used == len(q.factors) && used > 0 && (k.of == 1 || k.coef == 1)
}

// span reads (x - min(x)) / (max(x) - min(x)) and (max(x) - x) / (max(x) - min(x)).
func (f *finder) span(v *graph.Value) {
	p := f.product(v)
	for _, g := range p.factors {
		if g.pow != -1 {
			continue
		}
		e := f.stripEps(g.base)
		low, high, ok := f.spread(e.of)
		if !ok {
			low, high, ok = f.spreadOfTerms(g.base, &e)
		}
		if !ok {
			continue
		}
		rest := p.without(g.base, -1)
		for _, h := range rest.factors {
			x, m, ok := f.difference(h.base)
			if !ok || h.pow != 1 {
				continue
			}
			end := low
			if f.shaped(m) != f.shaped(low.value) {
				x, m, end = m, x, high
			}
			if end, ok = f.restated(end, f.same(x)); !ok || f.shaped(m) != f.shaped(end.value) || !end.aligned(m) {
				continue
			}
			if scales, ok := f.values(rest.without(h.base, 1)); ok {
				q := &Ratio{Kind: OfSpan, Num: h.base, Den: e.of, Input: x, Output: v, Coef: p.coef, Scales: scales, EpsValue: e.value, Denominator: e.shifted}
				q.Nodes = f.between(v, x)
				f.addRatio(q)
				return
			}
		}
	}
}

// spread reads max(x) - min(x).
func (f *finder) spread(v *graph.Value) (low, high *reduction, ok bool) {
	a, b, ok := f.difference(v)
	if !ok {
		return nil, nil, false
	}
	return f.spreadOf(a, b)
}

// spreadOfTerms reads max(x) + (ε - min(x)), which rounds to no less than max(x) - min(x).
func (f *finder) spreadOfTerms(v *graph.Value, e *epsilon) (low, high *reduction, ok bool) {
	ts, c := f.terms(v)
	if len(ts) != 2 || c < 0 || ts[0].sign == ts[1].sign {
		return nil, nil, false
	}
	if ts[0].sign < 0 {
		ts[0], ts[1] = ts[1], ts[0]
	}
	*e = epsilon{of: f.same(v), shifted: f.same(v), value: c}
	return f.spreadOf(ts[0].value, ts[1].value)
}

func (f *finder) spreadOf(a, b *graph.Value) (low, high *reduction, ok bool) {
	high, ok = f.reduction(a)
	low, ok2 := f.reduction(b)
	if !ok || !ok2 || high.op != "Max" || low.op != "Min" || high.of != low.of || !high.over(low) {
		return nil, nil, false
	}
	return low, high, true
}

// cosine reads Σ(x·y) / (‖x‖·‖y‖), which Cauchy and Schwarz keep in [-1, 1].
func (f *finder) cosine(v *graph.Value) {
	p := f.product(v)
	for _, g := range p.factors {
		r, ok := f.reduction(g.base)
		if !ok || g.pow != 1 || r.op != "Sum" && (r.op != "Mean" || r.count == 0) {
			continue
		}
		q, nodes, coef := f.unitRows(r)
		rest := p.without(g.base, 1)
		coef *= p.coef
		if r.op == "Mean" {
			coef /= float64(r.count)
		}
		for _, h := range rest.factors {
			for _, part := range f.norms2(h) {
				d, ok := f.denominator(part)
				if !ok || d.mid != nil || !d.sum.over(r) || d.coef <= 0 || d.numer.coef == 0 || crosswise(r, g.base, d.sum, part.base) {
					continue
				}
				if x, ok := d.numer.single(1); ok && q.power(x) > 0 {
					q = q.without(x, 1)
					if e := rest.power(h.base); e != 0 {
						rest = rest.without(h.base, e)
					}
					coef *= d.outer / (math.Sqrt(d.coef) * math.Abs(d.numer.coef))
					nodes = append(nodes, x)
				}
			}
		}
		if scales, ok := f.values(rest); ok && len(nodes) == 2 && len(q.factors) == 0 {
			c := &Ratio{Kind: OfAbs, Num: f.numbers(g.base, v, r), Den: nodes[1], Input: nodes[0], Output: v, Coef: coef * q.coef, Scales: scales, Parts: nodes, Count: r.count, Nodes: f.betweenAll(v, append(nodes, r.of)...)}
			f.addRatio(c)
			return
		}
	}
}

// numbers returns what is divided, which is what is added up where that has been divided before.
func (f *finder) numbers(sum, v *graph.Value, r *reduction) *graph.Value {
	if f.same(v) == sum {
		return r.of
	}
	return sum
}

// unitRows takes the lengths out of what a sum adds up whose own rows it runs over. It returns what is left, the rows
// that were divided, and a factor.
func (f *finder) unitRows(r *reduction) (left *product, rows []*graph.Value, coef float64) {
	left, coef = f.product(r.of), 1
	for _, g := range left.factors {
		d, ok := f.denominator(g)
		if !ok || d.mid != nil || !d.sum.over(r) || !(d.coef > 0) || d.numer.coef == 0 || !d.sum.aligned(g.base) {
			continue
		}
		if x, ok := d.numer.single(1); ok && left.power(x) > 0 {
			left = left.without(x, 1).without(g.base, g.pow)
			coef *= d.outer / (math.Sqrt(d.coef) * math.Abs(d.numer.coef))
			rows = append(rows, x)
		}
	}
	return left, rows, coef
}

// least is the ε from which on a product of two norms that vanishes in FP32 does no harm: what it
// divides is then far smaller than ε.
const least = 0.9e-12

// norms2 splits a denominator max(‖x‖·‖y‖, ε) into its two norms; others are returned as they are.
func (f *finder) norms2(g factor) []factor {
	whole := []factor{g}
	if g.pow != -1 && g.pow != -0.5 {
		return whole
	}
	e := f.stripEps(g.base)
	base, pow, coef := f.expand(factor{e.of, 1})
	p := f.product(base)
	if e.value < least || coef != 1 || pow <= 0 || len(p.factors) != 2 || p.coef != 1 || !slices.Equal(base.Type.Shape, g.base.Type.Shape) {
		return whole
	}
	pow *= -g.pow
	return []factor{{p.factors[0].base, -pow * p.factors[0].pow}, {p.factors[1].base, -pow * p.factors[1].pow}}
}

// softmaxOf enters a share of exponentials as a softmax.
func (f *finder) softmaxOf(q *Ratio, r *reduction) {
	if q.Kind != OfSum || r.op == "Max" || len(q.Scales) > 0 || q.Coef != 1 {
		return
	}
	exp := f.shaped(q.Num).Producer
	if exp == nil || exp.Op != "Exp" || exp.Domain != "" || exp.In(0) == nil {
		return
	}
	s := &Softmax{Input: exp.In(0), Output: q.Output, Exp: q.Num, Sum: q.Den, Axes: r.axes}
	if t := f.shiftOf(exp.In(0)); t != nil {
		s.Input, s.Max = t.Input, t.Max
	}
	s.Nodes = f.between(q.Output, s.Input)
	f.addSoftmax(s)
}

func (f *finder) addSoftmax(s *Softmax) {
	f.set.Softmaxes = append(f.set.Softmaxes, s)
	f.set.softmax[s.Output] = s
}

// shiftOf returns the difference from the maximum that v is, its type and copies aside.
func (f *finder) shiftOf(v *graph.Value) *Shift {
	for {
		if s := f.set.shifts[v]; s != nil {
			return s
		}
		if v.Producer == nil || !passes(v.Producer) {
			return f.set.shifts[f.same(v)]
		}
		v = v.Producer.In(0)
	}
}
