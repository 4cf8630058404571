package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// maxBallMatrix bounds the elements of a matrix that is kept for a ball.
const maxBallMatrix = 1 << 25

// followGemm is followMatMul with a scale and a bias.
func followGemm(c *call) *ball {
	if c.n.Int("transA", 0) != 0 {
		return nil
	}
	b := c.constantProduct(c.n.Int("transB", 0) != 0)
	if b == nil {
		return nil
	}
	if alpha := float64(c.n.Float("alpha", 1)); alpha != 1 {
		b = b.scaled(nil, alpha)
	}
	if c.has(2) {
		d, ok := exactly(c.in[2], b, 2)
		if !ok {
			return nil
		}
		b = b.moved(d, float64(c.n.Float("beta", 1)))
	}
	return b
}

func followMatMul(c *call) *ball {
	if c.n.Op == "FusedMatMul" && (c.n.Int("transA", 0) != 0 || c.n.Int("transBatchA", 0) != 0 || c.n.Int("transBatchB", 0) != 0) {
		return nil
	}
	alpha, trans := 1.0, false
	if c.n.Op == "FusedMatMul" {
		alpha, trans = float64(c.n.Float("alpha", 1)), c.n.Int("transB", 0) != 0
	}
	if _, _, ok := c.p.weight(c.n.In(1)); ok {
		b := c.constantProduct(trans)
		if b != nil && alpha != 1 {
			b = b.scaled(nil, alpha)
		}
		return b
	}
	if c.x(0).shares.axis == 1 && !trans && alpha == 1 {
		return c.meanBall()
	}
	return nil
}

// constantProduct carries a ball through a constant matrix: the center exactly, the map composed
// where it is diagonal, else its norm taken and the matrix put in its place.
func (c *call) constantProduct(trans bool) *ball {
	t, flip, ok := c.p.weight(c.n.In(1))
	if !ok || len(t.Dims) != 2 {
		return nil
	}
	flip = flip != trans
	if c.digest.of(t, flip) {
		return c.productBall(c.digest.mapping)
	}
	rows, cols := (&digest{t: t, flip: flip}).sizes()
	x := c.mapped(t, rows)
	if x == nil || cols < 1 {
		return nil
	}
	m := newMapping(x, rows, cols, flip, c.p.memo.norms)
	if streamRows(t, int(t.Dims[1]), m.add) != nil {
		return nil
	}
	return c.productBall(m)
}

// mapped returns the ball that a constant matrix maps, nil where there is none.
func (c *call) mapped(t *graph.Tensor, rows int) *ball {
	rank := c.rank(0)
	if c.p.opt.NoBalls || t.Len() > maxBallMatrix || rank < 2 {
		return nil
	}
	if x := c.seeded(0); x != nil && x.last(rank) && rows == x.n() {
		return x
	}
	return nil
}

// mapping is the image of a ball under a matrix that is read row by row.
type mapping struct {
	x              *ball
	flip           bool
	diag           []float64 // what the rows are multiplied by, nil for nothing
	center, widest []float64
	m              *matrix
}

func newMapping(x *ball, rows, cols int, flip bool, known *norms) *mapping {
	m := &mapping{x: x, flip: flip, center: make([]float64, cols), widest: make([]float64, cols)}
	if x.m == nil && x.groups == 1 {
		m.diag = x.diag
	}
	m.m = &matrix{rows: rows, cols: cols, norms: known, a: make([]float32, rows*cols), squares: make([]float64, cols)}
	return m
}

// add takes a part of a row of the stored matrix.
func (m *mapping) add(row, from int, w []float64) {
	if m.flip {
		m.column(row, from, w)
		return
	}
	x, k := m.x.center[row], m.factor(row)
	center, widest, squares := m.center[from:from+len(w)], m.widest[from:from+len(w)], m.m.squares[from:from+len(w)]
	a := m.m.a[row*m.m.cols+from:][:len(w)]
	for i, e := range w {
		center[i] += x * e
		if d := math.Abs(e); d > widest[i] {
			widest[i] = d
		}
		f := float32(e * k)
		a[i] = f
		squares[i] += float64(f) * float64(f)
	}
}

func (m *mapping) addRows(int, int, []float32) bool { return false }

// fork makes sums of its own; elements have their place in the one matrix. A flipped matrix has a row
// for each sum: no two sections touch one.
func (m *mapping) fork() gatherer {
	if m.flip {
		return m
	}
	y, a, n := *m, *m.m, m.m.cols
	y.center, y.widest, y.m = make([]float64, n), make([]float64, n), &a
	a.squares = make([]float64, n)
	return &y
}

