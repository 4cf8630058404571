package rangeprop

import "math"

func attentionOps() map[string]op {
	return map[string]op{
		"Attention": {f: attentionOp, ulps: 8}, "RotaryEmbedding": approx(rotaryOp), "ai.onnx.preview.FlexAttention": {f: flexAttentionOp, ulps: 8},
		"com.microsoft.RotaryEmbedding": approx(rotaryOp), "com.microsoft.MultiHeadAttention": {f: multiHeadOp, ulps: 8},
		"com.microsoft.GroupQueryAttention": {f: groupQueryOp, ulps: 8}, "com.microsoft.Attention": {f: fusedAttentionOp, ulps: 8},
		"com.microsoft.PackedMultiHeadAttention": {f: packedOp, ulps: 8}, "com.microsoft.DecoderMaskedMultiHeadAttention": {f: multiHeadOp, ulps: 8},
		"com.microsoft.LinearAttention": {f: linearAttentionOp},
		"LinearAttention":               {f: linearAttentionOp},
	}
}

// attended bounds a mean of values under softmax weights: their hull. Rows that are masked wholly
// may come out as 0, so 0 is in it where there is a mask; kernels scale by a sum within a few u of 1.
func (c *call) attended(v *Val, masked bool, logits ...*Val) *Val {
	y := v.flat()
	if masked {
		y = joined(y, scalar(Range{}))
	}
	y = y.clone()
	m := y.Hull().MaxAbs()
	if !math.IsInf(m, 0) {
		y = y.widen(16 * accumUnit * m)
	}
	y.integer = false
	for _, x := range logits {
		if x != nil {
			y.nan = y.nan || x.nan || x.special()
		}
	}
	return y
}

// logitsOf bounds q·k·scale over a head.
func (c *call) logitsOf(q, k *Val, head, scale float64) *Val {
	s := times(q.flat(), k.flat())
	return map1flags(s, func(x Range) Range {
		m := product(x.MaxAbs(), head) * math.Abs(scale)
		return Range{-m, m}
	})
}

// attentionOp is the standard's operator: query, key and value with or without heads, masks and
// a past that is put in front of keys and values.
func attentionOp(c *call) []*Val {
	q, k, v := c.x(0), c.x(1).flat(), c.x(2).flat()
	if c.has(4) {
		k = joined(k, c.in[4].flat())
	}
	if c.has(5) {
		v = joined(v, c.in[5].flat())
	}
	head := c.headSize()
	scale := 1 / math.Sqrt(head)
	if a := c.n.Attr("scale"); a != nil {
		scale = float64(a.F)
	}
	s := c.logitsOf(q, k, head, scale)
	if cap := float64(c.n.Float("softcap", 0)); cap > 0 {
		s = map1flags(s, func(x Range) Range { return x.meet(Range{-cap, cap}) })
	}
	masked := c.has(3) || c.n.Int("is_causal", 0) != 0 || c.has(6)
	if c.has(3) && c.n.In(3).Type.Elem.IsFloat() && c.n.Int("qk_matmul_output_mode", 0) != 0 {
		s = plus(s, c.in[3].flat())
	}
	y := c.attended(v, masked, q, k)
	y.nan = y.nan || c.has(3) && c.in[3].posInf || masked
	if mode := c.n.Int("qk_matmul_output_mode", 0); masked && mode != 0 {
		s.negInf = true
		s = s.with(nil, []float64{math.Inf(-1)}, []float64{s.Hull().Hi})
	}
	if c.n.Int("qk_matmul_output_mode", 0) == 3 {
		s = scalar(maybe)
		s.nan = y.nan
	}
	return []*Val{y, k, v, s}
}

// headSize is the size of a head: the last dimension, divided by the number of heads where the
// heads are not an axis of their own.
func (c *call) headSize() float64 {
	rank := c.rank(0)
	if rank < 3 {
		return math.Inf(1)
	}
	_, n := c.dim(0, rank-1)
	if n < 0 {
		return math.Inf(1)
	}
	if rank == 3 {
		return float64(n) / float64(max(c.n.Int("q_num_heads", c.n.Int("num_heads", 1)), 1))
	}
	return float64(n)
}

// flexAttentionOp modifies scores by a subgraph that is not followed: the weights stay a softmax.
func flexAttentionOp(c *call) []*Val {
	y := c.attended(c.x(2), true, c.x(0), c.x(1))
	y.nan = true
	return []*Val{y}
}

// rotaryOp turns pairs of elements by angles given as tables of cosine and sine; their norm grows
// by the greatest √(cos² + sin²).
func rotaryOp(c *call) *Val {
	x := c.x(0).flat()
	cos, sin := c.x(1), c.x(2)
	if c.n.Domain != "" {
		cos, sin = c.x(2), c.x(3)
	}
	turn := zip(map1(cos, absolute), map1(sin, absolute), add) // both tables are read at the same places
	m := product(x.Hull().MaxAbs(), turn.Hull().Hi)
	v := scalar(Range{-m, m})
	v.rest(x)
	v.rest(cos)
	v.rest(sin)
	v.nan = x.nan || x.special() || cos.nan || sin.nan
	return joined(v, x)
}

