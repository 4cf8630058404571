package pattern

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// Portions is Σ w_i·x_i over weights that are never more than 1 together: parts of a row of weights, as a softmax
// over branches is taken apart, or numbers that are divided by their sum. It lies in the hull of all x_i, and of 0
// where the weights may be less than 1 together.
type Portions struct {
	Output *graph.Value
	Row    *graph.Value     // whose elements along Axis the weights are; nil where they are divided by their sum
	Axis   int              // of Row
	Whole  bool             // each element of Row, or each summand of the sum, weighs one of the x
	Sum    *graph.Value     // the sum of the weights, with ε; nil where Row is not
	Over   []*graph.Value   // its summands
	Eps    float64          // added to the sum
	Num    *graph.Value     // what is divided by Sum, where that is done after the products are added up; else nil
	Of     [][]*graph.Value // each x as a product, empty for 1
	Coefs  []float64        // constant factors of each
	Coef   float64          // a constant factor of the output
	Scales []*graph.Value
}

// Portions returns the mean by weights in parts that v is, or nil.
func (s *Set) Portions(v *graph.Value) *Portions { return s.portions[v] }

// inputs lists what is weighed and what weighs it.
func (q *Portions) inputs() []*graph.Value {
	list := slices.Concat(q.Over, slices.Concat(q.Of...))
	if q.Row != nil {
		list = append(list, q.Row)
	}
	return list
}

// maxPortions bounds the sums that are compared with each other.
const maxPortions = 8

// portions reads a sum of products as a mean by weights in parts.
func (f *finder) portions(v *graph.Value) {
	if !settled(v.Type.Shape) || !v.Type.Elem.IsFloat() {
		return
	}
	ts, c := f.terms(v)
	if c != 0 || len(ts) < 2 || len(ts) > maxPortions {
		return
	}
	q := f.partsOfRow(ts)
	for _, g := range ts[0].factors {
		if q == nil && g.pow == -1 {
			q = f.shares(ts, g.base, 1)
		}
	}
	for _, g := range f.outermost(ts[0].value, 1).factors {
		if _, den, ok := f.quotient(g.base); ok && q == nil {
			q = f.shares(f.dividedBy(ts, f.narrow(den)), f.narrow(den), 1)
		}
	}
	f.addPortions(q, v)
}

// dividedBy reads terms as products of what their last node multiplies, and that as a quotient where it is divided by
// den: what is weighed may itself be a quotient whose divisor is a factor of the weight.
func (f *finder) dividedBy(ts []term, den *graph.Value) []term {
	list := slices.Clone(ts)
	for i, t := range list {
		p := f.outermost(t.value, 1)
		for _, g := range p.factors {
			if num, by, ok := f.quotient(g.base); ok && g.pow == 1 && f.narrow(by) == den {
				p = p.without(g.base, 1).times(atom(f.narrow(num)), 1).times(atom(den), -1)
				break
			}
		}
		list[i].product = p
	}
	return list
}

// portioned reads a sum of products over the sum of the weights.
func (f *finder) portioned(v *graph.Value) {
	p := f.product(v)
	for _, g := range p.factors {
		if g.pow != -1 || !settled(v.Type.Shape) {
			continue
		}
		for _, h := range p.factors {
			ts, c := f.terms(h.base)
			if h.pow != 1 || c != 0 || len(ts) < 2 || len(ts) > maxPortions {
				continue
			}
			scales, ok := f.values(p.without(g.base, -1).without(h.base, 1))
			q := f.shares(ts, g.base, 0)
			if q == nil {
				q = f.sharesOfRow(ts, g.base)
			}
			if q != nil && ok {
				q.Num, q.Coef, q.Scales = h.base, p.coef, scales
				f.addPortions(q, v)
				return
			}
		}
	}
}

func (f *finder) addPortions(q *Portions, v *graph.Value) {
	if q != nil {
		q.Output = v
		f.set.portions[v] = q
	}
}

