package refeval

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// constantOps are the operators that make a tensor of a shape or a few numbers.
func constantOps() []entry {
	return []entry{
		op("Constant", constantNode),
		op("ConstantOfShape", constantOfShape),
		op("EyeLike", eyeLike),
		op("Range", arange),
		op("com.microsoft.Range", arange),
	}
}

// constantNode gives the constants that linking does not read, which are sparse.
func constantNode(c *Call) error {
	if v := c.Node.Out(0); v != nil && v.Const != nil {
		t, err := FromGraph(v.Const)
		if err != nil {
			return err
		}
		c.Set(0, TensorValue(t))
		return nil
	}
	a := c.Node.Attr("sparse_value")
	if a == nil || a.Sparse == nil {
		refuse("no value")
	}
	t, err := denseOf(a.Sparse)
	if err == nil {
		c.Set(0, TensorValue(t))
	}
	return err
}

func constantOfShape(c *Call) error {
	v := c.Tensor("value")
	if v == nil {
		v = FloatTensor([]int{1}, 0)
	}
	fill(c.Out(0, v.Elem, c.In(0).ints()), v)
	return nil
}

func eyeLike(c *Call) error {
	x, k := c.In(0), c.Int("k")
	if len(x.Dims) != 2 {
		refuse("%s is no matrix", x)
	}
	e := x.Elem
	if c.hasAttr("dtype") {
		e = c.elemAttr("dtype")
	}
	y := c.Out(0, e, x.Dims)
	for i := range x.Dims[0] {
		if j := i + k; j >= 0 && j < x.Dims[1] {
			y.put64(i*x.Dims[1]+j, 1)
		}
	}
	return nil
}

// arange counts from start to limit. The number of elements follows from a division in double.
func arange(c *Call) error {
	start, limit := c.In(0), c.In(1)
	step := 1.0
	if c.Has(2) {
		step = c.In(2).scalar()
	}
	n := math.Ceil((limit.scalar() - start.scalar()) / step)
	if math.IsNaN(n) || n > math.MaxInt32*1024 {
		refuse("a range from %v to %v by %v", start.scalar(), limit.scalar(), step)
	}
	y := c.Out(0, start.Elem, []int{int(max(n, 0))})
	from := start.scalar()
	for i := range y.Len() {
		if start.I != nil {
			y.I[i] = wrap(start.I[0]+int64(i)*int64(step), start.Elem)
			continue
		}
		y.put64(i, from+float64(i)*step)
	}
	return nil
}

// dimsOut makes output i a list of dimensions.
func (c *Call) dimsOut(i int, dims []int) {
	y := c.Out(i, graph.Int64, []int{len(dims)})
	for k, d := range dims {
		y.I[k] = int64(d)
	}
}
