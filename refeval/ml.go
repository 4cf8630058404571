package refeval

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// mlOps are the domain ai.onnx.ml. Where the standard is silent they follow onnxruntime, which is
// what such models are exported for.
func mlOps() []entry {
	return slices.Concat(featureOps(), labelOps(), modelOps(), treeOps())
}

// featureOps prepare features.
func featureOps() []entry {
	return []entry{
		mover("ai.onnx.ml.ArrayFeatureExtractor", extractFeatures),
		op("ai.onnx.ml.Binarizer", binarize),
		op("ai.onnx.ml.FeatureVectorizer", joinFeatures),
		op("ai.onnx.ml.Imputer", impute),
		op("ai.onnx.ml.Normalizer", normalizeRows),
		op("ai.onnx.ml.OneHotEncoder", encodeOneHot),
		op("ai.onnx.ml.Scaler", scaleFeatures),
	}
}

// features returns an input [N, F] or [F] of numbers as so many rows of so many.
func (c *Call) features(i int) (x *Tensor, rows, cols int) {
	x = c.In(i)
	if x.Rank() == 0 || x.S != nil || x.C != nil {
		refuse("%s holds no rows of features", x)
	}
	cols = x.Dims[x.Rank()-1]
	return x, size(x.Dims[:x.Rank()-1]), cols
}

// extractFeatures picks columns.
func extractFeatures(c *Call) error {
	x, list := c.In(0), c.In(1).ints()
	if x.Rank() == 0 {
		refuse("%s has no columns", x)
	}
	at := x.Rank() - 1
	if x.Rank() == 1 { // one row stays one
		x = x.view([]int{1, x.Len()})
		at = 1
	}
	for _, k := range list {
		if k < 0 || k >= x.Dims[at] {
			refuse("column %d of %s", k, x)
		}
	}
	c.pickAlong(0, x, at, list)
	return nil
}

func binarize(c *Call) error {
	x, limit := c.In(0), c.Float("threshold")
	y := c.Out(0, x.Elem, x.Dims)
	for i := range y.Len() {
		y.put64(i, float64(bit(x.at64(i) > limit)))
	}
	return nil
}

// joinFeatures lays the columns of all inputs side by side.
func joinFeatures(c *Call) error {
	total, rows := 0, 1
	for i := range c.Len() {
		_, n, cols := c.features(i)
		if i > 0 && n != rows {
			refuse("inputs of %d and %d rows", rows, n)
		}
		rows, total = n, total+cols
	}
	y := c.Out(0, graph.Float, []int{rows, total})
	at := 0
	for i := range c.Len() {
		x, _, cols := c.features(i)
		for k := range x.Len() {
			y.put64(k/cols*total+at+k%cols, x.at64(k))
		}
		at += cols
	}
	return nil
}

// impute replaces a value, which may be NaN, by one for all columns or one for each.
func impute(c *Call) error {
	x, _, cols := c.features(0)
	var by []float64
	for _, v := range c.Floats("imputed_value_floats") {
		by = append(by, float64(v))
	}
	old := c.Float("replaced_value_float")
	if x.I != nil {
		by, old = nil, float64(c.Int("replaced_value_int64"))
		for _, v := range c.Ints("imputed_value_int64s") {
			by = append(by, float64(v))
		}
	}
	if len(by) != 1 && len(by) != cols {
		refuse("%d values for %d columns", len(by), cols)
	}
	y := c.Out(0, x.Elem, x.Dims)
	for i := range y.Len() {
		v := x.at64(i)
		if v == old || v != v && old != old {
			v = by[i%cols%len(by)]
		}
		y.put64(i, v)
	}
	return nil
}

// normalizeRows divides rows by their largest element, the sum of their magnitudes, or their
// length; by nothing where that is zero.
func normalizeRows(c *Call) error {
	x, rows, cols := c.features(0)
	y, a := c.Out(0, graph.Float, x.Dims), c.accum()
	row := make([]float32, cols)
	norm := c.Str("norm")
	for r := range rows {
		for k := range row {
			row[k] = float32(x.at64(r*cols + k))
		}
		by := a.rowNorm(norm, row)
		for k, v := range row {
			y.F[r*cols+k] = v
			if by != 0 {
				y.F[r*cols+k] = v / by
			}
		}
	}
	return nil
}

func (a accum) rowNorm(norm string, row []float32) float32 {
	if len(row) == 0 {
		return 0
	}
	switch norm {
	case "MAX":
		return slices.Max(row)
	case "L1":
		return a.sum(mapped(a, math.Abs, row))
	case "L2":
		return float32(math.Sqrt(float64(a.sum(mapped(a, square, row)))))
	}
	refuse("unknown norm %q", norm)
	return 0
}

// encodeOneHot marks the category of each element along a new last dimension.
func encodeOneHot(c *Call) error {
	x := c.In(0)
	words, ints := c.Strs("cats_strings"), c.Ints("cats_int64s")
	n := max(len(words), len(ints))
	y := c.Out(0, graph.Float, append(slices.Clone(x.Dims), n))
	for i := range x.Len() {
		var at int
		if x.S != nil {
			at = slices.Index(words, x.S[i])
		} else {
			at = slices.Index(ints, int(floatToInt(x.at64(i), graph.Int64)))
		}
		if at >= 0 {
			y.F[i*n+at] = 1
		} else if c.Int("zeros") == 0 {
			refuse("element %d is of no category", i)
		}
	}
	return nil
}

// scaleFeatures is (x - offset) * scale.
func scaleFeatures(c *Call) error {
	x, _, cols := c.features(0)
	offset, scale := c.Floats("offset"), c.Floats("scale")
	for _, list := range [][]float32{offset, scale} {
		if len(list) != 1 && len(list) != cols {
			refuse("%d numbers for %d columns", len(list), cols)
		}
	}
	y, a := c.Out(0, graph.Float, x.Dims), c.accum()
	for i := range y.F {
		k := i % cols
		d := float32(x.at64(i)) - offset[k%len(offset)]
		y.F[i] = a.round(d) * scale[k%len(scale)]
	}
	return nil
}
