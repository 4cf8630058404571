package refeval

import (
	"math"
	"slices"
)

// groupQuery is one evaluation of GroupQueryAttention: keys and values are written into caches at
// a place that each batch has of its own.
type groupQuery struct {
	attention
	past   []int // keys before the first query, for each batch
	total  []int // keys of each batch that are no padding
	window int   // how many keys a query sees, -1 for all
	causal bool
	sinks  []float64 // of each head, what the softmax adds to the sum beside the keys; nil for none
}

func groupQueryAttention(c *Call) error {
	heads, groups := c.Int("num_heads"), c.Int("kv_num_heads")
	q, k, v := c.In(0), c.In(1), c.In(2)
	if q.Rank() != 3 || q.F == nil || heads < 1 || groups < 1 {
		refuse("%d and %d heads of %s", heads, groups, q)
	}
	if k == nil { // packed side by side
		n := q.Dims[2] / (heads + 2*groups)
		parts := c.columnsOf(q, []int{heads * n, groups * n, groups * n})
		q, k, v = parts[0], parts[1], parts[2]
	}
	g := &groupQuery{window: c.Int("local_window_size"), causal: c.Int("causal") != 0}
	g.attention = attention{c: c, e: c.accum(), soft: c.accum(), softcap: c.Float("softcap"), late: true}
	g.q, g.k, g.v = c.headsOf(q, heads), c.headsOf(k, groups), c.headsOf(v, groups)
	total := c.In(6).int()
	g.setPast(c.In(5), total)
	if c.Int("do_rotary") != 0 {
		g.rotate()
	}
	g.k, g.v = g.cached(c.In(3), g.k, total), g.cached(c.In(4), g.v, total)
	if g.scale = c.FloatOr("scale", 0); g.scale == 0 {
		g.scale = 1 / math.Sqrt(float64(g.q.Dims[3]))
	}
	c.Set(1, TensorValue(g.k))
	c.Set(2, TensorValue(g.v))
	g.setSinks(c.In(11))
	s := g.cap(g.scores())
	p := g.masked(s, c.In(10))
	c.Set(0, TensorValue(c.joined(g.mix(p))))
	c.Set(3, TensorValue(pick(c.Int("qk_output") == 2, p, s)))
	return nil
}

// setPast reads the last position of each batch. In the first call, which has as many queries as
// there are keys, nothing lies before them.
func (g *groupQuery) setPast(last *Tensor, total int) {
	n := g.q.Dims[2]
	g.past = last.ints()
	if len(g.past) != g.q.Dims[0] || total < n {
		refuse("lengths %s and %d keys in all for queries %s", last, total, g.q)
	}
	g.total = slices.Clone(g.past)
	for b := range g.past {
		g.total[b]++
		g.past[b] = max(g.total[b]-n, 0)
		if n == total && n > 1 {
			g.past[b] = 0
		}
	}
}

// rotate turns queries and keys by their positions.
func (g *groupQuery) rotate() {
	c, cos, sin := g.c, g.c.In(7), g.c.In(8)
	if cos == nil || sin == nil {
		refuse("no cosines and sines to turn by")
	}
	ids := c.In(9)
	for _, t := range []**Tensor{&g.q, &g.k} {
		y := c.Clone(*t)
		r := ropeOf(y, 0)
		r.interleaved = c.Int("rotary_interleaved") != 0
		r.setCache(cos, sin, min(2*cos.Dims[cos.Rank()-1], r.size))
		r.row = func(b, s int) int {
			at := g.past[b] + s
			if ids != nil {
				at = int(ids.I[b*r.length+s])
			}
			return index(int64(at), cos.Dims[0])
		}
		c.rotate(y, r)
		*t = y
	}
}

// cached returns a cache of the past with the new rows written into it; it grows where it is too
// short for all keys.
func (g *groupQuery) cached(past, t *Tensor, total int) *Tensor {
	dims := slices.Clone(t.Dims)
	dims[2] = total
	if past != nil {
		if sameType(past, t); past.Rank() != 4 || !slices.Equal(past.Dims[:2], t.Dims[:2]) || past.Dims[3] != t.Dims[3] {
			refuse("a past %s for %s", past, t)
		}
		dims[2] = max(total, past.Dims[2])
	}
	y := g.c.Temp(t.Elem, dims)
	n := t.Dims[2]
	for i := range dims[0] * dims[1] {
		at := g.past[i/dims[1]]
		if past != nil {
			rows := min(at, past.Dims[2])
			copyRun(y, i*dims[2]*dims[3], past, i*past.Dims[2]*dims[3], rows*dims[3])
		}
		if at+n > dims[2] {
			refuse("%d keys behind %d do not go into a cache of %d", n, at, dims[2])
		}
		copyRun(y, (i*dims[2]+at)*dims[3], t, i*n*dims[3], n*dims[3])
	}
	return y
}

// setSinks reads what the softmax adds to its sum.
func (g *groupQuery) setSinks(t *Tensor) {
	heads := g.q.Dims[1]
	switch {
	case t != nil && t.Len() == heads:
		g.sinks = t.floats64()
	case t != nil:
		refuse("sinks %s for %d heads", t, heads)
	case g.c.Int("smooth_softmax") > 0:
		g.sinks = make([]float64, heads)
	}
}

// masked returns the probabilities: each query sees the keys up to its own position and no further
// back than the window.
func (g *groupQuery) masked(s, bias *Tensor) *Tensor {
	if bias != nil {
		s = g.c.plus(s, bias)
	}
	p := g.c.Temp(s.Elem, s.Dims)
	heads, n, t := s.Dims[1], s.Dims[2], s.Dims[3]
	for i := range s.Len() / max(t, 1) {
		b, h, at := i/(heads*n), i/n%heads, i%n
		own := g.past[b] + at
		hi := min(g.total[b], t)
		if g.causal {
			hi = min(own+1, hi)
		}
		lo := 0
		if g.window > 0 {
			lo = min(max(0, own-g.window+1), hi)
		}
		row := slices.Clone(s.F[i*t+lo : i*t+hi])
		if g.sinks != nil {
			row = append(row, float32(g.sinks[h]))
		}
		softmaxRows(g.soft, row, row, len(row), false)
		copy(p.F[i*t+lo:i*t+hi], row)
	}
	return p
}
