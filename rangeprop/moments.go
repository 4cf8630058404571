package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// moments are the mean and variance of elements, kept apart along axes as bounds are. They are an
// estimate, not a bound: inputs are taken to be spread over their range, and elements to be
// independent but for neighbouring pixels.
type moments struct {
	dims       []int
	mean, vari []float64
}

// reach is how many standard deviations likely values span.
const reach = 8

// Moments returns the estimated mean and standard deviation over all elements, the spread between
// channels included; ok is false where there is no estimate.
func (v *Val) Moments() (mean, sd float64, ok bool) {
	if v.mom == nil || len(v.mom.mean) == 0 {
		return 0, 0, false
	}
	f := v.mom.flat()
	return f.mean[0], math.Sqrt(f.vari[0]), true
}

// Likely returns the hull over the channels of mean ± 8 standard deviations, within the bounds; the
// bounds themselves where there is no estimate.
func (v *Val) Likely() Range {
	h := v.Hull()
	if v.mom == nil || len(v.mom.mean) == 0 {
		return h
	}
	r := Range{math.Inf(1), math.Inf(-1)}
	for i, m := range v.mom.mean {
		d := reach * math.Sqrt(v.mom.vari[i])
		r = r.join(Range{m - d, m + d})
	}
	return h.meet(r)
}

// flat joins all elements: the variance of the means adds to the mean of the variances.
func (m *moments) flat() *moments { return m.collapse(make([]bool, len(m.dims))) }

// collapse joins the elements along the axes that are not kept.
func (m *moments) collapse(keep []bool) *moments {
	dims := make([]int, len(m.dims))
	for i, d := range m.dims {
		dims[i] = 1
		if keep[i] {
			dims[i] = d
		}
	}
	n := size(dims)
	sum, squares, count := make([]float64, n), make([]float64, n), make([]float64, n)
	walk(m.dims, [][]int{strides(dims)}, func(i int, at []int) {
		k := at[0]
		sum[k] += m.mean[i]
		squares[k] += m.vari[i] + m.mean[i]*m.mean[i]
		count[k]++
	})
	out := &moments{dims, sum, squares}
	for i := range sum {
		if count[i] > 0 {
			sum[i] /= count[i]
			squares[i] = math.Max(squares[i]/count[i]-sum[i]*sum[i], 0)
		}
	}
	return out
}

// means returns the means as a value of exact bounds, which movement operators can move; the
// variances alike.
func (m *moments) means() *Val { return exactly1(m.dims, m.mean) }

func (m *moments) variances() *Val { return exactly1(m.dims, m.vari) }

func exactly1(dims []int, x []float64) *Val { return &Val{dims: dims, lo: x, hi: x, basis: Constant} }

// assembled makes moments of two values that have been moved alike; where several elements were
// joined, the spread of their means counts as variance.
func assembled(mean, vari *Val) *moments {
	if len(mean.lo) != len(vari.lo) {
		mean, vari = mean.flat(), vari.flat()
	}
	m := &moments{mean.dims, make([]float64, len(mean.lo)), make([]float64, len(mean.lo))}
	for i := range m.mean {
		m.mean[i] = (mean.lo[i] + mean.hi[i]) / 2
		d := (mean.hi[i] - mean.lo[i]) / 4
		m.vari[i] = (vari.lo[i]+vari.hi[i])/2 + d*d
	}
	return m
}

// plusFree returns the moments of the sum of two numbers that are free of each other.
func plusFree(m, v, n, w float64) (mean, vari float64) { return m + n, v + w }

// timesFree returns the moments of the product of two numbers that are free of each other.
func timesFree(m, v, n, w float64) (mean, vari float64) { return m * n, v*w + v*n*n + w*m*m }

