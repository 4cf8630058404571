package rangeprop

import "math"

const mlDomain = "ai.onnx.ml."

func mlOps() map[string]op {
	ops := map[string]op{
		"ArrayFeatureExtractor": exact(flatOp), "Binarizer": choice(bernoulliOp), "CastMap": exact(flatOp), "CategoryMapper": exact(categoryOp),
		"DictVectorizer": exact(withZero), "FeatureVectorizer": exact(featuresOp), "Imputer": exact(imputerOp), "LabelEncoder": exact(labelEncoderOp),
		"LinearClassifier": {f: linearClassifierOp, ulps: 8}, "LinearRegressor": {f: single(linearRegressorOp), ulps: 8}, "Normalizer": {f: single(normalizerOp), ulps: 8},
		"OneHotEncoder": choice(bernoulliOp), "Scaler": rounded(scalerOp), "SVMClassifier": {f: svmClassifierOp, ulps: 8}, "SVMRegressor": {f: single(anyOf)},
		"TreeEnsembleClassifier": {f: treeClassifierOp, ulps: 8}, "TreeEnsembleRegressor": {f: single(treeRegressorOp), ulps: 8},
		"TreeEnsemble": {f: single(treeEnsembleOp), ulps: 8}, "ZipMap": exact(flatOp),
	}
	table := make(map[string]op, len(ops))
	for k, o := range ops {
		table[mlDomain+k] = o
	}
	return table
}

// categoryOp and its kin hand out the values of a list.
func categoryOp(c *call) *Val {
	r := Range{float64(c.n.Int("default_int64", -1)), float64(c.n.Int("default_int64", -1))}
	for _, k := range c.n.Ints("cats_int64s") {
		r = r.join(Range{float64(k), float64(k)})
	}
	return scalar(r)
}

func featuresOp(c *call) *Val { return c.joinInputs() }

// imputerOp replaces one value by another: NaN by the mean, say.
func imputerOp(c *call) *Val {
	v := c.x(0).flat()
	replaced := float64(c.n.Float("replaced_value_float", 0))
	for _, x := range c.n.Floats("imputed_value_floats") {
		v = joined(v, scalar(Range{float64(x), float64(x)}))
	}
	for _, x := range c.n.Ints("imputed_value_int64s") {
		v = joined(v, scalar(Range{float64(x), float64(x)}))
	}
	if math.IsNaN(replaced) {
		v = v.clone()
		v.nan = false
	}
	return v
}

func labelEncoderOp(c *call) *Val {
	r := Range{0, 0}
	for _, name := range []string{"values_floats", "values_int64s"} {
		for _, x := range c.n.Floats(name) {
			r = r.join(Range{float64(x), float64(x)})
		}
		for _, x := range c.n.Ints(name) {
			r = r.join(Range{float64(x), float64(x)})
		}
	}
	if a := c.n.Attr("values_tensor"); a != nil && a.Tensor != nil {
		r = r.join(c.p.constant(a.Tensor).Hull())
	}
	if a := c.n.Attr("default_tensor"); a != nil && a.Tensor != nil {
		r = r.join(c.p.constant(a.Tensor).Hull())
	}
	f, i := float64(c.n.Float("default_float", 0)), float64(c.n.Int("default_int64", -1))
	return scalar(r.join(Range{f, f}).join(Range{i, i}))
}

// affineScores bounds coefficients · x + intercepts over the features, one sum for each class.
func (c *call) affineScores(coefficients []float32, intercepts []float32, classes int) *Val {
	features := 0
	if classes > 0 {
		features = len(coefficients) / classes
	}
	if features == 0 {
		return anyOf(c)
	}
	lo, hi := vector(c.x(0), features, false)
	acc := newDots(classes, false)
	for i, w := range coefficients[:features*classes] {
		acc.add(i/features, float64(w), lo[i%features], hi[i%features])
	}
	v := acc.val(float64(features), 0, math.MaxFloat32).flat()
	if len(intercepts) > 0 {
		b := scalar(Range{math.Inf(1), math.Inf(-1)})
		for _, x := range intercepts {
			b.lo[0], b.hi[0] = math.Min(b.lo[0], float64(x)), math.Max(b.hi[0], float64(x))
		}
		v = plus(v, b)
	}
	v.rest(c.x(0))
	v.nan = v.nan || c.x(0).nan || c.x(0).special()
	return v
}

// transformed applies the post_transform of classifiers. Where only one class is scored, kernels
// add the complement.
func (c *call) transformed(v *Val) *Val {
	h := v.Hull()
	switch c.n.Str("post_transform", "NONE") {
	case "NONE":
		return joined(joined(v, negative(v)), map1flags(v, func(x Range) Range { return sub(Range{1, 1}, h) }))
	case "LOGISTIC":
		w := map1flags(v, func(x Range) Range { return Range{logistic(-h.MaxAbs()), logistic(h.MaxAbs())} })
		return w.widen(kernelError)
	case "PROBIT":
		return anyOf(c)
	}
	return map1flags(v, func(Range) Range { return maybe })
}

