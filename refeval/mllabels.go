package refeval

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/amplint/amplint/graph"
)

// labelOps map elements to others, and tensors to maps and back.
func labelOps() []entry {
	return []entry{
		op("ai.onnx.ml.CastMap", castMap),
		op("ai.onnx.ml.CategoryMapper", mapCategories),
		op("ai.onnx.ml.DictVectorizer", vectorizeDict),
		op("ai.onnx.ml.LabelEncoder", encodeLabels),
		op("ai.onnx.ml.ZipMap", zipMap),
	}
}

// list returns a list attribute of any of the types, given the names that it may have, as a tensor;
// nil where the node has none.
func (c *Call) list(floats, ints, words, tensor string) *Tensor {
	switch {
	case c.hasAttr(floats):
		f := c.Floats(floats)
		return FloatTensor([]int{len(f)}, f...)
	case c.hasAttr(ints):
		t := IntTensor([]int{})
		for _, v := range c.Ints(ints) {
			t.I = append(t.I, int64(v))
		}
		t.Dims = []int{len(t.I)}
		return t
	case c.hasAttr(words):
		s := c.Strs(words)
		return &Tensor{Elem: graph.String, Dims: []int{len(s)}, S: s}
	case tensor != "" && c.hasAttr(tensor):
		return c.Tensor(tensor)
	}
	return nil
}

// label is an element as the key of a Go map. NaN equals NaN, and -0 is 0.
func (t *Tensor) label(i int) string {
	if t.S != nil {
		return t.S[i]
	}
	if t.I != nil {
		return strconv.FormatInt(t.I[i], 10)
	}
	return strconv.FormatUint(math.Float64bits(t.at64(i)+0), 16)
}

// encodeLabels maps elements by two lists; of a key that stands twice the last one holds. The
// first version mapped between strings and their places.
func encodeLabels(c *Call) error {
	if c.Version < 2 {
		return encodeClasses(c)
	}
	keys := c.list("keys_floats", "keys_int64s", "keys_strings", "keys_tensor")
	values := c.list("values_floats", "values_int64s", "values_strings", "values_tensor")
	if keys == nil || values == nil || keys.Len() != values.Len() {
		refuse("keys and values do not go together")
	}
	return c.mapLabels(keys, values, c.labelDefault(values.Elem))
}

// labelDefault returns what stands for elements that have no key.
func (c *Call) labelDefault(e graph.ElemType) *Tensor {
	if t := c.Tensor("default_tensor"); t != nil && t.Elem == e && t.Len() == 1 {
		return t
	}
	d, err := newTensor(e, []int{})
	if err != nil {
		panic(refusal{err})
	}
	switch {
	case d.S != nil:
		d.S[0] = c.Str("default_string")
	case d.I != nil:
		d.I[0] = int64(c.IntOr("default_int64", -1))
	default:
		d.put64(0, c.FloatOr("default_float", math.Copysign(0, -1)))
	}
	return d
}

// mapLabels sets output 0 to the values of the elements of input 0.
func (c *Call) mapLabels(keys, values, def *Tensor) error {
	x := c.In(0)
	if storeOf(x.Elem) != storeOf(keys.Elem) {
		refuse("keys of type %s for %s", keys.Elem, x)
	}
	place := map[string]int{}
	for i := range keys.Len() {
		place[keys.label(i)] = i
	}
	y := c.Out(0, values.Elem, x.Dims)
	for i := range x.Len() {
		if k, ok := place[x.label(i)]; ok {
			copyRun(y, i, values, k, 1)
		} else {
			copyRun(y, i, def, 0, 1)
		}
	}
	return nil
}

// encodeClasses is the first version of LabelEncoder.
func encodeClasses(c *Call) error {
	words := c.list("", "", "classes_strings", "")
	if words == nil {
		refuse("no classes")
	}
	return c.mapBetween(words, placesOf(words.Len()))
}

// placesOf lists the numbers up to n.
func placesOf(n int) *Tensor {
	t := IntTensor([]int{n}, make([]int64, n)...)
	for i := range t.I {
		t.I[i] = int64(i)
	}
	return t
}

// mapCategories maps strings to integers or back.
func mapCategories(c *Call) error {
	words, ints := c.list("", "", "cats_strings", ""), c.list("", "cats_int64s", "", "")
	if words == nil || ints == nil || words.Len() != ints.Len() {
		refuse("strings and integers do not go together")
	}
	return c.mapBetween(words, ints)
}

// mapBetween maps strings to integers, or integers to strings.
func (c *Call) mapBetween(words, ints *Tensor) error {
	if c.In(0).S != nil {
		return c.mapLabels(words, ints, IntTensor([]int{}, int64(c.Int("default_int64"))))
	}
	return c.mapLabels(ints, words, &Tensor{Elem: graph.String, Dims: []int{}, S: []string{c.Str("default_string")}})
}

// mapIn returns the keys and values of an input that is a map.
func (c *Call) mapIn(i int) (keys *Tensor, values []*Value) {
	v := c.Value(i)
	if v == nil || v.Kind != graph.KindMap {
		refuse("input %d is no map", i)
	}
	return v.Keys, v.Items
}

// vectorizeDict puts the values of a map at the places of their keys in a vocabulary.
func vectorizeDict(c *Call) error {
	keys, values := c.mapIn(0)
	words := c.list("", "int64_vocabulary", "string_vocabulary", "")
	if words == nil || storeOf(words.Elem) != storeOf(keys.Elem) {
		refuse("the vocabulary does not fit keys of type %s", keys.Elem)
	}
	place := map[string]int{}
	for i := range words.Len() {
		place[words.label(i)] = i
	}
	e := graph.Float
	if len(values) > 0 {
		e = tensorOf(values[0]).Elem
	}
	y := c.Out(0, e, []int{1, words.Len()})
	for i, v := range values {
		if k, ok := place[keys.label(i)]; ok {
			copyRun(y, k, tensorOf(v), 0, 1)
		}
	}
	return nil
}

// castMap lays out the values of a map by their keys: side by side, or each at the place that its
// key says.
func castMap(c *Call) error {
	keys, values := c.mapIn(0)
	e := map[string]graph.ElemType{"TO_FLOAT": graph.Float, "TO_INT64": graph.Int64, "TO_STRING": graph.String}[c.Str("cast_to")]
	order := allAxes(len(values))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(keys.I[a], keys.I[b]) })
	n, sparse := len(values), c.Str("map_form") == "SPARSE"
	if sparse {
		n = c.Int("max_map")
	}
	y := c.Out(0, e, []int{1, n})
	for i := range y.S {
		y.S[i] = "0.f" // what onnxruntime fills gaps with
	}
	for k, i := range order {
		to := k
		if sparse {
			to = int(keys.I[i])
		}
		v := c.Temp(e, []int{1})
		convert(v, tensorOf(values[i]).view([]int{1}), true, "up")
		copyRun(y, to, v, 0, 1)
	}
	return nil
}

// zipMap makes a map of each row, by the names of the columns.
func zipMap(c *Call) error {
	x, rows, cols := c.features(0)
	keys := c.list("", "classlabels_int64s", "classlabels_strings", "")
	if keys == nil || keys.Len() != cols {
		refuse("labels for %d columns are needed", cols)
	}
	items := make([]*Value, rows)
	for r := range rows {
		m := &Value{Kind: graph.KindMap, Keys: keys}
		for k := range cols {
			t := c.Temp(x.Elem, []int{})
			copyRun(t, 0, x, r*cols+k, 1)
			m.Items = append(m.Items, TensorValue(t))
		}
		items[r] = m
	}
	c.Set(0, SequenceValue(items...))
	return nil
}
