package refeval

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// sight is what a query of Attention may see of the keys, beside the mask.
type sight struct {
	causal      bool
	left, right int   // how far it sees to either side, -1 for without end
	offset      []int // the keys before the first query, for each batch or for all
	length      []int // the keys that are no padding, for each batch; nil for all
}

// attentionBias returns what is added to the scores: the mask, and -Inf where a query does not see
// a key; nil for nothing.
func (c *Call) attentionBias(a *attention) *Tensor {
	_, _, _, s, t, _ := a.sizes()
	v := sight{causal: c.Int("is_causal") != 0, left: c.IntOr("left_window_size", -1), right: c.IntOr("right_window_size", -1), offset: []int{0}}
	switch {
	case c.Has(4):
		v.offset[0] = c.In(4).Dims[2]
	case c.Has(6):
		v.offset = nil
		for _, n := range c.In(6).ints() {
			v.offset = append(v.offset, n-s)
		}
	}
	if c.Has(6) {
		v.length = c.In(6).ints()
		if len(v.length) != a.q.Dims[0] {
			refuse("%d lengths for a batch of %d", len(v.length), a.q.Dims[0])
		}
	}
	if v.free() && !c.Has(3) {
		return nil
	}
	y := c.maskOf(c.In(3), a.q.Elem, len(v.length), s, t)
	v.hide(y)
	return y
}

// free tells whether every query sees every key.
func (v *sight) free() bool { return !v.causal && v.left < 0 && v.right < 0 && v.length == nil }

// sees tells whether query i of a batch sees key j.
func (v *sight) sees(b, i, j int) bool {
	at := i + v.offset[b%len(v.offset)]
	return (!v.causal || j <= at) && (v.left < 0 || at-j <= v.left) && (v.right < 0 || j-at <= v.right) &&
		(v.length == nil || j < v.length[b])
}

// hide adds -Inf where a key is not seen.
func (v *sight) hide(y *Tensor) {
	if v.free() {
		return
	}
	for i := range y.Len() {
		at := unravel(i, y.Dims)
		if !v.sees(at[0], at[2], at[3]) {
			y.put64(i, y.at64(i)+math.Inf(-1))
		}
	}
}

// maskOf returns a mask as a bias of four dimensions, the last two s and t. Where a bool is false,
// and behind the end of a mask that is shorter than t, it is -Inf. The first dimension is at least
// batch.
func (c *Call) maskOf(mask *Tensor, e graph.ElemType, batch, s, t int) *Tensor {
	if mask == nil {
		return c.Temp(e, []int{max(batch, 1), 1, s, t})
	}
	if mask.Rank() < 1 || mask.Rank() > 4 {
		refuse("a mask %s", mask)
	}
	values := c.as(mask, e)
	if mask.Elem == graph.Bool {
		for i, v := range mask.I {
			values.put64(i, pick(v != 0, 0, math.Inf(-1)))
		}
	}
	from := []int{1, 1, 1, 1}
	copy(from[4-mask.Rank():], mask.Dims)
	dims := []int{max(from[0], batch), from[1], s, t}
	y := c.Temp(e, dims)
	for i := range y.Len() {
		y.put64(i, math.Inf(-1))
	}
	box := []int{dims[0], dims[1], s, min(from[3], t)}
	step := spread(from, box)
	if from[3] == 1 {
		step[3] = 0
	}
	for d := range 3 {
		if from[d] != 1 && from[d] != box[d] {
			refuse("a mask %s for %d queries and %d keys", mask, s, t)
		}
	}
	copyBox(y, whole(y), values, layout{strides: step}, box)
	return y
}
