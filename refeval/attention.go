package refeval

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// attentionOps are the operators of attention layers.
func attentionOps() []entry {
	return []entry{
		op("Attention", attentionNode),
		op("LinearAttention", linearAttention),
		op("RotaryEmbedding", rotaryEmbedding),
		op("ai.onnx.preview.FlexAttention", flexAttention),
	}
}

// steps returns how the results on the way are rounded by operators that the standard defines by
// what goes on inside. Tensors of bfloat16 keep so few bits that the standard's own results show
// each step; its sums round each time too, which long rows would not survive, so that here blocks
// of them are added. All other types are rounded only where the options ask for it.
func (c *Call) steps(e graph.ElemType) accum {
	a := c.accum()
	if !a.low() && e == graph.BFloat16 {
		return accum{format: numfmt.BF16, block: blockLen}
	}
	return a
}

// attention is one evaluation of scaled products of queries and keys.
type attention struct {
	c       *Call
	e       accum   // of the steps
	soft    accum   // of the softmax
	q, k, v *Tensor // [batch, heads, length, size]; a group of query heads may share a key head
	bias    *Tensor // added to the scores, nil for none; its shape broadcasts to theirs
	scale   float64
	late    bool // the scores are scaled, not what they are products of
	softcap float64
}

// sizes returns the batch, the heads of the queries and the keys, both lengths and the size of a
// head.
func (a *attention) sizes() (batch, heads, groups, s, t, d int) {
	return a.q.Dims[0], a.q.Dims[1], a.k.Dims[1], a.q.Dims[2], a.k.Dims[2], a.q.Dims[3]
}

// check refuses operands that do not go together.
func (a *attention) check() {
	if sameType(a.q, a.k); a.q.Rank() != 4 || a.k.Rank() != 4 || a.v.Rank() != 4 || a.q.I != nil {
		refuse("queries %s, keys %s, values %s", a.q, a.k, a.v)
	}
	batch, heads, groups, _, t, d := a.sizes()
	if a.k.Dims[0] != batch || a.v.Dims[0] != batch || a.k.Dims[3] != d || a.v.Dims[1] != groups ||
		a.v.Dims[2] != t || groups == 0 || heads%groups != 0 {
		refuse("queries %s, keys %s, values %s", a.q, a.k, a.v)
	}
}

// scaled returns a copy of a tensor times the root of the scale, with the given layout.
func (a *attention) scaled(t *Tensor, dims []int, from layout) *Tensor {
	y := a.c.Temp(t.Elem, dims)
	copyBox(y, whole(y), t, from, dims)
	one := &Tensor{Elem: t.Elem, F: []float32{float32(math.Sqrt(a.scale))}}
	one.narrow()
	f := float64(a.e.round(one.F[0]))
	switch {
	case a.late:
		return y
	case t.D != nil:
		f = math.Sqrt(a.scale)
	}
	for i := range y.Len() {
		y.put64(i, y.at64(i)*f)
	}
	a.e.roundAll(y.F)
	return y
}

// scores returns the products of queries and keys, each scaled by the root of the scale so that
// half precision lasts longer.
func (a *attention) scores() *Tensor {
	a.check()
	batch, heads, groups, s, t, d := a.sizes()
	q := a.scaled(a.q, a.q.Dims, whole(a.q))
	turned := layout{strides: []int{groups * t * d, t * d, 1, d}}
	k := a.scaled(a.k, []int{batch, groups, d, t}, turned)
	y := a.c.forProduct(a.q.Elem, []int{batch, heads, s, t})
	a.c.multiply(y, q, k, a.heads(s*d, d*t), s, t, d)
	a.e.roundAll(y.F)
	if a.late {
		a.c.scale(y, a.scale)
	}
	return y
}

// heads lists where the matrices of each head of the queries begin, and of the head of the keys
// that goes with it.
func (a *attention) heads(mk, kn int) []places {
	batch, heads, groups, _, _, _ := a.sizes()
	list := make([]places, batch*heads)
	for i := range list {
		g := i/heads*groups + i%heads/(heads/groups)
		list[i] = places{i * mk, g * kn}
	}
	return list
}

// cap bends the scores so that none passes the softcap.
func (a *attention) cap(x *Tensor) *Tensor {
	if a.softcap == 0 {
		return x
	}
	y := a.c.Clone(x)
	for _, f := range []func(x float64) float64{
		func(x float64) float64 { return x / a.softcap }, math.Tanh,
		func(x float64) float64 { return x * a.softcap },
	} {
		for i := range y.Len() {
			y.put64(i, f(y.at64(i)))
		}
		a.e.roundAll(y.F)
	}
	return y
}

// biased adds the bias.
func (a *attention) biased(x *Tensor) *Tensor {
	if a.bias == nil {
		return x
	}
	if !slices.Equal(broadcast(x.Dims, a.bias.Dims), x.Dims) {
		refuse("a mask %v for scores %v", a.bias.Dims, x.Dims)
	}
	y := a.c.Clone(x)
	addition().into(a.c, y, y, a.bias)
	a.e.roundAll(y.F)
	return y
}

