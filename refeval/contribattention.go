package refeval

import (
	"math"
	"slices"
)

func contribAttentionOps() []entry {
	return []entry{
		op("com.microsoft.Attention", contribAttention),
		op("com.microsoft.GroupQueryAttention", groupQueryAttention),
		op("com.microsoft.LinearAttention", linearAttention),
		op("com.microsoft.MultiHeadAttention", multiHeadAttention),
		op("com.microsoft.RotaryEmbedding", contribRotary),
	}
}

// finish evaluates an attention whose operands and bias are set, and returns the result with its
// heads joined.
func (a *attention) finish() *Tensor {
	a.late = true
	s := a.biased(a.cap(a.scores()))
	p := a.c.Clone(s)
	if n := s.Dims[3]; n > 0 && p.F != nil {
		softmaxRows(a.soft, p.F, s.F, n, false)
	}
	return a.c.joined(a.mix(p))
}

// contribAttention multiplies its input by the weights of queries, keys and values side by side.
func contribAttention(c *Call) error {
	x, w, heads := c.In(0), c.In(1), c.Int("num_heads")
	if x.Rank() != 3 || w.Rank() != 2 || x.F == nil {
		refuse("%s times %s", x, w)
	}
	all := c.matmul(x, w)
	if c.Has(2) {
		c.affine(all, nil, c.In(2))
	}
	sizes := c.Ints("qkv_hidden_sizes")
	if sizes == nil {
		sizes = []int{w.Dims[1] / 3, w.Dims[1] / 3, w.Dims[1] / 3}
	}
	parts := c.columnsOf(all, sizes)
	a := &attention{c: c, e: c.accum(), soft: c.accum()}
	a.q, a.k, a.v = c.headsOf(parts[0], heads), c.headsOf(parts[1], heads), c.headsOf(parts[2], heads)
	past := 0
	if p := c.In(4); p != nil {
		if p.Rank() != 5 || p.Dims[0] != 2 {
			refuse("a past %s", p)
		}
		past = p.Dims[3]
		a.k = c.appendPast(c.half(p, 0), a.k)
		a.v = c.appendPast(c.half(p, 1), a.v)
	}
	a.scale = c.FloatOr("scale", 0)
	if a.scale == 0 {
		a.scale = 1 / math.Sqrt(float64(a.q.Dims[3]))
	}
	a.bias = c.contribBias(a, c.In(3), c.In(5), past)
	c.Set(0, TensorValue(a.finish()))
	if slices.Equal(a.k.Dims, a.v.Dims) {
		present := c.Out(1, x.Elem, append([]int{2}, a.k.Dims...))
		copyRun(present, 0, a.k, 0, a.k.Len())
		copyRun(present, a.k.Len(), a.v, 0, a.v.Len())
	}
	return nil
}

// half returns one half of a tensor along its first axis of two.
func (c *Call) half(t *Tensor, i int) *Tensor {
	y := c.Temp(t.Elem, t.Dims[1:])
	copyRun(y, 0, t, i*y.Len(), y.Len())
	return y
}

// columnsOf cuts the last dimension into parts.
func (c *Call) columnsOf(t *Tensor, sizes []int) []*Tensor {
	from := whole(t)
	total := 0
	var parts []*Tensor
	for _, n := range sizes {
		if total += n; n < 0 || total > t.Dims[t.Rank()-1] {
			refuse("parts %v of %s", sizes, t)
		}
		dims := append(slices.Clone(t.Dims[:t.Rank()-1]), n)
		p := c.Temp(t.Elem, dims)
		copyBox(p, whole(p), t, from, dims)
		from.off += n
		parts = append(parts, p)
	}
	return parts
}

// contribBias returns the sum of a mask of integers, a bias, and what a query that looks back only
// does not see; nil for nothing.
func (c *Call) contribBias(a *attention, mask, bias *Tensor, past int) *Tensor {
	batch, _, _, s, t, _ := a.sizes()
	causal := c.Int("unidirectional") != 0
	if mask == nil && bias == nil && !causal {
		return nil
	}
	dims := []int{1, 1, s, t}
	if mask != nil {
		dims[0] = batch
	}
	y := c.Temp(a.q.Elem, dims)
	filter := c.FloatOr("mask_filter_value", -10000)
	for i := range y.Len() {
		at := unravel(i, dims)
		if causal && at[3] > at[2]+past || mask != nil && !seenKey(mask, at[0], at[2], at[3], batch, s, t) {
			y.put64(i, filter)
		}
	}
	if bias == nil {
		return y
	}
	return c.plus(y, bias)
}

