package refeval

import "slices"

// rope turns pairs of elements of each head by an angle that depends on the position.
type rope struct {
	batch, heads, length, size int
	b, h, s                    int // how far apart batches, heads and positions lie
	turned                     int // elements of a head that are turned
	interleaved                bool
	cos, sin                   *Tensor // rows of turned/2
	row                        func(b, s int) int
}

// ropeOf reads the layout of x: [batch, heads, length, size], or [batch, length, heads*size].
func ropeOf(x *Tensor, heads int) rope {
	switch {
	case x.Rank() == 4:
		d := x.Dims
		return rope{batch: d[0], heads: d[1], length: d[2], size: d[3], b: d[1] * d[2] * d[3], h: d[2] * d[3], s: d[3]}
	case x.Rank() != 3 || heads < 1 || x.Dims[2]%heads != 0:
		refuse("%d heads of %s", heads, x)
	}
	d := x.Dims
	n := d[2] / heads
	return rope{batch: d[0], heads: heads, length: d[1], size: n, b: d[1] * d[2], h: n, s: d[2]}
}

func rotaryEmbedding(c *Call) error {
	x := c.In(0)
	r := ropeOf(x, c.Int("num_heads"))
	r.interleaved = c.Int("interleaved") != 0
	r.setCache(c.In(1), c.In(2), c.Int("rotary_embedding_dim"))
	if c.Has(3) {
		ids := c.In(3).indices(r.cos.Dims[0])
		if len(ids) != r.batch*r.length {
			refuse("positions %s for %s", c.In(3), x)
		}
		r.row = func(b, s int) int { return ids[b*r.length+s] }
	} else {
		r.row = func(b, s int) int { return b*r.length + s }
	}
	y := c.Clone(x)
	c.rotate(y, r)
	c.Set(0, TensorValue(y))
	return nil
}

// setCache sets the cosines and sines, and how much of a head is turned, 0 for all.
func (r *rope) setCache(cos, sin *Tensor, turned int) {
	if turned == 0 {
		turned = r.size
	}
	r.turned, r.cos, r.sin = turned, cos, sin
	if !slices.Equal(cos.Dims, sin.Dims) || cos.Rank() < 1 || turned > r.size || turned%2 != 0 ||
		cos.Dims[cos.Rank()-1] != turned/2 {
		refuse("cosines %s and sines %s for %d elements of a head of %d", cos, sin, turned, r.size)
	}
}

// rotate turns the heads of x in place.
func (c *Call) rotate(x *Tensor, r rope) {
	a := c.accum()
	c.parallel(r.batch*r.length, r.heads*r.size, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			b, s := i/r.length, i%r.length
			row := r.row(b, s) * (r.turned / 2)
			for h := range r.heads {
				r.turn(a, x, b*r.b+h*r.h+s*r.s, row)
			}
		}
	})
}

// turn turns one head.
func (r *rope) turn(a accum, x *Tensor, at, row int) {
	half := r.turned / 2
	for k := range half {
		i, j := at+k, at+half+k
		if r.interleaved {
			i, j = at+2*k, at+2*k+1
		}
		cos, sin := r.cos.at64(row+k), r.sin.at64(row+k)
		u, v := x.at64(i), x.at64(j)
		if x.F == nil {
			x.put64(i, cos*u-sin*v)
			x.put64(j, sin*u+cos*v)
			continue
		}
		x.F[i] = a.round(a.round(float32(cos*u)) - a.round(float32(sin*v)))
		x.F[j] = a.round(a.round(float32(sin*u)) + a.round(float32(cos*v)))
	}
}
