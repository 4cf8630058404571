package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func contribAttentionOps() map[string]operator {
	return map[string]operator{
		"com.microsoft.Attention": packedInput, "com.microsoft.MultiHeadAttention": multiHead,
		"com.microsoft.GroupQueryAttention": groupQuery, "com.microsoft.RotaryEmbedding": sameShape,
		"com.microsoft.LinearAttention": linearAttention,
	}
}

// packedInput projects one input to query, key and value. The cache is [2, batch, heads, length, width].
func packedInput(c *ctx) error {
	s, w := c.shape(0), c.shape(1)
	if err := c.wantRank(0, 3); err != nil {
		return err
	}
	if s == nil {
		return nil
	}
	hidden := c.fresh()
	if sizes := c.n.Ints("qkv_hidden_sizes"); len(sizes) == 3 {
		hidden = graph.Dim{N: sizes[2]}
	} else if len(w) == 2 {
		hidden = c.dim(c.floorDivNum(c.num(w[1]), 3))
	}
	c.set(0, graph.Shape{s[0], s[1], hidden})
	heads := c.attrDim("num_heads")
	width := c.fresh()
	if heads.Known() {
		width = c.dim(c.floorDivNum(c.num(hidden), heads.N))
	}
	past := 4
	if c.n.Op == "QAttention" {
		past = 8
	}
	total := s[1]
	if p := c.shape(past); len(p) == 5 {
		total = c.dim(addNum(c.num(p[3]), c.num(s[1])))
		if c.n.Int("past_present_share_buffer", 0) != 0 {
			total = p[3]
		}
	}
	c.set(1, graph.Shape{{N: 2}, s[0], heads, total, width})
	return nil
}

// multiHead takes query, key and value apart, packed as [batch, length, heads, 3, width], or key and value of a
// cross attention as [batch, heads, length, width].
func multiHead(c *ctx) error {
	q, k, v := c.shape(0), c.shape(1), c.shape(2)
	heads := c.attrDim("num_heads")
	switch {
	case len(q) == 5:
		c.set(0, graph.Shape{q[0], q[1], c.dim(mulNum(c.num(q[2]), c.num(q[4])))})
		return nil
	case len(q) != 3:
		return c.wantRank(0, 3, 5)
	}
	hidden, length, width := q[2], q[1], c.fresh()
	if heads.Known() {
		width = c.dim(c.floorDivNum(c.num(q[2]), heads.N))
	}
	vWidth := width
	switch {
	case len(k) == 5:
		length = k[1]
	case len(v) == 3:
		hidden, length = v[2], v[1]
		if heads.Known() {
			vWidth = c.dim(c.floorDivNum(c.num(v[2]), heads.N))
		}
	case len(v) == 4:
		hidden, length, vWidth = c.dim(mulNum(c.num(v[1]), c.num(v[3]))), v[2], v[3]
	}
	c.set(0, graph.Shape{q[0], q[1], hidden})
	total := c.appended(c.shape(c.pastInput()), length)
	c.set(1, graph.Shape{q[0], heads, total, width})
	c.set(2, graph.Shape{q[0], heads, total, vWidth})
	c.set(3, graph.Shape{q[0], heads, q[1], total})
	return nil
}

// pastInput is the position of the cache of keys.
func (c *ctx) pastInput() int {
	switch c.n.Op {
	case "MultiHeadAttention":
		return 6
	case "DecoderMaskedMultiHeadAttention":
		return 5
	}
	return 3
}

// appended is the length of a cache [batch, heads, length, width] after new entries; a shared buffer keeps its own.
func (c *ctx) appended(past graph.Shape, length graph.Dim) graph.Dim {
	if len(past) != 4 {
		return length
	}
	if c.n.Int("past_present_share_buffer", 0) != 0 {
		return past[2]
	}
	return c.dim(addNum(c.num(past[2]), c.num(length)))
}

