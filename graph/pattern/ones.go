package pattern

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// A product with a matrix of one number adds up rows, and so does a convolution whose kernel holds one number. Each
// result stands there as often as the matrix has columns: once, or as often as the row has elements, which meet it
// one by one. In between it would meet other rows.

// bySum reads a product with a matrix of one number, and returns that number.
func (f *finder) bySum(r *reduction, n *graph.Node) float64 {
	a, b := n.In(0), n.In(1)
	if b == nil {
		return 0
	}
	if c, ok := f.number1(f.same(b)); ok && c != 0 && len(b.Type.Shape) == 2 && len(a.Type.Shape) >= 2 && onceOrAll(b.Type.Shape[1], b.Type.Shape[0]) {
		r.op, r.axes = "Sum", []int{len(a.Type.Shape) - 1}
		return c
	}
	if c, ok := f.number1(f.same(a)); ok && c != 0 && len(a.Type.Shape) == 2 && len(b.Type.Shape) >= 2 && settled(b.Type.Shape) && onceOrAll(a.Type.Shape[0], a.Type.Shape[1]) {
		r.op, r.of, r.axes = "Sum", f.same(b), []int{len(b.Type.Shape) - 2}
		return c
	}
	return 0
}

// onceOrAll tells whether the results of a sum stand there once, or once for each element summed.
func onceOrAll(results, elements graph.Dim) bool {
	return results == graph.Dim{N: 1} || results == elements && results.Known()
}

// byGemm is bySum of a Gemm that adds nothing.
func (f *finder) byGemm(r *reduction, n *graph.Node) float64 {
	b := n.In(1)
	if b == nil || n.In(2) != nil || n.Int("transA", 0) != 0 || len(b.Type.Shape) != 2 {
		return 0
	}
	s := slices.Clone(b.Type.Shape)
	if n.Int("transB", 0) != 0 {
		slices.Reverse(s)
	}
	c, ok := f.number1(f.same(b))
	if c *= float64(n.Float("alpha", 1)); !ok || c == 0 || !onceOrAll(s[1], s[0]) {
		return 0
	}
	r.op, r.axes = "Sum", []int{1}
	return c
}

// byKernel reads a convolution by a kernel of one number that adds up the channels, the image, or both.
func (f *finder) byKernel(r *reduction, n *graph.Node) float64 {
	x, w := n.In(0).Type.Shape, n.In(1)
	if w == nil || n.In(2) != nil || len(w.Type.Shape) != len(x) || len(x) < 3 || !placesNone(n) {
		return 0
	}
	c, ok := f.number1(f.same(w))
	k := w.Type.Shape
	if !ok || c == 0 || !settled(k) {
		return 0
	}
	one := graph.Dim{N: 1}
	channels := x[1].N == 1 || n.Int("group", 1) == 1
	point := !slices.ContainsFunc(k[2:], func(d graph.Dim) bool { return d != one })
	switch whole := slices.Equal(k[2:], x[2:]); {
	case channels && point && onceOrAll(k[0], x[1]):
		r.axes = []int{1}
	case channels && whole && k[0] == one:
		r.axes = places1(1, len(x))
	case whole && k[1] == one && k[0] == x[1]:
		r.axes = places1(2, len(x))
	default:
		return 0
	}
	r.op = "Sum"
	return c
}

// placesNone tells whether the windows of a pool or a convolution lie in the image one beside the other, without
// gaps in them or around them.
func placesNone(n *graph.Node) bool { return unpadded(n) && allOnes(n.Ints("strides")) }

// unpadded tells whether the windows of a pool or a convolution reach nothing but the image, and have no gaps.
func unpadded(n *graph.Node) bool {
	return n.Int("ceil_mode", 0) == 0 && n.Str("auto_pad", "NOTSET") == "NOTSET" && allOnes(n.Ints("dilations")) &&
		!slices.ContainsFunc(n.Ints("pads"), func(p int64) bool { return p != 0 })
}

func allOnes(list []int64) bool {
	return !slices.ContainsFunc(list, func(d int64) bool { return d != 1 })
}

// places1 lists the numbers from one on below another.
func places1(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}
