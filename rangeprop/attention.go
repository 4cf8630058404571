package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

func attentionOps() map[string]op {
	return map[string]op{
		"Attention": {f: attentionOp, ulps: 8}, "RotaryEmbedding": approx(rotaryOp), "ai.onnx.preview.FlexAttention": {f: flexAttentionOp, ulps: 8},
		"com.microsoft.RotaryEmbedding": approx(rotaryOp), "com.microsoft.MultiHeadAttention": {f: multiHeadOp, ulps: 8},
		"com.microsoft.GroupQueryAttention": {f: groupQueryOp, ulps: 8}, "com.microsoft.Attention": {f: fusedAttentionOp, ulps: 8},
		"com.microsoft.LinearAttention": {f: linearAttentionOp},
		"LinearAttention":               {f: linearAttentionOp},
	}
}

// attended bounds a mean of values under softmax weights: their hull. Rows that are masked wholly
// may come out as 0, so 0 is in it where there is a mask; kernels scale by a sum within a few u of 1.
func (c *call) attended(y *Val, masked bool, logits ...*Val) *Val {
	if masked {
		y = joined(y, scalar(Range{}))
	}
	y = y.clone().plain()
	y.nan = y.nan || y.special() // a weight may be 0
	loss := 16*accumUnit + c.chained(seq(0, len(c.in))...)
	y = map1flags(y, func(r Range) Range {
		e := loss * finiteOr0(r.MaxAbs())
		return Range{r.Lo - e, r.Hi + e}
	})
	y.integer, y.tiny = false, 0
	for _, x := range logits {
		if x != nil {
			y.nan = y.nan || x.nan || x.special()
		}
	}
	return y
}

// values joins what input i holds along its sequence. Heads stay apart where each of the queries' has its
// own, and so do their channels.
func (c *call) values(i int, heads, shared int64) *Val {
	v, rank := c.x(i), c.rank(i)
	own := heads > 0 && heads == shared
	if len(v.dims) == 0 || rank != 4 && (rank != 3 || !own) {
		return v.flat()
	}
	v = v.with(pad(v.dims, rank), v.lo, v.hi).joinAxis(rank - 2)
	if !own {
		v = v.joinAxis(1)
	}
	return v
}

// headCounts returns how many heads the queries have, and the keys; 0 where that is not known.
func (c *call) headCounts() (queries, keys int64) {
	if c.rank(0) == 3 {
		n := c.n.Int("q_num_heads", c.n.Int("num_heads", 0))
		return n, c.n.Int("kv_num_heads", n)
	}
	lo, queries := c.dim(0, 1)
	lo2, keys := c.dim(1, 1)
	if lo != queries || lo2 != keys {
		return 0, 0
	}
	return queries, keys
}

// scores bounds q·k·scale over a head. Late ones are scaled once they are summed. What overflows on
// the way, in the type of the queries, makes their softmax NaN.
func (c *call) scores(q, k *Val, head, scale float64, late bool) *Val {
	s := times(q.flat(), k.flat())
	limit := c.heldLimit()
	scale = math.Abs(scale)
	v := map1flags(s, func(x Range) Range {
		m := product(x.MaxAbs(), head)
		if !late {
			m = product(m, scale)
		}
		if m > limit {
			m = math.Inf(1)
		}
		if late {
			m = product(m, scale)
		}
		return Range{-m, m}
	}).torn()
	v.integer = false
	v.infinities()
	return v
}

// attentionOp is the standard's operator: query, key and value with or without heads, masks and
// a past that is put in front of keys and values.
func attentionOp(c *call) []*Val {
	q, k, v := c.x(0), c.x(1).flat(), c.x(2).flat()
	heads, shared := c.headCounts()
	each := c.values(2, heads, shared)
	if c.has(4) {
		k = joined(k, c.in[4].flat())
	}
	if c.has(5) {
		v = joined(v, c.in[5].flat())
		each = v
	}
	head := c.headSize()
	scale := 1.0
	if !math.IsInf(head, 1) { // of heads of any size the scores have any size
		scale = 1 / math.Sqrt(head)
	}
	if a := c.n.Attr("scale"); a != nil {
		scale = float64(a.F)
	}
	raw := c.scores(q, k, head, scale, false)
	capped := raw
	if cap := float64(c.n.Float("softcap", 0)); cap > 0 {
		capped = map1flags(raw, func(x Range) Range { return x.meet(Range{-cap, cap}) })
		capped.posInf, capped.negInf = false, false
	}
	biased := c.masked(capped)
	masked := c.has(3) || c.hides()
	y := c.attended(each, masked || biased.negInf, q, k, raw)
	raw.nan = raw.nan || scale < 0 // queries and keys are scaled by the root of it each
	y.nan = y.nan || masked || biased.nan || biased.posInf || raw.nan
	shown := raw
	switch c.n.Int("qk_matmul_output_mode", 0) {
	case 1, 2: // the two opsets number these in another order
		shown = joined(capped, biased)
	case 3:
		shown = scalar(maybe)
		shown.rest(raw)
		shown.nan = y.nan
	}
	return []*Val{y, k, v, shown}
}