// combine applies f to the moments of two values, broadcast.
func combine(a, b *moments, f func(m, v, n, w float64) (mean, vari float64)) *moments {
	if len(a.mean) == 0 || len(b.mean) == 0 {
		return nil
	}
	if dims, ok := broadcast(a.means(), b.means()); !ok || countUpTo(dims, 1<<18) > 1<<18 {
		a, b = a.flat(), b.flat()
	}
	dims, _ := broadcast(a.means(), b.means())
	x, y := pad(a.dims, len(dims)), pad(b.dims, len(dims))
	out := &moments{dims, make([]float64, size(dims)), make([]float64, size(dims))}
	walk(dims, [][]int{strides(x), strides(y)}, func(i int, at []int) {
		out.mean[i], out.vari[i] = f(a.mean[at[0]], a.vari[at[0]], b.mean[at[1]], b.vari[at[1]])
	})
	return out
}

// prior are the moments of an input of which only the range is known: a normal variable that reaches its
// ends, and in a narrow range an even spread.
func prior(r Range, float bool) *moments {
	if !r.Bounded() {
		return &moments{nil, []float64{0}, []float64{1}}
	}
	w := r.Hi - r.Lo
	even := w / math.Sqrt(12)
	sd := math.Min(math.Max(1, w/6), even)
	if !float {
		sd = even
	}
	return &moments{nil, []float64{r.Lo/2 + r.Hi/2}, []float64{sd * sd}}
}

// crest is the number of root mean squares between the ends of a signal: speech peaks 15 dB above its own.
const crest = 12

// priorOf is prior for an input that may be a signal, which lies far from its ends most of the time.
func (p *pass) priorOf(v *graph.Value, r Range) *moments {
	m := prior(r, element(v.Type).IsFloat())
	if r.Bounded() && p.readers(v).signal {
		d := (r.Hi - r.Lo) / crest
		m.vari[0] = d * d
	}
	return m
}

// moments returns the estimate for a value, by its bounds where there is none of its own.
func (p *pass) moments(v *graph.Value) *moments {
	x := p.val(v)
	if x.mom != nil {
		return x.mom
	}
	if v.Const != nil && !p.moving[v] {
		if len(x.lo) <= maxKept && size(x.dims) == int(v.Const.Len()) {
			return &moments{x.dims, x.lo, make([]float64, len(x.lo))}
		}
	}
	m := &moments{x.dims, make([]float64, len(x.lo)), make([]float64, len(x.lo))}
	for i := range x.lo {
		d := (x.hi[i] - x.lo[i]) / 6
		m.mean[i], m.vari[i] = x.lo[i]/2+x.hi[i]/2, d*d
		if math.IsInf(d, 0) || math.IsNaN(m.mean[i]) || math.IsInf(m.mean[i], 0) {
			m.mean[i], m.vari[i] = 0, 1
		}
	}
	return m
}

// estimated gives an output its estimate, kept inside its bounds.
func (c *call) estimated(i int, v *graph.Value, x *Val) *Val {
	if c.p.opt.NoMoments || !v.Type.Elem.IsFloat() && !c.counts(v) {
		return x
	}
	m, h := c.estimate(i), x.Hull()
	if n := c.p.facts.Norm(v); n != nil {
		m = c.p.normalMoments(n)
	}
	if h.Lo == h.Hi {
		m = &moments{nil, []float64{h.Lo}, []float64{0}}
	}
	if m == nil || len(m.mean) == 0 {
		return x
	}
	out := &moments{m.dims, make([]float64, len(m.mean)), make([]float64, len(m.mean))}
	for k := range m.mean {
		out.mean[k] = math.Min(math.Max(m.mean[k], h.Lo), h.Hi)
		d := (h.Hi - h.Lo) / 2
		out.vari[k] = math.Min(math.Max(m.vari[k], 0), d*d)
		if math.IsNaN(out.mean[k]) || math.IsNaN(out.vari[k]) || math.IsInf(out.mean[k], 0) || math.IsInf(out.vari[k], 0) {
			return x
		}
	}
	if countUpTo(out.dims, maxKept) > maxKept {
		out = out.collapse(layout(out.dims))
	}
	y := x.clone()
	y.mom = out
	return y
}