// labels is the label output of a classifier.
func (c *call) labels() *Val {
	r := Range{0, 1}
	for _, name := range []string{"classlabels_ints", "classlabels_int64s"} {
		for _, k := range c.n.Ints(name) {
			r = r.join(Range{float64(k), float64(k)})
		}
	}
	return intRange(r)
}

func linearClassifierOp(c *call) []*Val {
	classes := max(len(c.n.Ints("classlabels_ints")), 1)
	if a := c.n.Attr("classlabels_strings"); a != nil {
		classes = max(classes, len(a.Strings))
	}
	if n := len(c.n.Floats("intercepts")); n > 0 {
		classes = n
	}
	return []*Val{c.labels(), c.transformed(c.affineScores(c.n.Floats("coefficients"), c.n.Floats("intercepts"), classes))}
}

func linearRegressorOp(c *call) *Val {
	v := c.affineScores(c.n.Floats("coefficients"), c.n.Floats("intercepts"), int(c.n.Int("targets", 1)))
	if c.n.Str("post_transform", "NONE") == "NONE" {
		return v
	}
	return c.transformed(v)
}

// normalizerOp divides rows by their sum of magnitudes or root of squares; by the greatest element
// it is not bounded, since that may be small next to a negative one.
func normalizerOp(c *call) *Val {
	x := c.x(0)
	if c.n.Str("norm", "MAX") == "MAX" {
		return c.dividedByMax()
	}
	v := map1(x, func(r Range) Range {
		q := Range{-1, 1}
		if r.Lo >= 0 {
			q.Lo = 0
		}
		return q
	})
	v.nan = x.nan || x.special()
	return v.constantly()
}

func (c *call) dividedByMax() *Val {
	x := c.x(0).flat()
	if h := x.Hull(); h.Lo >= 0 {
		v := map1(x, func(Range) Range { return maybe })
		v.nan = x.nan || x.special() || x.zero()
		return v
	}
	return anyOf(c)
}

// scalerOp is (x - offset)·scale per feature.
func scalerOp(c *call) *Val {
	x := c.x(0)
	return times(plus(x, negative(features(c.n.Floats("offset")))), features(c.n.Floats("scale")))
}

func features(list []float32) *Val {
	if len(list) == 0 {
		return scalar(Range{0, 0})
	}
	v := &Val{dims: []int{len(list)}, basis: Constant}
	for _, x := range list {
		v.lo = append(v.lo, float64(x))
	}
	v.hi = v.lo
	return v
}

func svmClassifierOp(c *call) []*Val {
	v := anyOf(c)
	if len(c.n.Floats("prob_a")) > 0 {
		v = c.within(maybe)
	}
	return []*Val{c.labels(), v}
}

// leaves sums, over the trees, the least and the greatest leaf.
func (c *call) leaves(ids, trees []int64, weights []float32) Range {
	low, high := map[int64]float64{}, map[int64]float64{}
	for i, t := range trees {
		if i >= len(weights) {
			break
		}
		w := float64(weights[i])
		low[t], high[t] = math.Min(low[t], w), math.Max(high[t], w)
	}
	r := Range{}
	for t := range low { // sums of the same numbers in any order, up to rounding that the ulps cover
		r.Lo, r.Hi = r.Lo+low[t], r.Hi+high[t]
	}
	e := 1e-6 * r.MaxAbs()
	return Range{r.Lo - e, r.Hi + e}
}

func treeClassifierOp(c *call) []*Val {
	r := c.leaves(c.n.Ints("class_ids"), c.n.Ints("class_treeids"), c.n.Floats("class_weights"))
	return []*Val{c.labels(), c.transformed(scalar(c.based(r)))}
}

// based adds the base values.
func (c *call) based(r Range) Range {
	b := Range{}
	for _, x := range c.n.Floats("base_values") {
		b = b.join(Range{float64(x), float64(x)})
	}
	return add(r, b)
}

func treeRegressorOp(c *call) *Val {
	r := c.leaves(c.n.Ints("target_ids"), c.n.Ints("target_treeids"), c.n.Floats("target_weights"))
	v := scalar(c.based(r))
	if c.n.Str("post_transform", "NONE") == "NONE" {
		return v
	}
	return c.transformed(v)
}

// treeEnsembleOp sums one leaf of every tree.
func treeEnsembleOp(c *call) *Val {
	a := c.n.Attr("leaf_weights")
	if a == nil || a.Tensor == nil {
		return anyOf(c)
	}
	h := c.p.constant(a.Tensor).Hull().join(Range{})
	n := float64(len(c.n.Ints("tree_roots")))
	v := scalar(h.scale(math.Max(n, 1)))
	if c.n.Int("post_transform", 0) != 0 {
		return anyOf(c)
	}
	return v
}