func (m *mapping) join(o gatherer) {
	x := o.(*mapping)
	if x == m {
		return
	}
	addTo(m.center, x.center)
	addTo(m.m.squares, x.m.squares)
	for i, w := range x.widest {
		m.widest[i] = max(m.widest[i], w)
	}
}

// column is add where the stored row is a column of the map.
func (m *mapping) column(j, from int, w []float64) {
	center, widest, squares := m.center[j], m.widest[j], m.m.squares[j]
	for i, e := range w {
		center += m.x.center[from+i] * e
		if d := math.Abs(e); d > widest {
			widest = d
		}
		f := float32(e * m.factor(from+i))
		m.m.a[(from+i)*m.m.cols+j] = f
		squares += float64(f) * float64(f)
	}
	m.center[j], m.widest[j], m.m.squares[j] = center, widest, squares
}

// factor is what row k of the map is multiplied by.
func (m *mapping) factor(k int) float64 {
	if m.diag == nil {
		return 1
	}
	return m.diag[k]
}

func (c *call) productBall(p *mapping) *ball {
	if p == nil {
		return nil
	}
	x, m, widest := p.x, p.m, p.widest
	radius := x.radius[0]
	if x.m != nil || x.groups > 1 {
		radius = x.spread()
	}
	out := &ball{axes: []int{c.outRank() - 1}, sizes: []int{m.cols}, center: p.center, groups: 1, radius: []float64{radius * grow}, m: m}
	if x.m == nil && x.groups == 1 { // else it is in the spread
		out.loss = x.loss * length(widest) * math.Sqrt(float64(m.rows))
	}
	held := c.p.weightUnit(c.n.In(1))
	rounding := (held + float64(m.rows)*accumUnit) * (length(x.center) + x.cheapSpread()) // of the weights and of the sum
	out.loss += rounding * length(m.columns())
	if out.box = c.boxOf(p); out.box != nil {
		out.box = out.box.widened(func(j int) float64 { return rounding * m.columns()[j] * grow })
	}
	if x.l1 > 0 {
		out = out.byL1(x.l1, widest)
	}
	return out
}

// boxOf bounds the elements of a product by more than its ball: by the maps multiplied, and by the bend
// of the function that made the factor.
func (c *call) boxOf(p *mapping) *box {
	if p.diag != nil { // then it is in the matrix
		return nil
	}
	x := p.x.composed(p.m)
	k, ok := c.x(0).pieces.kink()
	if !ok {
		return x
	}
	b := c.x(0).pieces.ball
	if b == nil || !b.finite() || !b.last(c.rank(0)) || b.n() != p.m.rows {
		return x
	}
	y := &box{}
	y.down, y.up = b.bent(k, p.m)
	b.standouts(k, p.m, y.down, y.up)
	for j, m := range p.center {
		y.down[j], y.up[j] = m-y.down[j]+1e-6*math.Abs(m), y.up[j]-m+1e-6*math.Abs(m)
	}
	return x.meet(y.finite())
}

// byL1 takes the bound by the sum of magnitudes and the widest weight of each column where it is
// the smaller one: as a box, that is a diagonal map of its own.
func (b *ball) byL1(l1 float64, widest []float64) *ball {
	dev := b.deviations()
	diag := make([]float64, len(dev))
	shrunk := 0.0
	for j, d := range dev {
		diag[j] = math.Min(d, l1*widest[j]*grow+math.Abs(b.center[j])) / math.Sqrt(float64(len(dev)))
		shrunk = math.Max(shrunk, d/math.Max(diag[j]*math.Sqrt(float64(len(dev))), 1e-300))
	}
	if shrunk <= 1 {
		return b
	}
	out := *b
	out.m, out.loss = nil, 0
	out.diag, out.radius = diag, []float64{math.Sqrt(float64(len(dev))) * grow}
	if b.spread() < out.spread() {
		return b
	}
	return &out
}

// meanBall is the ball of a mean of vectors under weights: a mean of points of a ball lies in it.
// Heads have weights of their own, so each is a point of its own. Where weights may sum to less
// than 1 it reaches to 0.
func (c *call) meanBall() *ball {
	v := c.x(1).ball
	rank := c.outRank()
	if v == nil || c.rank(1) != rank || c.rank(0) != rank || slices.Contains(v.axes, rank-2) || !slices.Contains(v.axes, rank-1) {
		return nil
	}
	heads := size(v.sizes[:len(v.sizes)-1])
	out := *v
	if heads > 1 && v.groups != heads {
		if len(v.axes) != 2 {
			return nil
		}
		if v.groups > 1 {
			return nil
		}
		out.groups, out.radius = heads, make([]float64, heads)
		for g := range out.radius {
			out.radius[g] = v.radius[0]
		}
	}
	n := c.depthOf(operand{shape: c.shape(0)}, operand{shape: c.shape(1)})
	out.loss += c.x(0).shares.missing(n, c.p.unit(c.n.Out(0))) * out.norm()
	if !c.x(0).shares.most {
		return &out
	}
	return out.toZero()
}

