package rangeprop

import (
	"cmp"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop/tokens"
)

// maxTokenWork is how many products one analysis may multiply and add for tokens, about half a second. What
// would take more is left to the balls: the tables of models with 10^9 weights do.
const maxTokenWork = 1 << 34

// vanishing is more than any 16-bit format loses of a number that is too small for it.
var vanishing = numfmt.FP16.MinSubnormal()

// tokensMultiplied is the projection of tokens by a constant matrix, or a mean of them.
func (c *call) tokensMultiplied() *tokenized {
	t := c.tokensAt(0)
	if t == nil {
		return c.tokensMean()
	}
	o := c.projection()
	if o == nil || !t.whole(c.rank(0)) || o.rows != t.channels() || !c.x(0).Hull().Bounded() {
		return nil
	}
	lo, hi, ok := c.x(0).vector(t.axes, t.sizes, c.rank(0))
	if !ok {
		return nil
	}
	y := *t
	y.w, y.flip = o.w, o.flip
	loss, off := o.errors(farthest(lo, hi))
	y.loss, y.off = y.loss+loss, y.off+off
	y.at, y.factor, y.bias = seq(0, o.cols), unity(o.cols), nil
	y.axes, y.sizes = []int{c.outRank() - 1}, []int{o.cols}
	if c.n.Op == "Gemm" && c.has(2) {
		d, ok := exactly(c.in[2], y.carrier(), 2)
		if !ok {
			return nil
		}
		y.bias = multiplied(d, slices.Repeat([]float64{float64(c.n.Float("beta", 1))}, o.cols))
	}
	return y.rounded(c.p.unit(c.n.Out(0)))
}

// farthest is the greatest norm within bounds.
func farthest(lo, hi []float64) float64 {
	top := make([]float64, len(lo))
	for i := range lo {
		top[i] = math.Max(-lo[i], hi[i])
	}
	return length(top) * grow
}

// tokensMean is a mean of projected tokens under weights, for each head under its own. See meanBall.
func (c *call) tokensMean() *tokenized {
	t, rank, weights := c.tokensAt(1), c.outRank(), c.x(0).shares
	if c.n.Op != "MatMul" || weights.axis != 1 || t == nil || t.w == nil || t.mean != nil || c.rank(0) != rank || c.rank(1) != rank ||
		slices.Contains(t.axes, rank-2) || !slices.Contains(t.axes, rank-1) {
		return nil
	}
	lo, hi, ok := c.x(1).vector(t.axes, t.sizes, rank)
	if !ok || !c.x(1).Hull().Bounded() {
		return nil
	}
	n := c.depthOf(operand{shape: c.shape(0)}, operand{shape: c.shape(1)})
	y := *t
	y.mean = &tokenMean{parts: size(t.sizes[:len(t.sizes)-1]), zero: weights.most}
	y.mean.size = farthest(lo, hi)
	y.mean.blur = weights.missing(n, c.p.unit(c.n.Out(0))) * y.mean.size
	return &y
}

// byTokens meets a product with what the tokens behind its factors allow.
func (c *call) byTokens(v *Val) *Val {
	if c.n.Op != "MatMul" && c.n.Op != "Gemm" || len(c.p.tokens) == 0 || !v.Hull().Bounded() {
		return v
	}
	a, b := c.tokensAt(0), c.tokensAt(1)
	switch {
	case a == nil:
		return v
	case a.mean != nil:
		return c.tokensSummed(v, a)
	case a.w != nil && b != nil && b.w != nil && b.mean == nil && c.n.Op == "MatMul":
		return c.tokenScores(v, a, b)
	}
	return v
}

// tokenScores meets the products of queries and keys with the product of the greatest lengths that both
// have, head by head, the one with the widest bound first: until that is one that has been looked at.
func (c *call) tokenScores(v *Val, q, k *tokenized) *Val {
	a, b := q.carrier(), k.carrier()
	rank := c.rank(0)
	if rank != c.rank(1) || !facing(a, b, rank, false) {
		return v
	}
	heads := size(a.sizes[:len(a.sizes)-1])
	axes, sizes := a.axes[:len(a.axes)-1], a.sizes[:len(a.sizes)-1]
	lo, hi, ok := v.vector(axes, sizes, rank)
	if !ok {
		return v
	}
	done := make([]bool, heads)
	for range heads {
		h := widest(lo, hi)
		if done[h] {
			break
		}
		m := c.p.tokenLength(q, h, heads) * c.p.tokenLength(k, h, heads)
		m *= 1 + 8*c.p.unit(c.n.Out(0)) + float64(a.n()/heads)*2*accumUnit
		if !(m < math.Inf(1)) {
			break
		}
		done[h], lo[h], hi[h] = true, math.Max(lo[h], -m), math.Min(hi[h], m)
	}
	return v.meet(&Val{dims: along(axes, sizes, rank), lo: lo, hi: hi, basis: Constant})
}

