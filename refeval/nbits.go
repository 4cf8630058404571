package refeval

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// nbitsOps are onnxruntime's operators on weights of 2 to 8 bits, packed in bytes, in blocks that
// each have their scale.
func nbitsOps() []entry {
	return []entry{
		op("com.microsoft.GatherBlockQuantized", gatherBlockQuantized),
		op("com.microsoft.MatMulNBits", matMulNBits),
	}
}

// packedInts are unsigned integers of a few bits, the first of a byte in its lowest bits. Rows
// begin with a byte.
type packedInts struct {
	bytes     []int64
	bits, row int // the latter in bytes
}

// at returns element k of row r.
func (p packedInts) at(r, k int) float64 {
	per := 8 / p.bits
	return float64(p.bytes[r*p.row+k/per] >> (k % per * p.bits) & (1<<p.bits - 1))
}

// blockWeights are the weights [N, K] of MatMulNBits.
type blockWeights struct {
	n, k, bits, block, blocks int
	q                         packedInts
	scale, zero               *Tensor
	group                     []int // the block of each of the K, nil for their order
}

// matMulNBits multiplies by the transpose of weights in blocks along K.
func matMulNBits(c *Call) error {
	w := c.blockWeights()
	x := c.In(0)
	b := c.Temp(x.Elem, []int{w.k, w.n})
	c.parallel(w.n, w.k, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			w.column(b, i)
		}
	})
	b.narrow()
	y := c.matmul(x, b)
	if bias := c.In(5); bias != nil {
		c.affine(y, nil, bias)
	}
	c.Set(0, TensorValue(y))
	return nil
}

// blockWeights reads the weights and checks their sizes.
func (c *Call) blockWeights() *blockWeights {
	w := &blockWeights{n: c.Int("N"), k: c.Int("K"), bits: c.Int("bits"), block: c.Int("block_size"), scale: c.In(2), zero: c.In(3)}
	if w.n < 1 || w.k < 1 || w.block < 1 || !slices.Contains([]int{2, 4, 8}, w.bits) {
		refuse("weights of %d x %d in blocks of %d with %d bits", w.n, w.k, w.block, w.bits)
	}
	w.blocks = (w.k + w.block - 1) / w.block
	bytes := (w.block*w.bits + 7) / 8
	w.q = packedInts{c.In(1).I, w.bits, bytes}
	if c.In(1).Len() != w.n*w.blocks*bytes || w.scale.Len() != w.n*w.blocks {
		refuse("weights %s and scales %s for %d x %d in blocks of %d", c.In(1), w.scale, w.n, w.k, w.block)
	}
	if g := c.In(4); g != nil {
		w.group = g.ints()
	}
	return w
}

// column sets column i of b, [K, N], to the real numbers of row i of the weights.
func (w *blockWeights) column(b *Tensor, i int) {
	for k := range w.k {
		own := k / w.block
		g := own
		if w.group != nil {
			g = w.group[k]
		}
		q := w.q.at(i*w.blocks+own, k%w.block)
		b.put64(k*w.n+i, (q-w.zeroAt(i, g))*w.scale.at64(i*w.blocks+g))
	}
}

// zeroAt returns the zero point of a block of row i: in the type of the scales, or packed as the
// weights are, else the middle of their range.
func (w *blockWeights) zeroAt(i, block int) float64 {
	switch {
	case w.zero == nil:
		return float64(int(1) << (w.bits - 1))
	case w.zero.F != nil:
		return w.zero.at64(i*w.blocks + block)
	}
	row := (w.blocks*w.bits + 7) / 8
	return packedInts{w.zero.I, w.bits, row}.at(i, block)
}

// gatherBlockQuantized picks rows of quantised data, and returns their real numbers. Data of type
// uint8 packs two elements of 4 bits in a byte along its last dimension, and has the middle of the
// range as zero.
func gatherBlockQuantized(c *Call) error {
	data, scale, zero := c.In(0), c.In(2), c.In(3)
	bits := c.Int("bits")
	x, z := data, zero
	if data.Elem == graph.Uint8 {
		x = c.unpacked(data, bits)
		if zero != nil {
			z = c.unpacked(zero, bits)
			z = c.cut(z, z.Rank()-1, 0, scale.Dims[scale.Rank()-1])
		} else {
			z = c.Temp(graph.Uint8, scale.Dims)
			for i := range z.I {
				z.I[i] = 1 << (bits - 1)
			}
		}
	}
	at := axis(c.Int("quantize_axis"), x.Rank())
	_, n, inner := split3(x.Dims, at)
	s := (&scales{n: n, inner: inner}).blocked(x, scale, at, c.Int("block_size"))
	y := c.Temp(scale.Elem, x.Dims)
	c.dequantize(y, x, scale, z, s)
	c.Set(0, TensorValue(c.gatherAlong(y, c.In(1), axis(c.Int("gather_axis"), x.Rank()))))
	return nil
}

// unpacked returns elements of a few bits, of which each byte along the last dimension holds some.
func (c *Call) unpacked(t *Tensor, bits int) *Tensor {
	if !slices.Contains([]int{2, 4, 8}, bits) || t.Rank() == 0 {
		refuse("elements of %d bits in %s", bits, t)
	}
	dims := slices.Clone(t.Dims)
	dims[len(dims)-1] *= 8 / bits
	y := c.Temp(t.Elem, dims)
	p := packedInts{t.I, bits, 1}
	for i := range y.I {
		y.I[i] = int64(p.at(i*bits/8, i%(8/bits)))
	}
	return y
}

// gatherAlong picks slices along an axis, in the shape of the indices.
func (c *Call) gatherAlong(x, index *Tensor, at int) *Tensor {
	dims := slices.Concat(x.Dims[:at], index.Dims, x.Dims[at+1:])
	y := c.Temp(x.Elem, dims)
	outer, n, inner := split3(x.Dims, at)
	list := index.ints()
	for o := range outer {
		for k, i := range list {
			copyRun(y, (o*len(list)+k)*inner, x, (o*n+axis(i, n))*inner, inner)
		}
	}
	return y
}