// groupQuery has fewer heads for keys and values than for queries, and may pack all three in the query.
func groupQuery(c *ctx) error {
	q := c.shape(0)
	if err := c.wantRank(0, 3); err != nil {
		return err
	}
	if q == nil {
		return nil
	}
	heads, kv := c.n.Int("num_heads", 0), c.n.Int("kv_num_heads", 0)
	if heads <= 0 || kv <= 0 || heads > 1<<20 || kv > 1<<20 {
		return c.errorf("%d heads and %d heads of keys", heads, kv)
	}
	width := c.floorDivNum(c.num(q[2]), heads)
	if !c.has(1) {
		width = c.floorDivNum(c.num(q[2]), heads+2*kv)
	}
	c.set(0, graph.Shape{q[0], q[1], c.dim(mulNum(width, intNum(heads)))})
	total := c.fresh() // the longer of the cache and the total length, an input
	if n := c.scalar(6); n.k == numInt {
		total = c.dim(n)
		if past := c.shape(3); len(past) == 4 {
			total = c.dim(c.maxNum(n, c.num(past[2])))
		}
	}
	if !c.has(3) {
		c.elem(1, c.in(0).Elem)
		c.elem(2, c.in(0).Elem)
	}
	cache := graph.Shape{q[0], {N: kv}, total, c.dim(width)}
	c.set(1, cache)
	c.set(2, slices.Clone(cache))
	c.set(3, graph.Shape{q[0], {N: heads}, q[1], total})
	return nil
}

func packedTokens(c *ctx) error {
	s, w := c.shape(0), c.shape(1)
	hidden := c.fresh()
	if sizes := c.n.Ints("qkv_hidden_sizes"); len(sizes) == 3 {
		hidden = graph.Dim{N: sizes[2]}
	} else if len(w) == 2 {
		hidden = c.dim(c.floorDivNum(c.num(w[1]), 3))
	}
	if len(s) == 2 {
		c.set(0, graph.Shape{s[0], hidden})
	}
	return nil
}

// packedHeads has tokens [tokens, hidden] or [tokens, heads, 3, width].
func packedHeads(c *ctx) error {
	q, v := c.shape(0), c.shape(2)
	switch {
	case len(q) == 4:
		c.set(0, graph.Shape{q[0], c.dim(mulNum(c.num(q[1]), c.num(q[3])))})
	case len(q) == 2 && len(v) == 2:
		c.set(0, graph.Shape{q[0], v[1]})
	}
	return nil
}

func decoderAttention(c *ctx) error {
	s := c.shape(0)
	c.set(0, s)
	if len(s) != 3 {
		return nil
	}
	heads := c.attrDim("num_heads")
	width := c.fresh()
	if heads.Known() {
		width = c.dim(c.floorDivNum(c.num(s[2]), heads.N))
	}
	c.set(1, graph.Shape{s[1], heads, c.fresh(), width})
	c.set(2, graph.Shape{s[1], heads, c.fresh(), width})
	return nil
}

func pagedAttention(c *ctx) error {
	s := slices.Clone(c.shape(0))
	heads, kv := c.n.Int("num_heads", 0), c.n.Int("kv_num_heads", 0)
	if len(s) > 0 && !c.has(1) {
		last := len(s) - 1
		s[last] = c.fresh()
		if heads > 0 && kv > 0 && heads < 1<<20 && kv < 1<<20 {
			width := c.floorDivNum(c.num(c.shape(0)[last]), heads+2*kv)
			s[last] = c.dim(mulNum(width, intNum(heads)))
		}
	}
	c.set(0, s)
	c.set(1, c.shape(3))
	c.set(2, c.shape(4))
	return nil
}

// positionBias is one matrix a head, from a table [buckets, heads].
func positionBias(c *ctx) error {
	heads := c.fresh()
	if t := c.shape(0); len(t) == 2 {
		heads = t[1]
	}
	c.set(0, graph.Shape{{N: 1}, heads, c.dim(c.scalar(1)), c.dim(c.scalar(2))})
	return nil
}

func gatedPositionBias(c *ctx) error {
	s := c.shape(0)
	if len(s) == 3 {
		c.set(0, graph.Shape{s[0], c.attrDim("num_heads"), s[1], s[1]})
	}
	return nil
}

func gemmaRotary(c *ctx) error {
	c.set(0, c.shape(1))
	c.set(1, c.shape(3))
	return nil
}
