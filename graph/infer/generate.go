package infer

import (
	"math"

	"github.com/amplint/amplint/graph"
)

func generateOps() map[string]operator {
	return merged(
		map[string]operator{
			"Constant": constant, "ConstantOfShape": constantOfShape, "EyeLike": likeWithType, "Range": rangeOp,
			"Shape": shapeOf, "Size": sizeOp, "Bernoulli": likeWithType, "Multinomial": multinomial,
			"com.microsoft.Range": rangeOp,
		},
		each(likeWithType, "RandomNormalLike", "RandomUniformLike"),
		each(random, "RandomNormal", "RandomUniform"),
	)
}

// constant takes the type of the value that the reader of the file has set, or that an attribute gives.
func constant(c *ctx) error {
	v := c.n.Out(0)
	if v == nil {
		return nil
	}
	if v.Const != nil {
		c.setType(0, v.Const.Type())
		return nil
	}
	for _, a := range c.n.Attrs {
		switch {
		case a.Name == "value" && a.Tensor != nil:
			v.Const = a.Tensor
		case a.Name == "value_float":
			v.Const = graph.FloatTensor("", []int64{}, a.F)
		case a.Name == "value_int":
			v.Const = graph.IntTensor("", []int64{}, a.I)
		case a.Name == "value_floats":
			v.Const = graph.FloatTensor("", []int64{int64(len(a.Floats))}, a.Floats...)
		case a.Name == "value_ints":
			v.Const = graph.IntTensor("", []int64{int64(len(a.Ints))}, a.Ints...)
		case a.Name == "sparse_value" && a.Sparse != nil && a.Sparse.Values != nil:
			c.setType(0, graph.TensorOf(a.Sparse.Values.Elem, graph.ShapeOf(a.Sparse.Dims...)))
		}
	}
	if v.Const != nil {
		c.setType(0, v.Const.Type())
	}
	return nil
}

func constantOfShape(c *ctx) error {
	c.elem(0, graph.Float)
	if a := c.n.Attr("value"); a != nil && a.Tensor != nil {
		c.elem(0, a.Tensor.Elem)
	}
	target := c.nums(0)
	if target == nil {
		if n := c.count(0); n >= 0 && n <= maxRank {
			c.set(0, c.freshShape(n))
		}
		return nil
	}
	s := make(graph.Shape, len(target))
	for i, x := range target {
		d, err := c.sizeOf(x)
		if err != nil {
			return err
		}
		s[i] = d
	}
	c.set(0, s)
	return nil
}

// likeWithType keeps the shape; dtype may choose another type.
func likeWithType(c *ctx) error {
	c.set(0, c.shape(0))
	c.elem(0, c.in(0).Elem)
	c.elem(0, graph.ElemType(c.n.Int("dtype", 0)))
	return nil
}

func random(c *ctx) error {
	c.elem(0, graph.ElemType(c.n.Int("dtype", int64(graph.Float))))
	return c.setInts(0, c.n.Ints("shape"))
}

// setInts gives output i a shape of numbers.
func (c *ctx) setInts(i int, dims []int64) error {
	for _, d := range dims {
		if d < 0 {
			return c.errorf("a dimension of size %d", d)
		}
	}
	c.set(i, graph.ShapeOf(dims...))
	return nil
}

func multinomial(c *ctx) error {
	c.elem(0, graph.ElemType(c.n.Int("dtype", int64(graph.Int32))))
	n, err := c.sizeOf(intNum(c.n.Int("sample_size", 1)))
	if err != nil {
		return err
	}
	batch := c.fresh()
	if s := c.shape(0); len(s) > 0 {
		batch = s[0]
	}
	c.set(0, graph.Shape{batch, n})
	return nil
}

// shapeOf yields the sizes themselves, of a range of axes since opset 15.
func shapeOf(c *ctx) error {
	s := c.shape(0)
	if s == nil {
		c.set(0, graph.Shape{c.fresh()})
		return nil
	}
	start, end := c.n.Int("start", 0), c.n.Int("end", int64(len(s)))
	r := int64(len(s))
	if start < 0 {
		start += r
	}
	if end < 0 {
		end += r
	}
	start, end = clamp(start, 0, r), clamp(end, 0, r)
	s = s[start:max(start, end)]
	c.set(0, graph.ShapeOf(int64(len(s))))
	if len(c.data) > 0 {
		d := &data{elem: graph.Int64, dims: []int64{int64(len(s))}, at: make([]num, len(s))}
		for i, dim := range s {
			d.at[i] = c.num(dim)
		}
		c.data[0] = d
	}
	return nil
}

func sizeOp(c *ctx) error {
	c.set(0, graph.Shape{})
	if s := c.shape(0); s != nil && len(c.data) > 0 {
		c.data[0] = &data{elem: graph.Int64, dims: []int64{}, at: []num{c.product(s)}}
	}
	return nil
}

func rangeOp(c *ctx) error {
	c.elem(0, c.in(0).Elem)
	delta := intNum(1)
	if c.has(2) {
		delta = c.scalar(2)
	}
	n := c.rangeLen(c.scalar(0), c.scalar(1), delta)
	c.set(0, graph.Shape{c.dim(n)})
	return nil
}

// rangeLen is max(⌈(limit-start)/delta⌉, 0).
func (c *ctx) rangeLen(start, limit, delta num) num {
	span := subNum(limit, start)
	if span.k == numFloat || delta.k == numFloat {
		a, ok := span.float()
		b, both := delta.float()
		n := math.Ceil(a / b)
		if !ok || !both || !(n < 1<<40) {
			return num{}
		}
		return intNum(int64(max(n, 0)))
	}
	if delta.k != numInt || delta.i == 0 || delta.i == math.MinInt64 {
		return num{}
	}
	if delta.i < 0 {
		span, delta = mulNum(span, intNum(-1)), intNum(-delta.i)
	}
	n := c.ceilDivNum(span, delta.i)
	if n.k == numInt {
		return intNum(max(n.i, 0))
	}
	return n
}