// toZero makes a ball around 0 that holds every vector shortened.
func (b *ball) toZero() *ball {
	out := newBall(b.axes, b.sizes, make([]float64, b.n()), 1)
	out.groups, out.radius = b.groups, make([]float64, b.groups)
	for g := range out.radius {
		from, to := b.part(g)
		out.radius[g] = length(b.center[from:to])*grow + b.radius[g]*b.stretch(from, to)*grow + b.loss
	}
	return out
}

// logits meets a product of two computed values with the norms of the vectors multiplied: q·k is at
// most the norms of both, and split at their centers what they are.
func (c *call) logits(v *Val, trans bool) *Val {
	q, k := c.x(0).ball, c.x(1).ball
	ra := c.rank(0)
	if q == nil || k == nil || ra != c.rank(1) || !facing(q, k, ra, trans) {
		return v
	}
	heads := size(q.sizes[:len(q.sizes)-1])
	bound := scalar(Range{})
	bound.dims = along(q.axes[:len(q.axes)-1], q.sizes, ra)
	bound.lo, bound.hi = make([]float64, heads), make([]float64, heads)
	for h := range heads {
		mid, dev := headLogit(q.head(h, heads), k.head(h, heads))
		dev += 1e-6*math.Abs(mid) + 8*c.p.unit(c.n.Out(0))*(math.Abs(mid)+dev)
		bound.lo[h], bound.hi[h] = mid-dev, mid+dev
	}
	if !bound.Hull().Bounded() {
		return v
	}
	return v.meet(bound)
}

// facing tells whether a product of matrices multiplies each vector of q with vectors of k of the same head.
func facing(q, k *ball, rank int, trans bool) bool {
	along := rank - 2
	if trans {
		along = rank - 1
	}
	if rank < 2 || !q.endsAt(rank-1) || !k.endsAt(along) || !slices.Equal(q.sizes, k.sizes) {
		return false
	}
	for i := range q.axes[:len(q.axes)-1] {
		if q.axes[i] != k.axes[i] || q.axes[i] >= rank-2 {
			return false
		}
	}
	return true
}

func (b *ball) endsAt(axis int) bool { return len(b.axes) > 0 && b.axes[len(b.axes)-1] == axis }

// head returns one of several equal parts of the vector.
func (b *ball) head(h, heads int) *ball {
	if heads == 1 {
		return b
	}
	n := b.n() / heads
	r := b.radius[0]
	if b.groups == heads {
		r = b.radius[h]
	} else if b.groups > 1 {
		b = b.joined()
		r = b.radius[0]
	}
	single := *b
	single.groups, single.radius = 1, []float64{r}
	return single.picked([]int{0}, []int{n}, seq(h*n, (h+1)*n))
}

// headLogit bounds q·k: the product of the centers, and around it each spread seen from the other's
// center and the two spreads together.
func headLogit(q, k *ball) (mid, dev float64) {
	for i, x := range q.center {
		mid += x * k.center[i]
	}
	dev = q.reach(k.center) + k.reach(q.center) + (q.spread()*k.loss + k.spread()*q.loss)
	joint := q.spread() * k.spread()
	if q.m != nil && k.m != nil && q.n() <= 256 {
		norm := q.m.norms.product(q.m, k.m, func() float64 { return productNorm(q.m.columnGram(), k.m.columnGram(), q.n()) })
		joint = math.Min(joint, q.radius[0]*k.radius[0]*norm*grow)
	}
	return mid, (dev + joint) * grow
}

// reach bounds |(value - center)·d|.
func (b *ball) reach(d []float64) float64 {
	loss := b.loss * length(d)
	switch {
	case b.m != nil:
		return b.radius[0]*length(b.m.times(d))*grow + loss
	case b.diag != nil:
		s := make([]float64, len(d))
		for i := range s {
			s[i] = b.diag[i] * d[i]
		}
		return b.radius[0]*length(s)*grow + loss
	}
	return b.radius[0]*length(d)*grow + loss
}