// sharesOfRow takes a weight out of each term that is one element of a row which den sums up.
func (f *finder) sharesOfRow(ts []term, den *graph.Value) *Portions {
	q := f.partsOfRow(ts)
	e := f.stripEps(den)
	r, ok := f.reduction(e.of)
	if q == nil || !ok || r.op != "Sum" || r.of != q.Row || !r.reduces(q.Axis) || len(r.axes) > 1 {
		return nil
	}
	for i, d := range q.Row.Type.Shape {
		if i != q.Axis && d != (graph.Dim{N: 1}) { // other rows may meet other sums
			return nil
		}
	}
	q.Sum, q.Over, q.Eps, q.Row = den, []*graph.Value{q.Row}, e.value, nil
	return q
}

// partsOfRow takes a weight out of each term that is one element of a row, none of them twice.
func (f *finder) partsOfRow(ts []term) *Portions {
	q := &Portions{Coef: 1}
	seen := map[int64]bool{}
	var shape graph.Shape
	for _, t := range ts {
		found := false
		for _, g := range t.factors {
			s, ok := f.stretch(f.shaped(g.base))
			if !ok || g.pow != 1 || s.to != s.from+1 || seen[s.from] || q.Row != nil && (s.of != q.Row || s.axis != q.Axis) ||
				shape != nil && !slices.Equal(shape, g.base.Type.Shape) || !asLarge(g.base.Type.Shape, f.shaped(g.base).Type.Shape) {
				continue
			}
			xs, ok := f.values(t.without(g.base, 1))
			if !ok {
				return nil
			}
			q.Row, q.Axis, shape, seen[s.from], found = s.of, s.axis, g.base.Type.Shape, true, true
			q.Of, q.Coefs = append(q.Of, xs), append(q.Coefs, t.sign*t.coef)
			break
		}
		if !found {
			return nil
		}
	}
	q.Whole = q.Row.Type.Shape[q.Axis].N == int64(len(seen))
	return q
}

// shares takes a weight out of each term that is a summand of den, none of them twice, and with it the reciprocal
// of den where pow is 1.
func (f *finder) shares(ts []term, den *graph.Value, pow float64) *Portions {
	e := f.stripEps(den)
	base := den
	if e.max {
		base = e.of
	}
	us, c := f.terms(base)
	if c < 0 || len(us) < 2 || len(us) > maxPortions || e.max && !slices.Equal(den.Type.Shape, base.Type.Shape) {
		return nil
	}
	q := &Portions{Sum: den, Eps: c, Coef: 1, Whole: len(us) == len(ts)}
	if e.max {
		q.Eps = e.value
	}
	for _, u := range us {
		if u.sign < 0 {
			return nil
		}
		q.Over = append(q.Over, u.value)
	}
	if f.takeShares(q, ts, us, pow) {
		return q
	}
	whole := slices.Clone(us)
	for i, u := range whole {
		whole[i].product = atom(u.value)
	}
	if f.takeShares(q, ts, whole, pow) {
		return q
	}
	return nil
}

// takeShares finds for each term the summand that is a factor of it.
func (f *finder) takeShares(q *Portions, ts, us []term, pow float64) bool {
	taken := make([]bool, len(us))
	q.Of, q.Coefs = nil, nil
	return !slices.ContainsFunc(ts, func(t term) bool { return t.power(q.Sum) != -pow || !f.takeShare(q, t, us, taken) })
}

// takeShare finds the summand that is a factor of a term.
func (f *finder) takeShare(q *Portions, t term, us []term, taken []bool) bool {
	for i, u := range us {
		if taken[i] || slices.ContainsFunc(u.factors, func(g factor) bool { return t.power(g.base) != g.pow }) || len(u.factors) == 0 {
			continue
		}
		left := t.times(u.product, -1)
		if q.Num == nil && t.power(q.Sum) != 0 {
			left = left.without(q.Sum, -1)
		}
		xs, ok := f.values(left)
		if !ok {
			continue
		}
		taken[i] = true
		q.Of, q.Coefs = append(q.Of, xs), append(q.Coefs, t.sign*left.coef)
		return true
	}
	return false
}