// widest returns where bounds reach furthest.
func widest(lo, hi []float64) int {
	list := seq(0, len(lo))
	return slices.MaxFunc(list, func(i, j int) int {
		return cmp.Compare(math.Max(-lo[i], hi[i]), math.Max(-lo[j], hi[j]))
	})
}

// tokenLength bounds the length of one of several equal parts of projected tokens.
func (p *pass) tokenLength(t *tokenized, part, parts int) float64 {
	d := len(t.at) / parts
	set := p.memo.sets.Get(t.channels(), t.tables, t.norm)
	if set == nil || !p.affords(set, set.LengthWork(d)) {
		return math.Inf(1)
	}
	image, weights := t.image(part*d, (part+1)*d)
	if image == nil {
		return math.Inf(1)
	}
	most := set.Length(image)
	e := t.error(set)*weights + t.off*math.Sqrt(float64(d)) + t.rounds*(most+2*length(image.B))
	return (most + e) * grow
}

// affords tells whether there is time for some work on a set of tokens.
func (p *pass) affords(set *tokens.Set, work float64) bool {
	if !p.opened[set] {
		work += set.Work()
	}
	if p.worked+work > maxTokenWork {
		return false
	}
	p.worked += work
	p.opened[set] = true
	return true
}

// image returns the projection of tokens to some elements, and the norm of its weights behind the norm
// of the rows. It is nil where they cannot be read.
func (t *tokenized) image(from, to int) (image *tokens.Image, weights float64) {
	n, d := t.channels(), to-from
	w, err := t.columns(from, to)
	if err != nil {
		return nil, 0
	}
	image = &tokens.Image{A: make([]float32, n*d), B: make([]float64, d)}
	sum := 0.0
	for i := range n {
		for k := range d {
			x := float64(w[i*d+k]) * t.factor[from+k]
			image.A[i*d+k] = float32(x * t.gain[i])
			image.B[k] += x * t.shift[i]
			sum += x * x
		}
	}
	if t.bias != nil {
		for k := range d {
			image.B[k] += t.bias[from+k]
		}
	}
	return image, math.Sqrt(sum) * grow
}

// columns reads those columns of W that make some elements.
func (t *tokenized) columns(from, to int) ([]float32, error) {
	rows, cols := (&digest{t: t.w, flip: t.flip}).sizes()
	all, err := readFloats(t.w)
	if err != nil {
		return nil, err
	}
	d := to - from
	x := make([]float32, rows*d)
	for i := range rows {
		for k := range d {
			at := i*cols + t.at[from+k]
			if t.flip {
				at = t.at[from+k]*rows + i
			}
			x[i*d+k] = all[at]
		}
	}
	return x, nil
}

// error bounds the norm of the error of tokens behind the norm and its gain: of the rows, and of a mean and
// a variance that are summed rounded. With y for x and f for its root, y/f(y) is no further from x/f(x) than
// 2‖x - y‖/f(x).
func (t *tokenized) error(set *tokens.Set) float64 {
	reach, top := set.Reach()
	rows := t.relative*reach + t.absolute*top
	if !t.normed {
		return rows + t.loss
	}
	bound := 1 / math.Sqrt(t.norm.Coef)
	spoilt := t.unit * reach * reach * t.norm.Coef // relative error of the variance
	if !(spoilt < 0.25) {
		return math.Inf(1)
	}
	return (2*(rows+t.unit*reach)+spoilt*bound)*greatest(t.gain) + t.loss
}