// hides tells whether some queries of an Attention do not see some keys, whatever its mask holds.
func (c *call) hides() bool {
	return c.n.Int("is_causal", 0) != 0 || c.n.Int("left_window_size", -1) >= 0 || c.n.Int("right_window_size", -1) >= 0 || c.has(6)
}

// masked adds to scores what hides keys: the mask, and -Inf for a condition that is false, for what
// is not seen and behind the end of a mask that is shorter than the keys.
func (c *call) masked(s *Val) *Val {
	hidden := c.hides()
	if c.has(3) {
		if m := c.in[3].flat(); c.n.In(3).Type.Elem.IsFloat() {
			s = c.mid(plus(s, m))
		} else {
			hidden = true
		}
		n := c.shape(3)
		hidden = hidden || len(n) == 0 || !n[len(n)-1].Known() || n[len(n)-1].N != c.keys()
	}
	if !hidden {
		return s
	}
	w := s.with(nil, []float64{math.Inf(-1)}, []float64{s.Hull().Hi})
	w.negInf = true
	return w
}

// keys is the number of keys with those of the past, -1 where it is not known.
func (c *call) keys() int64 {
	axis := 1
	if c.rank(1) == 4 {
		axis = 2
	}
	lo, n := c.dim(1, axis)
	if lo != n {
		return -1
	}
	if c.has(4) {
		lo, past := c.dim(4, 2)
		if lo != past {
			return -1
		}
		n += past
	}
	return n
}

// headSize is the size of a head: the last dimension, divided by the number of heads where the
// heads are not an axis of their own.
func (c *call) headSize() float64 {
	rank := c.rank(0)
	if rank < 2 {
		return math.Inf(1)
	}
	_, n := c.dim(0, rank-1)
	if n < 0 {
		return math.Inf(1)
	}
	if rank <= 3 {
		return float64(n) / float64(max(c.n.Int("q_num_heads", c.n.Int("num_heads", 1)), 1))
	}
	return float64(n)
}

// flexAttentionOp modifies scores, and weights, by subgraphs. What is made of the scores is not
// followed, their softmax stays one; what is made of the weights is.
func flexAttentionOp(c *call) []*Val {
	y := c.attended(c.values(2, 0, 0), true, c.x(0), c.x(1))
	if g := c.n.Body("prob_mod"); g != nil {
		y = c.reweighted(g)
	}
	y.nan = true
	return []*Val{y}
}

// reweighted is a sum of values under softmax weights that a graph changed: their mean where they
// still sum to no more than 1, else at most as many products as there are keys.
func (c *call) reweighted(g *graph.Graph) *Val {
	if len(g.Inputs) != 1 {
		return anyOf(c)
	}
	p := scalar(maybe)
	p.shares, p.nan = simplex{axis: 1}, true
	c.p.vals[g.Inputs[0]] = p
	c.p.run(g)
	w, v := c.p.output(g, 0), c.x(2).flat()
	_, keys := c.dim(1, 2)
	if w == nil || keys < 0 {
		return anyOf(c)
	}
	t, n := times(w.flat(), v), float64(keys)
	terms := t.Hull()
	y := c.summed(map1flags(t, func(r Range) Range { return mul(r, Range{n, n}) }), terms, n, product(n, terms.MaxAbs()))
	if w.shares.axis == 1 {
		y = y.meet(w.shares.mean(v, 2, n, c.p.unit(c.n.Out(0))))
	}
	y.integer, y.tiny = false, 0
	return y
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
	v := c.mid(scalar(Range{-m, m})).torn()
	v.rest(x)
	v.rest(cos)
	v.rest(sin)
	v.nan = v.nan || x.nan || x.special() || cos.nan || sin.nan || cos.special() || sin.special()
	w := joined(v, x)
	w.integer, w.tiny = false, 0
	return w
}

