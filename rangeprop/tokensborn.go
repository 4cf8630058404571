package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/rangeprop/tokens"
)

// minTokenChannels is the least length of a row: shorter ones are tables of something else.
const minTokenChannels = 8

// tokensBorn is a row of a constant table, one of those that the indices reach.
func (c *call) tokensBorn() *tokenized {
	axis, ok := c.axis("axis", 0, c.rank(0))
	if !ok || axis != 0 || c.rank(0) != 2 || c.rank(1) < 0 || c.x(0).special() || c.x(0).nan {
		return nil
	}
	t := c.p.tableOf(c.n.In(0), c.rank(1)+1)
	if t == nil {
		return nil
	}
	r := &t.tables[0]
	if h := c.x(1).Hull(); h.Lo >= 0 && h.Hi < float64(r.To) && h.Lo <= h.Hi {
		r.From, r.To = int(h.Lo), int(h.Hi)+1
	}
	return t.rounded(c.p.unit(c.n.Out(0)))
}

// tableOf takes a constant for a table of rows, whose channels are its last dimension, of a value of some
// rank.
func (p *pass) tableOf(v *graph.Value, rank int) *tokenized {
	w, flip, ok := p.whole(v)
	if !ok || flip || len(w.Dims) == 0 || !w.Elem.IsFloat() {
		return nil
	}
	n := w.Dims[len(w.Dims)-1]
	if n < minTokenChannels || n > maxChannels || w.Len() < n {
		return nil
	}
	t := &tokenized{relative: p.heldUnit(v)}
	if w = original(w, &t.relative); t.relative > 0 {
		t.absolute = vanishing * math.Sqrt(float64(n))
	}
	if t.relative > coarse {
		return nil
	}
	t.tables = []tokens.Rows{{Table: w, To: int(w.Len() / n), Factor: 1}}
	t.axes, t.sizes = []int{rank - 1}, []int{int(n)}
	t.at, t.factor, t.gain, t.shift = seq(0, int(n)), unity(int(n)), unity(int(n)), make([]float64, n)
	return t
}

// original returns the constant that another one was rounded from, so that the analyses of a model and of
// its conversion look at the same tokens. The error of that is added.
func original(t *graph.Tensor, held *float64) *graph.Tensor {
	for t.Origin() != nil {
		if f, ok := t.Elem.Format(); ok {
			*held += f.Unit()
		}
		t = t.Origin()
	}
	return t
}

