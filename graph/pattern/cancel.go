package pattern

import "github.com/amplint/amplint/graph"

// Cancel is a difference of squares that is never negative in real numbers, such as E[x²] - m² or
// |a|² + |b|² - 2ab, or with weights Σ w·x² - (Σ w·x)²: of Sum, which holds squares alone, Less is taken away.
type Cancel struct {
	Sum, Less, Output *graph.Value

	Mean bool // Less is a square, that of a mean
}

// weightedSquares returns Π of the terms of a sum Σ w·x², and of Σ w·x, nil where a value is no such sum.
func (f *finder) weightedSquares(v *graph.Value) (linear *product) {
	r, _, _, ok := f.averageAll(f.unmoved(v))
	if !ok || r.op != "Sum" && r.op != "Mean" {
		return nil
	}
	p := f.product(r.of)
	if len(p.factors) != 2 {
		return nil
	}
	for i, g := range p.factors {
		if g.pow == 2 && p.factors[1-i].pow == 1 {
			return &product{1, []factor{{g.base, 1}, p.factors[1-i]}}
		}
	}
	return nil
}

// weightedMean tells whether a value is the sum of the terms of a product.
func (f *finder) weightedMean(v *graph.Value, terms *product) bool {
	r, _, _, ok := f.averageAll(f.unmoved(v))
	return ok && (r.op == "Sum" || r.op == "Mean") && f.product(r.of).equal(terms)
}

// cancel enters differences of squares.
func (f *finder) cancel(v *graph.Value) {
	terms, c := f.terms(v)
	if c != 0 || len(terms) < 2 || len(terms) > 4 {
		return
	}
	q := &Cancel{Output: v}
	var mean, weighted *product // of Σ w·x² - (Σ w·x)²
	for _, t := range terms {
		switch root, even := t.root(); {
		case t.sign*t.coef > 0:
			if !f.sumOfSquares(t.value) {
				if weighted = f.weightedSquares(t.value); weighted == nil || len(terms) != 2 {
					return
				}
			}
			if q.Sum == nil {
				q.Sum = t.value
			}
		case even && root != nil && q.Less == nil:
			q.Less, q.Mean = t.value, true
			mean = root
		case f.contracts(t.product) && q.Less == nil:
			q.Less = t.value
		default:
			return
		}
	}
	if q.Sum == nil || q.Less == nil {
		return
	}
	if weighted != nil {
		if mean == nil {
			return
		}
		if m, one := mean.single(1); !one || !f.weightedMean(m, weighted) {
			return
		}
	}
	if n := v.Producer; n.Op == "Sub" { // all of the sum stands in one value
		q.Sum = n.In(0)
	}
	f.set.Cancels = append(f.set.Cancels, q)
	f.set.cancels[v] = q
}

// sumOfSquares tells whether a value is a sum or a mean of squares.
func (f *finder) sumOfSquares(v *graph.Value) bool {
	r, _, _, ok := f.averageAll(f.unmoved(v))
	switch {
	case !ok:
		return false
	case r.op == "SumSquare":
		return true
	case r.op != "Sum" && r.op != "Mean":
		return false
	}
	_, even := f.product(r.of).root()
	return even
}

// contracts tells whether a product is a number times a product of vectors.
func (f *finder) contracts(p *product) bool {
	v, ok := p.single(1)
	if !ok || v.Producer == nil {
		return false
	}
	switch v.Producer.OpName() {
	case "MatMul", "ReduceSum", "Einsum":
		return true
	}
	return false
}

// unmoved looks through nodes that move or repeat elements.
func (f *finder) unmoved(v *graph.Value) *graph.Value {
	for v = f.shaped(v); v.Producer != nil && v.Producer.In(0) != nil; v = f.shaped(v.Producer.In(0)) {
		switch v.Producer.OpName() {
		case "Transpose", "Expand", "Tile", "Slice", "Gather", "Split":
		default:
			return v
		}
	}
	return v
}