// seenKey reads a mask of integers: lengths [batch], ends and starts [2*batch], or one number for
// each key, [batch, t], [batch, s, t] or [batch, 1, m, m].
func seenKey(mask *Tensor, b, i, j, batch, s, t int) bool {
	switch d := mask.Dims; {
	case len(d) == 1 && d[0] == batch:
		return int64(j) < mask.I[b]
	case len(d) == 1 && d[0] == 2*batch:
		return int64(j) < mask.I[b] && int64(j) >= mask.I[batch+b]
	case len(d) == 2 && d[0] == batch && d[1] == t:
		return mask.I[b*t+j] != 0
	case len(d) == 3 && d[0] == batch && d[1] == s && d[2] == t:
		return mask.I[(b*s+i)*t+j] != 0
	case len(d) == 4 && d[0] == batch && d[1] == 1 && d[2] >= t && d[3] >= t:
		return mask.I[(b*d[2]+t-s+i)*d[3]+j] != 0
	}
	refuse("a mask %s for a batch of %d, %d queries and %d keys", mask, batch, s, t)
	return false
}

// multiHeadAttention takes queries, keys and values apart, packed together, or keys and values as
// an encoder left them.
func multiHeadAttention(c *Call) error {
	a := &attention{c: c, e: c.accum(), soft: c.accum()}
	c.operands3(a, c.Int("num_heads"))
	past := 0
	if c.Has(6) {
		past = c.In(6).Dims[2]
		a.k, a.v = c.appendPast(c.In(6), a.k), c.appendPast(c.In(7), a.v)
	}
	if a.scale = c.FloatOr("scale", 0); a.scale == 0 {
		a.scale = 1 / math.Sqrt(float64(a.q.Dims[3]))
	}
	if a.q.F == nil {
		refuse("queries %s", a.q)
	}
	a.bias = c.contribBias(a, c.In(4), c.In(5), past)
	c.Set(0, TensorValue(a.finish()))
	c.Set(1, TensorValue(a.k))
	c.Set(2, TensorValue(a.v))
	if c.Wants(3) {
		a.late = true
		c.Set(3, TensorValue(a.biased(a.scores())))
	}
	return nil
}

// operands3 sets queries, keys and values of MultiHeadAttention from what forms they come in.
func (c *Call) operands3(a *attention, heads int) {
	q, k, v := c.In(0), c.In(1), c.In(2)
	switch {
	case q.Rank() == 5: // [batch, length, heads, 3, size]
		p := c.reordered(q, []int{3, 0, 1, 2, 4})
		q, k, v = c.third(p, 0), c.third(p, 1), c.third(p, 2)
	case k != nil && k.Rank() == 5: // [batch, length, heads, 2, size]
		p := c.reordered(k, []int{3, 0, 1, 2, 4})
		k, v = c.third(p, 0), c.third(p, 1)
	}
	if k == nil || v == nil || q.Rank() != 3 {
		refuse("queries %s without keys or values", q)
	}
	if b := c.In(3); b != nil {
		sizes := []int{q.Dims[2], q.Dims[2], b.Len() - 2*q.Dims[2]}
		parts := c.columnsOf(b.view([]int{b.Len()}), sizes)
		q = c.plus(q, parts[0])
		if k.Rank() == 3 {
			k, v = c.plus(k, parts[1]), c.plus(v, parts[2])
		}
	}
	a.q, a.k, a.v = c.headsOf(q, heads), c.headsOf(k, heads), c.headsOf(v, heads)
}

// third returns part i along the first axis with the heads of each row joined.
func (c *Call) third(t *Tensor, i int) *Tensor {
	y := c.half(t, i)
	return y.view([]int{y.Dims[0], y.Dims[1], y.Dims[2] * y.Dims[3]})
}

// contribRotary takes the positions before the caches, or only the first of them.
func contribRotary(c *Call) error {
	x, ids, cos, sin := c.In(0), c.In(1), c.In(2), c.In(3)
	heads := c.Int("num_heads")
	if heads == 0 && x.Rank() == 3 && cos.Rank() == 2 && cos.Dims[1] > 0 {
		heads = x.Dims[2] / (2 * cos.Dims[1])
	}
	r := ropeOf(x, heads)
	r.interleaved = c.Int("interleaved") != 0
	r.setCache(cos, sin, c.Int("rotary_embedding_dim"))
	list := ids.ints()
	r.row = func(b, s int) int {
		if len(list) == 1 {
			return index(int64(list[0]+s), cos.Dims[0])
		}
		return index(int64(list[b*r.length+s]), cos.Dims[0])
	}
	y := c.Clone(x)
	c.rotate(y, r)
	c.Set(0, TensorValue(y))
	return nil
}
