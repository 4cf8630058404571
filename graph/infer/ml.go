package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func mlOps() map[string]operator {
	return merged(
		each(sameShape, "ai.onnx.ml.Binarizer", "ai.onnx.ml.CategoryMapper", "ai.onnx.ml.Imputer",
			"ai.onnx.ml.Normalizer", "ai.onnx.ml.Scaler"),
		each(classifier, "ai.onnx.ml.LinearClassifier", "ai.onnx.ml.SVMClassifier",
			"ai.onnx.ml.TreeEnsembleClassifier"),
		each(regressor, "ai.onnx.ml.LinearRegressor", "ai.onnx.ml.SVMRegressor", "ai.onnx.ml.TreeEnsembleRegressor",
			"ai.onnx.ml.TreeEnsemble"),
		map[string]operator{
			"ai.onnx.ml.ArrayFeatureExtractor": extractFeatures, "ai.onnx.ml.CastMap": castMap,
			"ai.onnx.ml.DictVectorizer": vectorize, "ai.onnx.ml.FeatureVectorizer": joinFeatures,
			"ai.onnx.ml.LabelEncoder": encodeLabels, "ai.onnx.ml.OneHotEncoder": encodeOneHot,
			"ai.onnx.ml.ZipMap": zipMap,
		},
	)
}

// rows is the number of samples: a vector is a single one.
func (c *ctx) rows() graph.Dim {
	switch s := c.shape(0); {
	case s == nil:
		return c.fresh()
	case len(s) < 2:
		return graph.Dim{N: 1}
	default:
		return s[0]
	}
}

// listLen is the length of the first list attribute that is not empty, of tensors too.
func (c *ctx) listLen(names ...string) int {
	for _, name := range names {
		a := c.n.Attr(name)
		if a == nil {
			continue
		}
		if n := max(len(a.Ints), len(a.Floats), len(a.Strings)); n > 0 {
			return n
		}
		if a.Tensor != nil && a.Tensor.Len() > 0 {
			return int(a.Tensor.Len())
		}
	}
	return 0
}

// classifier yields a label and one score a class.
func classifier(c *ctx) error {
	c.elem(0, graph.Int64)
	if c.listLen("classlabels_strings") > 0 {
		c.elem(0, graph.String)
	}
	c.elem(1, graph.Float)
	scores := c.fresh()
	n := c.listLen("classlabels_strings", "classlabels_ints", "classlabels_int64s")
	if c.n.Op == "SVMClassifier" && n > 2 && c.listLen("prob_a") == 0 {
		n = n * (n - 1) / 2 // a score for each pair of classes
	}
	if n > 0 {
		scores = graph.Dim{N: int64(n)}
	}
	c.set(0, graph.Shape{c.rows()})
	c.set(1, graph.Shape{c.rows(), scores})
	return nil
}

func regressor(c *ctx) error {
	n := c.n.Int("targets", c.n.Int("n_targets", 1))
	if n < 0 {
		return c.errorf("%d targets", n)
	}
	c.set(0, graph.Shape{c.rows(), {N: n}})
	return nil
}

// extractFeatures picks columns.
func extractFeatures(c *ctx) error {
	s, at := c.shape(0), c.shape(1)
	if s == nil || at == nil {
		return nil
	}
	n := c.dim(c.product(at))
	if len(s) < 2 {
		c.set(0, graph.Shape{{N: 1}, n})
		return nil
	}
	out := slices.Clone(s)
	out[len(out)-1] = n
	c.set(0, out)
	return nil
}

func castMap(c *ctx) error {
	switch c.n.Str("cast_to", "TO_FLOAT") {
	case "TO_STRING":
		c.elem(0, graph.String)
	case "TO_INT64":
		c.elem(0, graph.Int64)
	default:
		c.elem(0, graph.Float)
	}
	width := c.fresh()
	if c.n.Str("map_form", "DENSE") == "SPARSE" {
		width = c.attrDim("max_map")
	}
	c.set(0, graph.Shape{{N: 1}, width})
	return nil
}

func vectorize(c *ctx) error {
	if t := c.in(0); t.Of != nil {
		c.elem(0, t.Of.Elem)
	}
	c.set(0, graph.Shape{{N: 1}, {N: int64(c.listLen("string_vocabulary", "int64_vocabulary"))}})
	return nil
}

func joinFeatures(c *ctx) error {
	sum := intNum(0)
	for _, n := range c.n.Ints("inputdimensions") {
		sum = addNum(sum, intNum(n))
	}
	width, err := c.sizeOf(sum)
	c.set(0, graph.Shape{c.rows(), width})
	return err
}

// encodeLabels maps keys to values, whose type is that of the values' attribute.
func encodeLabels(c *ctx) error {
	c.set(0, c.shape(0))
	types := []struct {
		attr string
		elem graph.ElemType
	}{{"values_floats", graph.Float}, {"values_int64s", graph.Int64}, {"values_strings", graph.String}}
	for _, t := range types {
		if c.n.Attr(t.attr) != nil {
			c.elem(0, t.elem)
			return nil
		}
	}
	if a := c.n.Attr("values_tensor"); a != nil && a.Tensor != nil {
		c.elem(0, a.Tensor.Elem)
		return nil
	}
	if c.ver < 2 { // strings to their places in the list, and back
		c.elem(0, graph.String)
		if c.in(0).Elem == graph.String {
			c.elem(0, graph.Int64)
		}
	}
	return nil
}

func encodeOneHot(c *ctx) error {
	if s := c.shape(0); s != nil {
		n := int64(c.listLen("cats_int64s", "cats_strings"))
		c.set(0, append(slices.Clone(s), graph.Dim{N: n}))
	}
	return nil
}

// zipMap pairs scores with labels: one map a sample.
func zipMap(c *ctx) error {
	key := graph.Int64
	if c.listLen("classlabels_strings") > 0 {
		key = graph.String
	}
	value := graph.TensorOf(graph.Float, graph.Shape{})
	c.setType(0, seqOf(graph.Type{Kind: graph.KindMap, Elem: key, Of: &value}))
	return nil
}
