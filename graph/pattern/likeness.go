package pattern

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// Likeness is a product of quotients none of which is larger than 1 in real numbers: (2ab + c)/(a² + b² + d), and
// (2·cov + c)/(var + var + d) for means in windows, as in SSIM, with c no more than d.
type Likeness struct {
	Output *graph.Value
	Coef   float64
	Scales []*graph.Value
	Of     []*graph.Value // those whose covariance is taken
	Floor  float64        // the least d beside variances, over what those are multiplied with; +Inf where there are none
	Count  int64          // elements in a window
	Spread bool           // a variance is taken
}

// Likeness returns the product of such quotients that v is, or nil.
func (s *Set) Likeness(v *graph.Value) *Likeness { return s.likenesses[v] }

// likeness reads a quotient.
func (f *finder) likeness(v *graph.Value) {
	if !settled(v.Type.Shape) || v.Type.Elem.Bits() < 32 {
		return
	}
	p := f.product(v)
	q := &Likeness{Output: v, Floor: math.Inf(1)}
	found := false
	for again := true; again; {
		again = false
		for _, g := range p.factors {
			for _, h := range p.factors {
				if g.pow == -1 && h.pow == 1 && slices.Equal(g.base.Type.Shape, h.base.Type.Shape) && !again && f.alikeOver(q, h.base, g.base) {
					p, again, found = p.without(g.base, -1).without(h.base, 1), true, true
				}
			}
		}
	}
	scales, ok := f.values(p)
	if !found || !ok {
		return
	}
	q.Coef, q.Scales = p.coef, scales
	f.set.likenesses[v] = q
}

// alikeOver tells whether num/den is one of the quotients.
func (f *finder) alikeOver(q *Likeness, num, den *graph.Value) bool {
	ts, c := f.terms(num)
	us, d := f.terms(den)
	if len(ts) != 1 || c < 0 || c > d*(1+1e-6) || d < least || !slices.Equal(ts[0].value.Type.Shape, num.Type.Shape) {
		return false
	}
	switch len(us) {
	case 2:
		return f.twoSquares(ts[0], us)
	case 4:
		of, count, scale := f.covariance(ts[0], us)
		if of == nil || q.Spread && !slices.Equal(q.Of, of) {
			return false
		}
		q.Of, q.Count, q.Floor, q.Spread = of, max(q.Count, count), math.Min(q.Floor, d/scale), true
		return true
	}
	return false
}

// twoSquares tells whether a term k·a·b is at most α·a² + β·b² by k² ≤ 4αβ.
func (f *finder) twoSquares(t term, us []term) bool {
	a, ok := us[0].single(2)
	b, ok2 := us[1].single(2)
	x, y := us[0].sign*us[0].coef, us[1].sign*us[1].coef
	if !ok || !ok2 || a == b || len(t.factors) != 2 || t.power(a) != 1 || t.power(b) != 1 || !(x > 0) || !(y > 0) {
		return false
	}
	return math.Abs(t.coef) <= 2*math.Sqrt(x*y)*(1+1e-6)
}

// covariance reads k·(P(xz) - P(x)·P(z)) below α·(P(x²) - P(x)²) + β·(P(z²) - P(z)²) for a mean P in windows, and
// returns x and z, and the largest of k/2, α and β.
func (f *finder) covariance(t term, us []term) (of []*graph.Value, count int64, scale float64) {
	base, ok := t.single(1)
	if !ok {
		return nil, 0, 0
	}
	both, c := f.terms(base)
	if len(both) != 2 || c != 0 {
		return nil, 0, 0
	}
	if both[0].sign < 0 {
		both[0], both[1] = both[1], both[0]
	}
	w, ok := f.windowMean(both[0])
	less := both[1]
	if !ok || less.sign > 0 || !equal(less.coef, both[0].coef) || len(less.factors) != 2 {
		return nil, 0, 0
	}
	xz := f.product(w.of)
	var coefs []float64
	for _, g := range less.factors {
		m, ok := f.windowMean(term{g.base, 1, atom(g.base)})
		if !ok || g.pow != 1 || !f.sameWindow(m, w) || xz.coef != 1 || len(xz.factors) != 2 || xz.power(m.of) != 1 {
			return nil, 0, 0
		}
		k := f.spreadOver(m, g.base, us)
		if !(k > 0) {
			return nil, 0, 0
		}
		of, coefs = append(of, m.of), append(coefs, k)
	}
	k := math.Abs(t.coef * both[0].coef)
	if of[0] == of[1] || k > 2*math.Sqrt(coefs[0]*coefs[1])*(1+1e-6) {
		return nil, 0, 0
	}
	return of, w.count, math.Max(k/2, math.Max(coefs[0], coefs[1]))
}

// equal tells whether two numbers of a file are one, but for its rounding.
func equal(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(a) }

// spreadOver returns k where k·P(x²) and -k·P(x)² stand among terms, m being P(x).
func (f *finder) spreadOver(m *windowed, mean *graph.Value, us []term) float64 {
	plus, minus := 0.0, 0.0
	for _, u := range us {
		if a, ok := u.single(2); ok && a == mean {
			minus = -u.sign * u.coef
		}
		if w, ok := f.windowMean(u); ok && f.sameWindow(w, m) && f.squareOf(w.of) == m.of {
			plus = u.sign * u.coef
		}
	}
	if !equal(plus, minus) {
		return 0
	}
	return plus
}

// windowed is a mean of a value in windows.
type windowed struct {
	of    *graph.Value
	node  *graph.Node // nil where all axes that are averaged over are whole
	axes  []int
	count int64
}

// windowMean reads a term as a multiple of a mean in windows, by weights that are not negative and add up to 1 at most.
func (f *finder) windowMean(t term) (*windowed, bool) {
	v, ok := t.single(1)
	if !ok {
		return nil, false
	}
	if r, coef, _, ok := f.averageAll(v); ok && r.count > 0 && equal(1, coef*float64(r.count)) && (r.op == "Mean" || r.op == "Sum") {
		return &windowed{of: f.same(r.of), axes: r.axes, count: r.count}, true
	}
	n := v.Producer
	if n == nil || !f.windowed(v) {
		return nil, false
	}
	w := &windowed{of: f.same(n.In(0)), node: n, count: 1}
	for _, k := range n.Ints("kernel_shape") {
		w.count *= k
	}
	if n.OpName() == "AveragePool" {
		return w, true
	}
	return w, f.atMostOne(n, w)
}

// atMostOne tells whether the kernels of a convolution of single channels add up to 1 at most.
func (f *finder) atMostOne(n *graph.Node, w *windowed) bool {
	x, err := n.In(1).Const.Float64s()
	s := n.In(1).Type.Shape
	if err != nil || len(s) < 3 || s[1] != (graph.Dim{N: 1}) || !s[0].Known() || s[0].N == 0 || int64(len(x))%s[0].N != 0 {
		return false
	}
	size := len(x) / int(s[0].N)
	for i := 0; i < len(x); i += size {
		sum := 0.0
		for _, k := range x[i : i+size] {
			sum += k
		}
		if sum > 1+1e-6 {
			return false
		}
	}
	w.count = int64(size)
	return true
}

// sameWindow tells whether two means are taken in the same windows.
func (f *finder) sameWindow(a, b *windowed) bool {
	if a.node == nil || b.node == nil {
		return a.node == b.node && slices.Equal(a.axes, b.axes) && slices.Equal(a.of.Type.Shape, b.of.Type.Shape)
	}
	return a.node.OpName() == b.node.OpName() && f.sameBut0(a.node, b.node) && slices.Equal(a.of.Type.Shape, b.of.Type.Shape)
}
