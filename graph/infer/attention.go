package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func attentionOps() map[string]operator {
	return map[string]operator{
		"Attention": attention, "ai.onnx.preview.FlexAttention": flexAttention, "RotaryEmbedding": sameShape,
		"LinearAttention": linearAttention,
	}
}

// heads are the four sizes of a query, key or value.
type heads struct{ batch, count, length, width graph.Dim }

// headsOf reads a tensor [batch, heads, length, width] or, of rank 3, [batch, length, heads·width].
func (c *ctx) headsOf(i int, count graph.Dim) heads {
	s := c.shape(i)
	switch len(s) {
	case 4:
		return heads{s[0], s[1], s[2], s[3]}
	case 3:
		width := c.fresh()
		if count.Known() && count.N > 0 {
			width = c.dim(c.floorDivNum(c.num(s[2]), count.N))
		}
		return heads{s[0], count, s[1], width}
	}
	return heads{c.fresh(), count, c.fresh(), c.fresh()}
}

// attrDim is an attribute that counts something, fresh where it is left out.
func (c *ctx) attrDim(name string) graph.Dim {
	if n := c.n.Int(name, 0); n > 0 {
		return graph.Dim{N: n}
	}
	return c.fresh()
}

// attention yields the mix of values, the caches with the new keys and values appended, and the scores.
func attention(c *ctx) error {
	for i := range 3 {
		if err := c.wantRank(i, 3, 4); err != nil {
			return err
		}
	}
	kv := c.attrDim("kv_num_heads")
	q, k, v := c.headsOf(0, c.attrDim("q_num_heads")), c.headsOf(1, kv), c.headsOf(2, kv)
	switch c.rank(0) {
	case 4:
		c.set(0, graph.Shape{q.batch, q.count, q.length, v.width})
	case 3:
		c.set(0, graph.Shape{q.batch, q.length, c.dim(mulNum(c.num(q.count), c.num(v.width)))})
	}
	total := k.length
	if past := c.shape(4); len(past) == 4 {
		total = c.dim(addNum(c.num(past[2]), c.num(k.length)))
	}
	c.set(1, graph.Shape{q.batch, k.count, total, k.width})
	c.set(2, graph.Shape{q.batch, v.count, total, v.width})
	c.set(3, graph.Shape{q.batch, q.count, q.length, total})
	return nil
}

// flexAttention calls its graphs with scores and probabilities; they declare themselves what they take.
func flexAttention(c *ctx) error {
	q, v := c.shape(0), c.shape(2)
	if len(q) == 4 && len(v) == 4 {
		out := slices.Clone(q)
		out[3] = v[3]
		c.set(0, out)
	}
	return c.bodies()
}

// linearAttention has packed heads [batch, length, heads·width] and a state [batch, heads, key width, value width].
func linearAttention(c *ctx) error {
	q, v := c.shape(0), c.shape(2)
	past := c.shape(3)
	if !c.has(3) { // the type of the state is that of the past, or left to the kernel
		c.elem(1, c.in(0).Elem)
	}
	c.set(1, past)
	if len(q) != 3 || len(v) != 3 {
		return nil
	}
	kv := c.attrDim("kv_num_heads")
	heads := c.attrDim("q_num_heads")
	width := c.fresh()
	if kv.Known() {
		width = c.dim(c.floorDivNum(c.num(v[2]), kv.N))
	}
	if heads.Known() && kv.Known() {
		heads.N = max(heads.N, kv.N)
	}
	c.set(0, graph.Shape{q[0], q[1], c.dim(mulNum(c.num(heads), c.num(width)))})
	if k := c.shape(1); past == nil && len(k) == 3 && kv.Known() {
		c.set(1, graph.Shape{q[0], kv, c.dim(c.floorDivNum(c.num(k[2]), kv.N)), width})
	}
	return nil
}