// projected returns queries, keys and values, which are apart or packed into the first input, with the
// bias that input 3 adds to them.
func (c *call) projected() (q, k, v *Val) {
	q, k, v = c.x(0), c.given(1), c.given(2)
	if k == nil {
		k = q
	}
	if v == nil {
		v = k
	}
	if !c.has(3) {
		return q, k, v
	}
	bias := c.in[3].flat()
	return plus(q.flat(), bias), plus(k.flat(), bias), plus(v.flat(), bias)
}

// multiHeadOp has queries, keys and values apart, or packed into the first input.
func multiHeadOp(c *call) []*Val {
	q, k, v := c.projected()
	if c.has(6) {
		k = joined(k.flat(), c.in[6].flat())
	}
	if c.has(7) {
		v = joined(v.flat(), c.in[7].flat())
	}
	logits := c.scores(q, k, c.headSize(), c.givenScale(), true)
	if c.has(5) {
		logits = c.mid(plus(logits, c.in[5].flat()))
	}
	each := v.flat()
	if heads, _ := c.headCounts(); c.rank(2) == 3 && v == c.given(2) {
		each = c.values(2, heads, heads)
	}
	y := c.attended(each, c.has(4) || c.has(5) || c.n.Int("unidirectional", 0) != 0, q, k, logits)
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
	q, k, v := c.x(0).flat(), k.flat(), v.flat()
	if c.n.Int("do_rotary", 0) != 0 && c.has(7) && c.has(8) {
		q, k = c.turned(q), c.turned(k)
	}
	if c.has(3) {
		k = joined(k, c.in[3].flat())
	}
	if c.has(4) {
		v = joined(v, c.in[4].flat())
	}
	logits := c.scores(q, k, c.headSize(), c.givenScale(), true)
	for _, i := range []int{10, 11} { // a bias, and what the sum of the softmax gets besides
		if c.has(i) {
			logits = c.mid(plus(logits, c.in[i].flat()))
		}
	}
	return []*Val{c.attended(v, true, q, k, logits), joined(k, scalar(Range{})), joined(v, scalar(Range{})), anyOf(c)}
}

// turned bounds what a rotary embedding by the tables 7 and 8 makes of queries or keys.
func (c *call) turned(x *Val) *Val {
	cos, sin := c.in[7], c.in[8]
	m := product(x.Hull().MaxAbs(), cos.Hull().MaxAbs()+sin.Hull().MaxAbs())
	v := joined(x, c.mid(scalar(Range{-m, m})).torn())
	v.nan = v.nan || x.special() || cos.nan || sin.nan || cos.special() || sin.special()
	v.integer, v.tiny = false, 0
	return v
}

// givenScale is the scale of scores where a node sets it. Without one it is at most 1.
func (c *call) givenScale() float64 {
	if s := float64(c.n.Float("scale", 0)); s != 0 {
		return s
	}
	return 1
}

// fusedAttentionOp projects its input to queries, keys and values by one matrix.
func fusedAttentionOp(c *call) []*Val {
	qkv := c.matmul(c.operand(0, false), c.operand(1, false))
	if c.has(2) {
		qkv = c.mid(plus(c.mid(qkv), c.in[2]))
	}
	v := qkv.thirds()
	present := qkv.flat()
	if c.has(4) {
		present = joined(present, c.in[4].flat())
		v = joined(v, c.in[4].flat())
	}
	qkv = c.mid(qkv)
	logits := c.scores(present, present, c.headSize(), c.givenScale(), true)
	if c.has(5) {
		logits = c.mid(plus(logits, c.in[5].flat()))
	}
	y := c.attended(v.flat(), c.has(3) || c.has(5) || c.n.Int("unidirectional", 0) != 0, qkv, present, logits)
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

// packedOp is multiHeadOp without padding: inputs 4 and 5 say where sequences begin, 6 is added to the
// scores, and there is no past.
func packedOp(c *call) []*Val {
	q, k, v := c.projected()
	logits := c.scores(q, k, c.headSize(), c.givenScale(), true)
	if c.has(6) {
		logits = c.mid(plus(logits, c.in[6].flat()))
	}
	return []*Val{c.attended(v.flat(), true, q, k, logits)}
}

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
	for _, in := range c.in {
		if in != nil && (in.nan || in.special()) {
			return []*Val{anyOf(c), anyOf(c)}
		}
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
	if limit := c.accumLimit(); !(y <= limit && state <= limit && most <= limit) {
		return []*Val{anyOf(c), anyOf(c)}
	}
	return []*Val{c.within(Range{-y, y}), c.within(Range{-state, state})}
}
