package refeval

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func contribNormOps() []entry {
	return []entry{
		op("SimplifiedLayerNormalization", simplifiedNorm),
		op("com.microsoft.EmbedLayerNormalization", embedNorm),
		op("com.microsoft.GroupNorm", contribGroupNorm),
		op("com.microsoft.LayerNormalization", layerNorm),
		op("com.microsoft.SimplifiedLayerNormalization", simplifiedNorm),
		op("com.microsoft.SkipGroupNorm", contribGroupNorm),
		op("com.microsoft.SkipLayerNormalization", func(c *Call) error { return c.skipNorm(true) }),
		op("com.microsoft.SkipSimplifiedLayerNormalization", func(c *Call) error { return c.skipNorm(false) }),
	}
}

// simplifiedNorm is what the standard later took as RMSNormalization.
func simplifiedNorm(c *Call) error {
	x, a := c.stash(c.In(0))
	at := axis(c.IntOr("axis", -1), x.Rank())
	z := normalizer{a: a, eps: c.FloatOr("epsilon", 1e-5)}
	z.inv = c.Out(1, graph.Float, reducedDims(x.Dims, allAxes(x.Rank())[at:], true))
	y := c.normScaled(x, at, z, c.In(1), nil)
	c.Set(0, TensorValue(c.as(y, c.In(1).Elem)))
	return nil
}

// skipNorm normalises the sum of its input, a second one and a bias, and gives out the sum too.
func (c *Call) skipNorm(center bool) error {
	x, gamma, bias := c.plus(c.In(0), c.In(1)), c.In(2), c.In(3)
	var beta *Tensor
	if center {
		beta, bias = c.In(3), c.In(4)
	}
	if bias != nil {
		x = c.plus(x, bias)
	}
	if !slices.Equal(x.Dims, c.In(0).Dims) || x.Rank() == 0 {
		refuse("%s for %s", c.In(1), c.In(0))
	}
	c.lastNorm(x, gamma, beta, center)
	c.Set(3, TensorValue(x))
	return nil
}

// lastNorm sets the outputs to the norm of x along its last axis, the means and the inverse
// deviations.
func (c *Call) lastNorm(x, gamma, beta *Tensor, center bool) {
	at := x.Rank() - 1
	stats := reducedDims(x.Dims, []int{at}, true)
	z := normalizer{a: c.accum(), eps: c.FloatOr("epsilon", 1e-12), center: center}
	z.mean, z.inv = c.Out(1, graph.Float, stats), c.Out(2, graph.Float, stats)
	c.normScaled(x, at, z, gamma, beta)
}

// embedNorm normalises the sum of the embeddings of words, positions and segments.
func embedNorm(c *Call) error {
	ids, words := c.In(0), c.In(2)
	if ids.Rank() != 2 || words.Rank() != 2 {
		refuse("ids %s into %s", ids, words)
	}
	batch, steps, n := ids.Dims[0], ids.Dims[1], words.Dims[1]
	sum := c.Temp(words.Elem, []int{batch, steps, n})
	positions := c.In(8)
	if positions == nil {
		positions = IntTensor([]int{1, steps})
		for i := range steps {
			positions.I = append(positions.I, int64(i))
		}
	}
	c.embed(sum, words, ids)
	c.embed(sum, c.In(3), positions)
	if c.Has(1) && c.Has(4) {
		c.embed(sum, c.In(4), c.In(1))
	}
	c.lastNorm(sum, c.In(5), c.In(6), true)
	kept := c.Out(1, graph.Int32, []int{batch})
	if mask := c.In(7); mask != nil {
		for i, v := range mask.I {
			kept.I[i/max(steps, 1)] += bit(v == 1)
		}
	}
	c.Set(2, TensorValue(sum))
	return nil
}

// embed adds the rows of a table that ids name, which may be the same for the whole batch.
func (c *Call) embed(sum, table, ids *Tensor) {
	n := sum.Dims[2]
	if table.Rank() != 2 || table.Dims[1] != n || sameType(table, sum) != sum.Elem {
		refuse("a table %s for %s", table, sum)
	}
	list := ids.indices(table.Dims[0])
	if len(list) == 0 || sum.Len()/n%len(list) != 0 {
		refuse("ids %s for %s", ids, sum)
	}
	for i := range sum.Len() {
		sum.put64(i, sum.at64(i)+table.at64(list[i/n%len(list)]*n+i%n))
	}
	if sum.F != nil {
		c.accum().roundAll(sum.F)
	}
}

// contribGroupNorm has its channels last by default, and may add a second input and a bias first
// and apply SiLU at the end.
func contribGroupNorm(c *Call) error {
	x := c.In(0)
	if c.Has(3) {
		x = c.skipped(x, c.In(3), c.In(4))
	}
	last := c.Int("channels_last") != 0
	perm := allAxes(x.Rank())
	if x.Rank() < 2 {
		refuse("%s has no channels", x)
	}
	if last {
		perm = slices.Concat([]int{0, x.Rank() - 1}, perm[1:x.Rank()-1])
	}
	t := c.reordered(x, perm)
	groups := c.Int("groups")
	if groups < 1 || t.Dims[1]%groups != 0 || c.In(1).Len() != t.Dims[1] || c.In(2).Len() != t.Dims[1] {
		refuse("%d groups of the channels of %s", groups, x)
	}
	rows := t.view([]int{t.Dims[0], groups, t.Len() / max(t.Dims[0]*groups, 1)})
	y := c.norm(rows, []int{2}, normalizer{a: c.accum(), eps: c.Float("epsilon"), center: true}).view(t.Dims)
	c.affine(y, perChannel(c.In(1), t.Rank()), perChannel(c.In(2), t.Rank()))
	if c.Int("activation") != 0 {
		f := swish(1)
		for i := range y.Len() {
			y.put64(i, f(y.at64(i)))
		}
	}
	back := make([]int, len(perm))
	for i, p := range perm {
		back[p] = i
	}
	c.Set(0, TensorValue(c.reordered(y, back)))
	c.Set(1, TensorValue(x))
	return nil
}

// skipped adds a second input, which may be the same for a whole image, and a bias.
func (c *Call) skipped(x, skip, bias *Tensor) *Tensor {
	if skip.Rank() == 2 && x.Rank() == 4 {
		skip = skip.view([]int{skip.Dims[0], 1, 1, skip.Dims[1]})
	}
	y := c.plus(x, skip)
	if bias != nil {
		y = c.plus(y, bias)
	}
	if !slices.Equal(y.Dims, x.Dims) {
		refuse("%s for %s", skip, x)
	}
	return y
}