// multiHeadOp has queries, keys and values apart, or packed into the first input.
func multiHeadOp(c *call) []*Val {
	k, v := c.given(1), c.given(2)
	if k == nil {
		k = c.x(0)
	}
	if v == nil {
		v = k
	}
	q := c.x(0)
	if c.has(3) {
		q, k, v = plus(q.flat(), c.in[3].flat()), plus(k.flat(), c.in[3].flat()), plus(v.flat(), c.in[3].flat())
	}
	if c.has(6) {
		k = joined(k.flat(), c.in[6].flat())
	}
	if c.has(7) {
		v = joined(v.flat(), c.in[7].flat())
	}
	y := c.attended(v, c.has(4) || c.has(5) || c.n.Int("unidirectional", 0) != 0, q, k)
	return []*Val{y, k.flat(), v.flat(), anyOf(c)}
}

// groupQueryOp shares keys and values between heads; keys may be turned by a rotary embedding.
func groupQueryOp(c *call) []*Val {
	k, v := c.given(1), c.given(2)
	if k == nil {
		k = c.x(0)
	}
	if v == nil {
		v = k
	}
	k, v = k.flat(), v.flat()
	if c.n.Int("do_rotary", 0) != 0 && c.has(7) && c.has(8) {
		m := product(k.Hull().MaxAbs(), c.in[7].Hull().MaxAbs()+c.in[8].Hull().MaxAbs())
		k = joined(k, scalar(Range{-m, m}))
	}
	if c.has(3) {
		k = joined(k, c.in[3].flat())
	}
	if c.has(4) {
		v = joined(v, c.in[4].flat())
	}
	return []*Val{c.attended(v, true, c.x(0), k), joined(k, scalar(Range{})), joined(v, scalar(Range{})), anyOf(c)}
}

// fusedAttentionOp projects its input to queries, keys and values by one matrix.
func fusedAttentionOp(c *call) []*Val {
	qkv := c.matmul(c.operand(0, false), c.operand(1, false))
	if c.has(2) {
		qkv = plus(qkv, c.in[2])
	}
	v := qkv.thirds()
	present := qkv.flat()
	if c.has(4) {
		present = joined(present, c.in[4].flat())
		v = joined(v, c.in[4].flat())
	}
	y := c.attended(v, c.has(3) || c.has(5) || c.n.Int("unidirectional", 0) != 0, qkv)
	return []*Val{y, present}
}

// thirds returns the last third of the channels, the values of a packed projection.
func (v *Val) thirds() *Val {
	n := len(v.dims)
	if n == 0 || v.dims[n-1]%3 != 0 {
		return v.flat()
	}
	return v.pick(n-1, seq(v.dims[n-1]/3*2, v.dims[n-1])).flat()
}

func packedOp(c *call) []*Val { return multiHeadOp(c) }

// linearAttentionOp follows the recurrence of the state, step by step, by its magnitude: it fades by
// the exponential of the decay and learns k·v, or k·β·(v - k·state) under the delta rules.
func linearAttentionOp(c *call) []*Val {
	size := func(i int, def float64) float64 {
		if !c.has(i) {
			return def
		}
		return c.x(i).Hull().MaxAbs()
	}
	_, steps := c.dim(0, 1)
	_, width := c.dim(0, 2)
	heads := c.n.Int("q_num_heads", 0)
	if steps < 0 || steps > 1<<14 || width < 0 || heads < 1 {
		return []*Val{anyOf(c), anyOf(c)}
	}
	dk := float64(width) / float64(heads)
	scale := math.Abs(float64(c.n.Float("scale", 0)))
	if scale == 0 {
		scale = 1 / math.Sqrt(dk)
	}
	k, v, state, fade := size(1, 0), size(2, 0), size(3, 0), 1.0
	if c.has(4) {
		fade = math.Exp(c.x(4).Hull().Hi)
	}
	slack := 1 + (dk+8)*4*math.Max(c.p.unit(c.n.Out(0)), accumUnit)
	most := 0.0
	for range steps {
		state = product(state, fade) * slack
		learned := v
		if c.has(5) {
			learned = product(size(5, 0), v+product(dk*k, state)) * slack
		}
		state = (state + product(k, learned)) * slack
		most = math.Max(most, state)
	}
	y := product(scale*dk, product(size(0, 0), most)) * slack
	if math.IsInf(y, 0) || math.IsInf(state, 0) || math.IsNaN(y) {
		return []*Val{anyOf(c), anyOf(c)}
	}
	return []*Val{c.within(Range{-y, y}), c.within(Range{-state, state})}
}
