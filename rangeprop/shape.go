package rangeprop

import "math"

func shapeOps() map[string]op {
	return map[string]op{
		"Shape": choice(shapeOp), "Size": choice(sizeOp), "Constant": exact(constantOp), "ConstantOfShape": exact(fillOp),
		"Range": rounded(rangeOp), "com.microsoft.Range": rounded(rangeOp), "NonZero": choice(nonZeroOp), "OneHot": exact(oneHotOp), "EyeLike": choice(eyeOp),
		"NonMaxSuppression": choice(boxesOp), "Det": approx(detOp), "StringNormalizer": exact(noNumbers), "StringConcat": exact(noNumbers),
		"StringSplit": {f: stringSplitOp, exact: true}, "RegexFullMatch": choice(eyeOp), "TfIdfVectorizer": rounded(tfidfOp),
	}
}

// shapeOp gives the dimensions, each at most what its symbol can be.
func shapeOp(c *call) *Val {
	s := c.shape(0)
	if s == nil {
		return intRange(Range{0, math.MaxInt64})
	}
	from, to := c.n.Int("start", 0), c.n.Int("end", int64(len(s)))
	at := span(len(s), from, to, 1)
	v := &Val{dims: []int{len(at)}, basis: Constant, integer: true}
	for _, d := range at {
		lo, hi := c.dim(0, d)
		v.lo = append(v.lo, float64(lo))
		if hi < 0 {
			hi = math.MaxInt64
		}
		v.hi = append(v.hi, float64(hi))
	}
	return v
}

func intRange(r Range) *Val {
	v := scalar(r)
	v.integer = true
	return v
}

func sizeOp(c *call) *Val {
	return intRange(Range{0, math.Min(c.elements(), math.MaxInt64)})
}

// constantOp bounds a Constant node whose value is not a dense tensor: those are never asked for.
func constantOp(c *call) *Val {
	for _, a := range c.n.Attrs {
		if a.Sparse != nil && a.Sparse.Values != nil {
			return joined(c.p.constant(a.Sparse.Values).flat(), scalar(Range{}))
		}
	}
	return c.within(all)
}

func fillOp(c *call) *Val {
	if a := c.n.Attr("value"); a != nil && a.Tensor != nil {
		return c.p.constant(a.Tensor).flat()
	}
	return intRange(Range{})
}

// rangeOp counts from start to before limit.
func rangeOp(c *call) *Val {
	a, b := c.x(0).flat(), c.x(1).flat()
	v := joined(a, b)
	v.integer = a.integer && c.x(2).integer
	v.rest(c.x(2))
	v.tiny = 0
	if v.integer && c.x(2).Hull().Lo > 0 { // limit itself is not reached
		v = v.with(v.dims, v.lo, []float64{math.Max(math.Ceil(b.Hull().Hi)-1, a.Hull().Hi)})
	}
	return v
}

// nonZeroOp gives positions along the longest axis.
func nonZeroOp(c *call) *Val {
	top := 0.0
	for d := range c.shape(0) {
		_, hi := c.dim(0, d)
		if hi < 0 {
			return intRange(Range{0, math.MaxInt64})
		}
		top = math.Max(top, float64(hi-1))
	}
	if c.rank(0) < 0 {
		top = math.MaxInt64
	}
	return intRange(Range{0, top})
}

// oneHotOp selects one of two values at each place. Where they are 0 and 1 it makes weights: a 1 along the
// new axis, or none where the index lies outside.
func oneHotOp(c *call) *Val {
	v := c.x(2).flat()
	rank := c.rank(0) + 1
	axis, ok := c.axis("axis", -1, rank)
	if off := c.x(2).at(0); ok && c.rank(0) >= 0 && off == (Range{}) && v.Hull() == (Range{0, 1}) {
		v.shares = simplex{axis: rank - axis, most: true}
	}
	return v
}

func eyeOp(c *call) *Val { return c.condition() }

// boxesOp gives the numbers of batches, classes and boxes.
func boxesOp(c *call) *Val {
	if c.rank(0) != 3 || c.rank(1) != 3 {
		return c.index(1, false)
	}
	v := c.index(1, true)
	for d := range 2 {
		v.hi[0] = math.Max(v.hi[0], math.Min(c.most(1, d), math.MaxInt64)-1)
	}
	return v
}

// detOp bounds a determinant of n×n by Hadamard: the product of the row norms.
func detOp(c *call) *Val {
	x := c.x(0)
	if _, n := c.dim(0, c.rank(0)-1); n >= 0 {
		m := math.Pow(math.Sqrt(float64(n))*x.Hull().MaxAbs(), float64(n)) * (1 + 1e-6)
		return c.within(Range{-m, m})
	}
	return c.within(all)
}

func noNumbers(c *call) *Val { return c.within(Range{}) }

func stringSplitOp(c *call) []*Val {
	return []*Val{c.within(Range{}), intRange(Range{0, math.MaxInt64})}
}

// tfidfOp counts n-grams, weighted: at most one that starts at an element, for each length and each
// number of elements left out.
func tfidfOp(c *call) *Val {
	r := Range{0, 1}
	for _, x := range c.n.Floats("weights") {
		r = r.join(Range{float64(x), float64(x)})
	}
	n := product(c.elements(), float64(c.n.Int("max_skip_count", 0)+1)*float64(max(c.n.Int("max_gram_length", 1), 1)))
	return scalar(mul(r, Range{0, math.Max(n, 1)}))
}