// probabilities returns the softmax of scores, in the given type. A row that is masked wholly, by
// its bias or by what the scores are, is zero.
func (a *attention) probabilities(x *Tensor, e graph.ElemType) *Tensor {
	y := a.c.Clone(a.c.as(x, e))
	n := x.Dims[3]
	if y.Len() == 0 {
		return y
	}
	var keep [4]int
	if a.bias != nil {
		copy(keep[:], spread(a.bias.Dims, x.Dims))
	}
	a.c.parallel(y.Len()/n, 16*n, func(lo, hi int) {
		if y.F != nil {
			softmaxRows(a.soft, y.F[lo*n:hi*n], y.F[lo*n:hi*n], n, false)
		} else {
			softmaxRows(a.soft, y.D[lo*n:hi*n], y.D[lo*n:hi*n], n, false)
		}
		for r := lo; r < hi; r++ {
			at := unravel(r, x.Dims[:3])
			if allMasked(x, r*n, n, 1) || a.bias != nil && allMasked(a.bias, at[0]*keep[0]+at[1]*keep[1]+at[2]*keep[2], n, keep[3]) {
				clearRun(y, r*n, n)
			}
		}
	})
	return y
}

// allMasked tells whether n elements a step apart are all -Inf.
func allMasked(t *Tensor, from, n, step int) bool {
	for i := range n {
		if !math.IsInf(t.at64(from+i*step), -1) {
			return false
		}
	}
	return true
}

func clearRun(t *Tensor, from, n int) {
	if t.F != nil {
		clear(t.F[from : from+n])
	} else {
		clear(t.D[from : from+n])
	}
}

// mix returns the sums of values weighted by probabilities, of the values' type.
func (a *attention) mix(p *Tensor) *Tensor {
	batch, heads, _, s, t, _ := a.sizes()
	v := a.c.as(a.v, p.Elem)
	d := v.Dims[3]
	y := a.c.forProduct(p.Elem, []int{batch, heads, s, d})
	a.c.multiply(y, p, v, a.heads(s*t, t*d), s, d, t)
	return y
}

// headsOf returns [batch, length, heads*size] as [batch, heads, length, size]; what has four
// dimensions already stays.
func (c *Call) headsOf(t *Tensor, heads int) *Tensor {
	if t.Rank() == 4 {
		return t
	}
	if t.Rank() != 3 || heads < 1 || t.Dims[2]%heads != 0 {
		refuse("%d heads of %s", heads, t)
	}
	return c.reordered(t.view([]int{t.Dims[0], t.Dims[1], heads, t.Dims[2] / heads}), []int{0, 2, 1, 3})
}

// joined is the inverse of headsOf.
func (c *Call) joined(t *Tensor) *Tensor {
	y := c.reordered(t, []int{0, 2, 1, 3})
	return y.view([]int{y.Dims[0], y.Dims[1], y.Dims[2] * y.Dims[3]})
}

// appendPast joins two tensors along their third axis; the first may be missing.
func (c *Call) appendPast(past, t *Tensor) *Tensor {
	if past == nil {
		return t
	}
	if sameType(past, t); past.Rank() != 4 || !slices.Equal(past.Dims[:2], t.Dims[:2]) || past.Dims[3] != t.Dims[3] {
		refuse("a past %s for %s", past, t)
	}
	dims := slices.Clone(t.Dims)
	dims[2] += past.Dims[2]
	y := c.Temp(t.Elem, dims)
	to := whole(y)
	copyBox(y, to, past, whole(past), past.Dims)
	to.off = past.Dims[2] * to.strides[2]
	copyBox(y, to, t, whole(t), t.Dims)
	return y
}

func attentionNode(c *Call) error {
	flat := c.In(0).Rank() == 3
	a := &attention{c: c, softcap: c.Float("softcap"), e: c.steps(c.In(0).Elem)}
	a.q = c.headsOf(c.In(0), c.Int("q_num_heads"))
	a.k = c.appendPast(c.In(4), c.headsOf(c.In(1), c.Int("kv_num_heads")))
	a.v = c.appendPast(c.In(5), c.headsOf(c.In(2), c.Int("kv_num_heads")))
	a.scale = c.FloatOr("scale", 1/math.Sqrt(float64(a.q.Dims[3])))
	soft := a.q.Elem
	a.soft = a.e
	if c.hasAttr("softmax_precision") {
		soft = c.heldAs(c.elemAttr("softmax_precision"))
		a.soft = c.steps(soft).accumIn(soft)
	}
	a.bias = c.attentionBias(a)
	raw := a.scores()
	capped := a.cap(raw)
	biased := a.biased(capped)
	p := c.as(a.probabilities(biased, soft), a.q.Elem)
	y := c.as(a.mix(p), a.q.Elem)
	if flat {
		y = c.joined(y)
	}
	c.Set(0, TensorValue(y))
	c.Set(1, TensorValue(a.k))
	c.Set(2, TensorValue(a.v))
	modes := []*Tensor{raw, capped, biased, p}
	mode := c.Int("qk_matmul_output_mode")
	if mode < 0 || mode >= len(modes) {
		refuse("qk_matmul_output_mode %d", mode)
	}
	c.Set(3, TensorValue(modes[mode]))
	return nil
}