// tokensSummed meets a projection of means of tokens with the sums over their parts.
func (c *call) tokensSummed(v *Val, t *tokenized) *Val {
	rank := c.rank(0)
	o := c.projection()
	if o == nil || len(t.axes) != 1 || t.axes[0] != rank-1 || o.rows != len(t.at) {
		return v
	}
	lo, hi, ok := c.x(0).vector(t.axes, t.sizes, rank)
	if !ok || !o.read() {
		return v
	}
	m := c.p.tokenMeans(t, o, math.Max(t.mean.size, farthest(lo, hi)))
	if m == nil {
		return v
	}
	m.dims = pad([]int{o.cols}, c.outRank())
	if c.n.Op == "Gemm" && c.has(2) {
		m = plus(m, scaled(c.in[2], float64(c.n.Float("beta", 1))))
	}
	unit := 2 * c.p.unit(c.n.Out(0))
	m = map1flags(m, func(r Range) Range {
		e := unit*r.MaxAbs() + t.off
		return Range{r.Lo - e, r.Hi + e}
	})
	return v.meet(m)
}

// projection is a constant matrix that rows are multiplied with.
type projection struct {
	w          *graph.Tensor
	flip       bool
	held       float64 // relative error of the elements
	rows, cols int     // rows are summed over

	elements []float32 // once they are read, by rows
	norms    []float64 // of the columns
}

// projection returns the constant matrix of a product, nil where there is none or more is done than multiply.
func (c *call) projection() *projection {
	w, flip, ok := c.p.whole(c.n.In(1))
	if !ok || len(w.Dims) != 2 || c.n.Int("transA", 0) != 0 || c.n.Float("alpha", 1) != 1 {
		return nil
	}
	o := &projection{held: c.p.heldUnit(c.n.In(1)), flip: flip != (c.n.Int("transB", 0) != 0)}
	o.rows, o.cols = (&digest{t: w, flip: o.flip}).sizes()
	if o.w = original(w, &o.held); o.held > coarse {
		return nil
	}
	return o
}

// errors bounds what the roundings of the elements and of the sums add to the products of a vector of some
// norm: times the norms of the columns, and beside that.
func (o *projection) errors(size float64) (loss, off float64) {
	loss = (o.held + float64(o.rows)*accumUnit) * size
	if o.held > 0 {
		off = vanishing * size * math.Sqrt(float64(o.rows))
	}
	return loss, off
}

func (o *projection) read() bool {
	all, err := readFloats(o.w)
	if err != nil {
		return false
	}
	if o.elements = all; o.flip {
		o.elements = make([]float32, len(all))
		for j := range o.cols {
			for i := range o.rows {
				o.elements[i*o.cols+j] = all[j*o.rows+i]
			}
		}
	}
	o.norms = make([]float64, o.cols)
	for i, x := range o.elements {
		o.norms[i%o.cols] += float64(x) * float64(x)
	}
	for j, s := range o.norms {
		o.norms[j] = math.Sqrt(s) * grow
	}
	return true
}

// tokenMeans bounds the projections of means of tokens, whose norm is at most a size. It is nil where nothing
// can be said.
func (p *pass) tokenMeans(t *tokenized, o *projection, size float64) *Val {
	set := p.memo.sets.Get(t.channels(), t.tables, t.norm)
	if set == nil || !p.affords(set, set.MeanWork(o.rows, o.cols)) {
		return nil
	}
	image, weights := t.image(0, o.rows)
	if image == nil {
		return nil
	}
	v := &Val{basis: Constant}
	v.lo, v.hi = set.Mean(image, t.mean.parts, o.elements, t.mean.zero)
	e := t.error(set)*weights + t.off*math.Sqrt(float64(o.rows)) + t.mean.blur + t.rounds*(size+2*length(image.B))
	loss, off := o.errors(size)
	e += loss // off belongs to the elements of a column, however small their norm
	v.lo, v.hi = slices.Clone(v.lo), slices.Clone(v.hi)
	for j, x := range o.norms {
		if v.lo[j], v.hi[j] = v.lo[j]-e*x-off, v.hi[j]+e*x+off; math.IsNaN(v.hi[j]-v.lo[j]) || math.IsInf(v.hi[j]-v.lo[j], 0) {
			return nil
		}
	}
	return v
}

func readFloats(t *graph.Tensor) ([]float32, error) {
	all := make([]float32, 0, t.Len())
	err := t.Floats(func(chunk []float32) error {
		all = append(all, chunk...)
		return nil
	})
	return all, err
}
