package rangeprop

import (
	"github.com/amplint/amplint/graph"
)

// matMulNBitsOp multiplies by weights of 2 to 8 bits in blocks: they are constants like others once
// they are unpacked. What is not in the file, or in an order of its own, is not followed.
func matMulNBitsOp(c *call) *Val {
	w := c.unpackedWeights()
	if w == nil {
		return anyOf(c)
	}
	v := c.matmul(c.operand(0, false), operand{t: w, trans: true, shape: w.Type().Shape, held: c.p.unit(c.n.Out(0))})
	if c.has(5) {
		v = plus(v, c.in[5])
	}
	return v
}

// unpackedWeights returns the weights of MatMulNBits as numbers, [N, K]; nil where they are not known.
// A byte holds the first of its elements in its lowest bits; rows of a block begin with a byte.
func (c *call) unpackedWeights() *graph.Tensor {
	n, k, block, bits := int(c.n.Int("N", 0)), int(c.n.Int("K", 0)), int(c.n.Int("block_size", 0)), int(c.n.Int("bits", 4))
	q, s := c.n.In(1), c.n.In(2)
	if n < 1 || k < 1 || block < 1 || bits != 2 && bits != 4 && bits != 8 || q == nil || s == nil || q.Const == nil || s.Const == nil || c.has(4) {
		return nil
	}
	blocks, row := (k+block-1)/block, (block*bits+7)/8
	b, errB := q.Const.Bytes()
	scale, errS := s.Const.Float64s()
	zero := c.zeroPoints(bits, n, blocks)
	if errB != nil || errS != nil || zero == nil || len(b) != n*blocks*row || len(scale) != n*blocks {
		return nil
	}
	w := make([]float32, n*k)
	for i := range n {
		for j := range k {
			at := i*blocks + j/block
			w[i*k+j] = float32((packed(b[at*row:], bits, j%block) - zero(i, j/block)) * scale[at])
		}
	}
	return graph.FloatTensor("", []int64{int64(n), int64(k)}, w...)
}

// packed returns element i of numbers of a few bits.
func packed(b []byte, bits, i int) float64 {
	per := 8 / bits
	return float64(b[i/per] >> (i % per * bits) & (1<<bits - 1))
}

// zeroPoints returns the function that gives the zero point of a block of a row, nil where it is not
// known: floats like the scales, or packed, else the middle of the range.
func (c *call) zeroPoints(bits, n, blocks int) func(i, block int) float64 {
	z := c.n.In(3)
	switch {
	case z == nil:
		return func(int, int) float64 { return float64(int(1) << (bits - 1)) }
	case z.Const == nil:
		return nil
	case z.Const.Elem.IsFloat():
		x, err := z.Const.Float64s()
		if err != nil || len(x) != n*blocks {
			return nil
		}
		return func(i, block int) float64 { return x[i*blocks+block] }
	}
	row := (blocks*bits + 7) / 8
	b, err := z.Const.Bytes()
	if err != nil || len(b) != n*row {
		return nil
	}
	return func(i, block int) float64 { return packed(b[i*row:], bits, block) }
}
