package pattern

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// factor is one factor of a product: a value to a power.
type factor struct {
	base *graph.Value
	pow  float64
}

// product is a value read as coef · Π base^pow. Factors keep the order in which they stand.
type product struct {
	coef    float64
	factors []factor
}

// maxDepth bounds how deep products are read into each other.
const maxDepth = 12

// maxFactors keeps a long chain of products from being copied at each of its nodes.
const maxFactors = 12

// product reads a value as a product. What is no product is a single factor.
func (f *finder) product(v *graph.Value) *product {
	v = f.narrow(v)
	if p := f.prods[v]; p != nil {
		return p
	}
	f.depth++
	p := f.readProduct(v)
	f.depth--
	if len(p.factors) > maxFactors {
		p = atom(v)
	}
	f.prods[v] = p
	return p
}

func atom(v *graph.Value) *product { return &product{1, []factor{{v, 1}}} }

func (f *finder) readProduct(v *graph.Value) *product {
	if c, ok := f.number1(v); ok && c != 0 && !math.IsInf(c, 0) && !math.IsNaN(c) {
		return &product{coef: c}
	}
	n := v.Producer
	if n == nil || v.Const != nil || f.depth > maxDepth || n.Domain != "" {
		return atom(v)
	}
	a, b := n.In(0), n.In(1)
	switch {
	case n.Op == "Mul" && a != nil && b != nil:
		return f.product(a).times(f.product(b), 1)
	case n.Op == "Div" && a != nil && b != nil && v.Type.Elem.IsFloat():
		return f.product(a).times(f.product(b), -1)
	case n.Op == "Neg" && a != nil, n.Op == "Sub" && f.negated(v) != nil:
		return f.product(f.negated(v)).times(&product{coef: -1}, 1)
	case n.Op == "Reciprocal" && a != nil:
		return (&product{coef: 1}).times(f.product(a), -1)
	case n.Op == "Sqrt" && a != nil:
		return f.power(v, a, 0.5)
	case n.Op == "Exp" && a != nil && v.Type.Elem.Bits() >= 32:
		if x, e := f.rootByLog(a); x != nil {
			return f.power(v, x, e)
		}
	case n.Op == "Pow" && a != nil:
		if e, ok := f.number1(f.orNil(b)); ok && (v.Type.Elem.IsFloat() || e > 0 && e == math.Trunc(e)) {
			return f.power(v, a, e)
		}
	}
	return atom(v)
}

// rootByLog reads e·log x with e = ±½ below an exponential, as x^e is spelled where the logarithm is at hand. Other
// powers are left: the logarithm is rounded, which shows in what is compared with x itself.
func (f *finder) rootByLog(v *graph.Value) (x *graph.Value, e float64) {
	p := f.product(v)
	l, ok := p.single(1)
	if !ok || math.Abs(p.coef) != 0.5 {
		return nil, 0
	}
	if n := l.Producer; n != nil && l.Const == nil && n.OpName() == "Log" && l.Type.Elem.Bits() >= 32 {
		return n.In(0), p.coef
	}
	return nil, 0
}

func (f *finder) orNil(v *graph.Value) *graph.Value {
	if v == nil {
		return nil
	}
	return f.same(v)
}

// power raises a product. A root of an even power would lose the sign, so only a root of a single
// factor to an odd power is read further.
func (f *finder) power(v, a *graph.Value, e float64) *product {
	p := f.product(a)
	if e == math.Trunc(e) && e != 0 && math.Abs(e) <= 4 {
		return (&product{coef: 1}).times(p, e)
	}
	odd := len(p.factors) == 1 && math.Abs(p.factors[0].pow) == 1 && p.coef > 0
	if (math.Abs(e) == 0.5 || math.Abs(e) == 1.5) && odd {
		q := (&product{coef: 1}).times(p, e)
		if q.coef == 1 && e == 0.5 {
			f.roots[q.factors[0]] = v
		}
		return q
	}
	if math.Abs(e) == 0.5 {
		return &product{1, []factor{{f.same(a), e}}}
	}
	return atom(v)
}

// times returns p · q^e; factors of one value merge.
func (p *product) times(q *product, e float64) *product {
	out := &product{p.coef * math.Pow(q.coef, e), append([]factor{}, p.factors...)}
	for _, g := range q.factors {
		out.add(g.base, g.pow*e)
	}
	return out
}

func (p *product) add(v *graph.Value, e float64) {
	for i := range p.factors {
		if p.factors[i].base == v {
			if p.factors[i].pow += e; p.factors[i].pow == 0 {
				p.factors = append(p.factors[:i], p.factors[i+1:]...)
			}
			return
		}
	}
	p.factors = append(p.factors, factor{v, e})
}

// power returns the power of a value in the product, 0 where it is no factor.
func (p *product) power(v *graph.Value) float64 {
	for _, g := range p.factors {
		if g.base == v {
			return g.pow
		}
	}
	return 0
}

// without returns the product divided by v^e.
func (p *product) without(v *graph.Value, e float64) *product {
	return p.times(&product{1, []factor{{v, e}}}, -1)
}

// single returns the only factor, if it has the power e.
func (p *product) single(e float64) (*graph.Value, bool) {
	if len(p.factors) == 1 && p.factors[0].pow == e {
		return p.factors[0].base, true
	}
	return nil, false
}

// values returns the factors where all have power 1, or are roots that the model computes.
func (f *finder) values(p *product) ([]*graph.Value, bool) {
	var vs []*graph.Value
	for _, g := range p.factors {
		if g.pow != 1 {
			if g.base = f.roots[g]; g.base == nil {
				return nil, false
			}
		}
		vs = append(vs, g.base)
	}
	return vs, true
}

// equal tells whether two products have the same factors, whatever their coefficients.
func (p *product) equal(q *product) bool {
	if len(p.factors) != len(q.factors) {
		return false
	}
	for _, g := range p.factors {
		if q.power(g.base) != g.pow {
			return false
		}
	}
	return true
}

// term is a summand: the value it stands for and that value read as a product.
type term struct {
	value *graph.Value
	sign  float64
	*product
}

// maxTerms is after how many summands no further sum is opened: those of sums of equal sums double, or
// treble, with each.
const maxTerms = 64

// terms reads a value as a sum of products and a constant.
func (f *finder) terms(v *graph.Value) (list []term, constant float64) {
	f.addTerms(v, 1, 0, &list, &constant)
	return list, constant
}

func (f *finder) addTerms(v *graph.Value, sign float64, depth int, list *[]term, constant *float64) {
	v = f.narrow(v)
	if c, ok := f.number1(v); ok {
		*constant += sign * c
		return
	}
	n := v.Producer
	if n != nil && v.Const == nil && n.Domain == "" && depth < maxDepth && len(*list) < maxTerms && n.In(0) != nil {
		switch {
		case n.Op == "Add" && n.In(1) != nil, n.Op == "Sub" && n.In(1) != nil && f.negated(v) == nil:
			f.addTerms(n.In(0), sign, depth+1, list, constant)
			if n.Op == "Sub" {
				sign = -sign
			}
			f.addTerms(n.In(1), sign, depth+1, list, constant)
			return
		case n.Op == "Sum":
			for _, in := range n.Inputs {
				f.addTerms(in, sign, depth+1, list, constant)
			}
			return
		}
		if x := f.negated(v); x != nil {
			f.addTerms(x, -sign, depth+1, list, constant)
			return
		}
	}
	*list = append(*list, term{v, sign, f.product(v)})
}