func unity(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// tokensAdded adds rows of tables, or a constant vector to what was made of them.
func (c *call) tokensAdded() *tokenized {
	a, b := c.addend(0), c.addend(1)
	rank := c.outRank()
	if a != nil && b != nil && a.raw() && b.raw() && !a.norm.Center && !b.norm.Center && a.channels() == b.channels() {
		return a.joined(b, rank).rounded(c.p.unit(c.n.Out(0)))
	}
	other := 1
	if c.tokensAt(0) == nil {
		a, other = b, 0
	}
	if a == nil || a.raw() || c.tokensAt(other) != nil {
		return nil
	}
	y := *a
	y.axes = shifted(a.axes, rank-c.rank(1-other))
	d, ok := exactly(c.x(other), y.carrier(), rank)
	switch {
	case !ok || a.mean != nil || a.bias != nil:
		return nil
	case a.w != nil:
		y.bias = d
	default:
		y.shift = make([]float64, len(d))
		for i := range d {
			y.shift[i] = a.shift[i] + d[i]
		}
	}
	return y.rounded(c.p.unit(c.n.Out(0)))
}

// raw tells whether these are sums of rows, and nothing else.
func (t *tokenized) raw() bool { return !t.normed && t.w == nil && t.mean == nil }

// addend returns the tokens of an input, or rows of a constant.
func (c *call) addend(i int) *tokenized {
	t := c.tokensAt(i)
	if t == nil && c.n.In(i) != nil && !c.x(i).special() && !c.x(i).nan {
		return c.p.cutFrom(c.n.In(i))
	}
	if t == nil || len(t.axes) != 1 || t.raw() && !t.whole(c.rank(i)) {
		return nil
	}
	return t
}

// cutFrom takes what is cut from a constant along other axes than its last one for a table of rows.
func (p *pass) cutFrom(v *graph.Value) *tokenized {
	rank := len(v.Type.Shape)
	for range 8 {
		if t := p.tableOf(v, rank); t != nil {
			return t
		}
		n := v.Producer
		if n == nil || n.Domain != "" || n.In(0) == nil || !p.keepsRows(n) {
			return nil
		}
		v = n.In(0)
	}
	return nil
}

// keepsRows tells whether a node hands on whole rows of its input, and nothing else.
func (p *pass) keepsRows(n *graph.Node) bool {
	from, to := n.In(0).Type.Shape, n.Out(0).Type.Shape
	if len(from) == 0 || len(to) == 0 || !from[len(from)-1].Known() || from[len(from)-1] != to[len(to)-1] {
		return false
	}
	switch n.Op {
	case "Identity", "Unsqueeze", "Squeeze", "Expand":
		return from[len(from)-1].N > 1
	case "Slice":
		c := &call{p: p, n: n}
		axes, ok := c.ints(3)
		for _, a := range axes {
			ok = ok && a != -1 && a != int64(len(from)-1)
		}
		return ok && n.Version() >= 10
	}
	return false
}

// joined adds the rows of two sums of rows.
func (t *tokenized) joined(o *tokenized, rank int) *tokenized {
	y := *t
	y.axes = []int{rank - 1}
	y.tables = slices.Concat(t.tables, o.tables)
	y.relative, y.absolute = math.Max(t.relative, o.relative), t.absolute+o.absolute
	return &y
}

func shifted(axes []int, by int) []int {
	list := make([]int, len(axes))
	for i, a := range axes {
		list[i] = a + by
	}
	return list
}

// tokensScaled multiplies by a constant, or divides.
func (c *call) tokensScaled(divide bool) *tokenized {
	t, other := c.tokensAt(0), 1
	if t == nil && !divide {
		t, other = c.tokensAt(1), 0
	}
	if t == nil || t.mean != nil {
		return nil
	}
	y := *t
	y.axes = shifted(t.axes, c.outRank()-c.rank(1-other))
	k, ok := exactly(c.x(other), y.carrier(), c.outRank())
	if !ok || divide && !inverted(k) {
		return nil
	}
	if !y.times(k) {
		return nil
	}
	return y.rounded(c.p.unit(c.n.Out(0)))
}

// inverted replaces numbers by their reciprocals, where none is 0.
func inverted(k []float64) bool {
	for i, x := range k {
		if x == 0 {
			return false
		}
		k[i] = 1 / x
	}
	return true
}

// times multiplies the elements. Rows that are not normalised take only one number for all.
func (t *tokenized) times(k []float64) bool {
	top := greatest(k)
	switch {
	case t.w != nil:
		t.factor = multiplied(t.factor, k)
		if t.bias != nil {
			t.bias = multiplied(t.bias, k)
		}
		t.off *= top
	case t.normed && len(t.at) == t.channels():
		t.gain, t.shift, t.loss = multiplied(t.gain, k), multiplied(t.shift, k), t.loss*top
	case t.raw() && uniform(k):
		t.tables = slices.Clone(t.tables)
		for i := range t.tables {
			t.tables[i].Factor *= k[0]
		}
		t.absolute *= top
	default:
		return false
	}
	return true
}

func multiplied(a, b []float64) []float64 {
	list := make([]float64, len(a))
	for i := range a {
		list[i] = a[i] * b[i]
	}
	return list
}

// tokensLayered normalises rows by an operator.
func (c *call) tokensLayered(t *tokenized, scale, bias *Val, rms bool, eps float64) *tokenized {
	rank := c.rank(0)
	axis, ok := c.axis("axis", -1, rank)
	if _, low := c.stash(); low || !ok || axis != rank-1 || !t.whole(rank) || !t.raw() {
		return nil
	}
	unit := c.p.unit(c.n.Out(0))
	y := t.under(tokens.Norm{Coef: 1 / float64(t.channels()), Eps: eps, Center: !rms}, unit)
	if scale != nil {
		k, ok := exactly(scale, y.carrier(), rank)
		if !ok {
			return nil
		}
		y.gain = k
	}
	if bias != nil {
		d, ok := exactly(bias, y.carrier(), rank)
		if !ok {
			return nil
		}
		y.shift = d
	}
	return y.rounded(4 * unit)
}

// under puts rows under a norm, whose parts are rounded with a unit.
func (t *tokenized) under(norm tokens.Norm, unit float64) *tokenized {
	y := *t
	y.norm, y.normed, y.unit = norm, true, t.summing()+16*unit
	return &y
}

// summing is the relative error of a sum over the channels.
func (t *tokenized) summing() float64 { return math.Min(float64(t.channels()), 1<<16) * accumUnit }

// tokensNormed normalises rows by a norm that is spelled out, where that loses nothing: the length of a row
// is what it is in real numbers. An ε in one of the many places where it may stand is passed over; it only
// makes rows shorter.
func (p *pass) tokensNormed(n *pattern.Norm) *tokenized {
	t := p.tokens[n.Numerator]
	rank := len(n.Output.Type.Shape)
	if t == nil || rank == 0 || !t.whole(rank) || !t.raw() || len(n.Axes) != 1 || n.Axes[0] != rank-1 || n.Count != int64(t.channels()) || n.Expanded {
		return nil
	}
	length := n.Bound
	if n.Kind == pattern.LayerNorm {
		length *= math.Sqrt(float64(n.Count) / float64(n.Count-1))
	}
	if n.Kind == pattern.LayerNorm && !t.norm.Center && n.Numerator != n.Input { // some other difference
		return nil
	}
	if r, ok := p.radius(n); !ok || !(r < 1.01*length) || p.scaledEarly(n) > 0 {
		return nil
	}
	_, unit := p.coarsest(n.Output, n.Nodes)
	y := t.under(tokens.Norm{Coef: 1 / (length * length), Center: t.norm.Center || n.Kind == pattern.LayerNorm}, unit)
	if !p.affine(n, y, rank) {
		return nil
	}
	return y.rounded(4 * unit)
}

// tokensCentered subtracts their mean from rows.
func (c *call) tokensCentered() *tokenized {
	t, m := c.tokensAt(0), uncast(c.n.In(1)).Producer
	if t == nil || m == nil || m.OpName() != "ReduceMean" || m.In(0) == nil || uncast(m.In(0)) != uncast(c.n.In(0)) || !t.raw() || !t.whole(c.rank(0)) || m.Int("keepdims", 1) == 0 {
		return nil
	}
	if axes, all, known := pattern.Axes(m); !known || all || len(axes) != 1 || axes[0] != c.rank(0)-1 {
		return nil
	}
	y := *t
	y.norm.Center = true
	unit := c.p.unitOf(c.n.Out(0), c.n.In(1), m.Out(0))
	y.relative += t.summing()
	return y.rounded(2 * unit)
}

// affine takes the constants that follow a norm.
func (p *pass) affine(n *pattern.Norm, y *tokenized, rank int) bool {
	y.gain, y.shift = slices.Repeat([]float64{n.Coef}, y.channels()), slices.Repeat([]float64{n.Offset}, y.channels())
	b := y.carrier()
	for _, v := range n.Scales {
		k, ok := exactly(p.val(v), b, rank)
		if !ok {
			return false
		}
		y.gain = multiplied(y.gain, k)
	}
	for _, v := range n.Biases {
		d, ok := exactly(p.val(v), b, rank)
		if !ok {
			return false
		}
		for i, x := range d {
			y.shift[i] += x
		}
	}
	return true
}
