package rangeprop

import (
	"math"
	"slices"
)

// In trained models few sums of a layer reach much further than all others, and the hull of the layer is
// theirs. They are looked at one by one. What bounds all sums at once takes the norm of the whole map, for
// arguments under weights of either sign and of any size; the norm of a map that has only what one sum
// reads, scaled by what it is read with, is often half of it.

// maxStandouts bounds the sums that are looked at by themselves at each end: every one takes the norm of a
// matrix.
const maxStandouts = 3

// standout is how much further than the others a sum must reach for that.
const standout = 1.15

// standouts narrows the ends of those sums of f under the columns of w that reach furthest.
func (b *ball) standouts(k kink, w *matrix, lo, hi []float64) {
	if b.m == nil || b.groups > 1 || b.n() != w.rows {
		return
	}
	down := make([]float64, len(lo))
	for j, x := range lo {
		down[j] = -x
	}
	narrow(hi, func(j int) float64 { return b.alone(k, w, j, 1) })
	narrow(down, func(j int) float64 { return b.alone(k, w, j, -1) })
	for j, x := range down {
		lo[j] = -x
	}
}

// narrow bounds the largest numbers anew, while the largest is one that stands out and has not been.
func narrow(ends []float64, bound func(j int) float64) {
	sorted := slices.Sorted(slices.Values(ends))
	rest := 0.0
	if n := len(sorted); n > maxStandouts {
		rest = sorted[n-1-maxStandouts]
	}
	done := map[int]bool{}
	for len(done) < maxStandouts && len(ends) > 0 {
		j := 0
		for i, x := range ends {
			if x > ends[j] {
				j = i
			}
		}
		if done[j] || !(ends[j] > standout*rest) {
			return
		}
		done[j], ends[j] = true, min(ends[j], bound(j))
	}
}

// alone bounds sign times the sum of f(y) under column j of w. With a, the weights whose products count
// for that end, and m, those of the others, each times its sign,
//
//	Σ a·f(y) - Σ m·f(y) ≤ slope·Σ (a - θm)·y + more·Σ a·|y| + above·Σ a + low·Σ m
//
// for every θ for which f stays above θ·slope·y - low.
func (b *ball) alone(k kink, w *matrix, j int, sign float64) float64 {
	a, m := make([]float64, w.rows), make([]float64, w.rows)
	ones, others, still := 0.0, 0.0, 0.0
	for i, c := range b.center {
		x := sign * float64(w.a[i*w.cols+j])
		a[i], m[i] = math.Max(x, 0), math.Max(-x, 0)
		ones, others, still = ones+a[i], others+m[i], still+a[i]*math.Abs(c)
	}
	fixed, s := k.more*(still+b.loss*length(a))+k.above*ones, b.m.absolutes(a)
	ma, mm, top := b.m.times(a), b.m.times(m), math.Inf(1)
	for i, low := range k.lows {
		theta := float64(i) / 2
		q, center, loss := make([]float64, len(ma)), 0.0, 0.0
		for i := range q {
			q[i] = k.slope * (ma[i] - theta*mm[i])
		}
		for i, c := range b.center {
			x := k.slope * (a[i] - theta*m[i])
			center, loss = center+x*c, loss+x*x
		}
		top = min(top, center+b.radius[0]*s.with(q, k.more)+b.loss*math.Sqrt(loss)+low*others)
	}
	return top + fixed + 1e-5*(math.Abs(top)+fixed+2*math.Abs(k.slope)*(still+others))
}

// absolutes bounds Σ a·|Mᵀu| for units u = tv + u' and weights a: by along·|t| + across·‖u'‖.
type absolutes struct {
	v             []float64 // nil for no direction of its own
	along, across float64
}

// with bounds q·u and the sum, more times, together.
func (s absolutes) with(q []float64, more float64) float64 {
	x := 0.0
	for i, e := range s.v {
		x += e * q[i]
	}
	y := math.Sqrt(math.Max(0, length(q)*length(q)-x*x)) + 1e-7*length(q)
	return math.Hypot(math.Abs(x)+more*s.along, y+more*s.across) * grow
}

// absolutes takes the norm of the columns that the weights read. By Cauchy-Schwarz the sum is at most
// ‖a/s‖·‖sMᵀu‖ for any scales s; those that make both parts of a column equal are good ones.
func (m *matrix) absolutes(a []float64) absolutes {
	var at []int
	var scales []float64
	total, top := 0.0, 0.0
	for i, n := range m.columns() {
		if a[i]*n > 0 {
			at, scales = append(at, i), append(scales, math.Sqrt(a[i]/n))
			total, top = total+a[i]*n, max(top, math.Sqrt(a[i]*n))
		}
	}
	if len(at) == 0 || math.IsInf(total, 0) {
		return absolutes{across: total}
	}
	for i := range scales { // to numbers of which float32 holds those that count
		scales[i] /= top
	}
	p := m.pick(at).scale(scales)
	l := p.splitUp(4)
	lost := 1e-7 * total // by the rounding of what is scaled
	s := absolutes{v: l.v, along: lost, across: math.Sqrt(total)*top*l.tail + lost}
	for i, x := range l.image {
		s.along += a[at[i]] * math.Abs(x) / scales[i]
	}
	return s
}
