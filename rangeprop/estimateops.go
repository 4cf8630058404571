package rangeprop

import (
	"math"
	"slices"
)

// Estimates of operators that neither move elements nor sum them.

// rare returns the estimate of output i of an operator that estimate does not name, nil where there is
// none.
func (c *call) rare(i int) *moments {
	switch name := c.n.OpName(); name {
	case "LayerNormalization":
		return c.statistics(i)
	case "If":
		return c.branches(i)
	case "LSTM", "GRU", "RNN":
		return c.recurrentMoments(i)
	case "DynamicQuantizeLinear":
		return c.dynamicMoments(i)
	case "PRelu":
		return combine(c.mom(0), c.mom(1), sloped)
	case "Max", "Clip":
		return c.clipped(name)
	case "Min":
		return c.folded(func(a, b *moments) *moments { return negated(combine(negated(a), negated(b), larger)) })
	case "Pad":
		return c.mom(0).flat()
	case "LogSoftmax":
		return c.logSoftmaxMoments()
	case "ScatterElements", "ScatterND", "Scatter":
		return c.scattered()
	case "ConstantOfShape":
		return c.byBounds(i)
	case "DequantizeLinear":
		return c.requantizedMoments()
	}
	return nil
}

// requantizedMoments are those of what was quantised by the same scale: rounding moves little of them. Those of a
// constant are its own.
func (c *call) requantizedMoments() *moments {
	if c.n.In(0) == nil {
		return nil
	}
	if v := rounded8(c.n); v != nil {
		return c.p.moments(v)
	}
	w := c.p.stored(c.n, false)
	if w == nil || w.t.Len() == 0 {
		return nil
	}
	n, sum, squares := float64(w.t.Len()), 0.0, 0.0
	if w.stream(func(_ int, x float64) { sum, squares = sum+x, squares+x*x }) != nil {
		return nil
	}
	mean := sum / n
	return &moments{nil, []float64{mean}, []float64{math.Max(squares/n-mean*mean, 0)}}
}

// folded folds the estimates of all inputs.
func (c *call) folded(f func(a, b *moments) *moments) *moments {
	m := c.mom(0)
	for i := 1; i < len(c.in) && m != nil; i++ {
		if c.has(i) {
			m = f(m, c.mom(i))
		}
	}
	return m
}

// clipped is the larger of the inputs, and for Clip the smaller of that and its last.
func (c *call) clipped(name string) *moments {
	up := func(a, b *moments) *moments { return combine(a, b, larger) }
	if name == "Max" {
		return c.folded(up)
	}
	m := c.mom(0)
	if c.has(1) {
		m = up(m, c.mom(1))
	}
	if c.has(2) && m != nil {
		m = negated(combine(negated(m), negated(c.mom(2)), larger))
	}
	return m
}

func negated(m *moments) *moments {
	if m == nil {
		return &moments{}
	}
	out := &moments{m.dims, make([]float64, len(m.mean)), m.vari}
	for i, x := range m.mean {
		out.mean[i] = -x
	}
	return out
}

// larger are the moments of the larger of two normal variables (Clark, The greatest of a finite set of
// random variables, 1961).
func larger(m, v, n, w float64) (mean, vari float64) {
	t := math.Sqrt(v + w)
	if t == 0 {
		return math.Max(m, n), 0
	}
	a := (m - n) / t
	up, down := 0.5*math.Erfc(-a/math.Sqrt2), 0.5*math.Erfc(a/math.Sqrt2)
	d := math.Exp(-a*a/2) / math.Sqrt(2*math.Pi)
	mean = m*up + n*down + t*d
	square := (m*m+v)*up + (n*n+w)*down + (m+n)*t*d
	return mean, math.Max(square-mean*mean, 0)
}

// sloped are the moments of a normal variable that is multiplied by a slope, free of it, where it is negative.
func sloped(m, v, slope, w float64) (mean, vari float64) {
	sd := math.Sqrt(v)
	if sd == 0 {
		return math.Max(m, 0) + slope*math.Min(m, 0), w * math.Min(m, 0) * math.Min(m, 0)
	}
	a := m / sd
	above, density := 0.5*math.Erfc(-a/math.Sqrt2), math.Exp(-a*a/2)/math.Sqrt(2*math.Pi)
	up, upSquare := m*above+sd*density, (m*m+v)*above+m*sd*density
	down, downSquare := m-up, m*m+v-upSquare
	mean = up + slope*down
	return mean, math.Max(upSquare+(slope*slope+w)*downSquare-mean*mean, 0)
}

// byBounds takes output i as spread over its bounds, as moments does where there is no estimate.
func (c *call) byBounds(i int) *moments {
	v := c.n.Out(i)
	if v == nil || !c.p.val(v).Hull().Bounded() {
		return nil
	}
	return c.p.moments(v)
}

// branches joins the estimates of both branches, or takes the one that runs.
func (c *call) branches(i int) *moments {
	then, other := c.n.Body("then_branch"), c.n.Body("else_branch")
	if then == nil || other == nil || i >= len(then.Outputs) || i >= len(other.Outputs) || then.Outputs[i] == nil || other.Outputs[i] == nil {
		return nil
	}
	a, b, cond := c.p.moments(then.Outputs[i]), c.p.moments(other.Outputs[i]), c.x(0).Hull()
	switch {
	case cond.Lo > 0:
		return a
	case cond == (Range{}):
		return b
	}
	if !slices.Equal(a.dims, b.dims) {
		a, b = a.flat(), b.flat()
	}
	return combine(a, b, func(m, v, n, w float64) (float64, float64) {
		d := (m - n) / 2
		return (m + n) / 2, (v+w)/2 + d*d
	})
}

// logSoftmaxMoments: the logarithm of a sum of n exponentials of normal variables lies log n + v/2 above
// their mean.
func (c *call) logSoftmaxMoments() *moments {
	x, n := c.mom(0).flat(), 16.0
	if axis, ok := c.axis("axis", -1, c.rank(0)); ok {
		if _, hi := c.dim(0, axis); hi > 0 {
			n = float64(hi)
		}
	}
	if len(x.mean) == 0 {
		return nil
	}
	top := extremeOf(x.vari[0], n) // no sum lies further above than its largest term
	return &moments{nil, []float64{-math.Min(math.Log(n)+x.vari[0]/2, math.Log(n)+top)}, []float64{x.vari[0]}}
}

// scattered mixes data and updates by their numbers of elements.
func (c *call) scattered() *moments {
	f, n, m := 0.5, count(c.shape(0)), count(c.shape(2))
	if n > 0 && m > 0 {
		f = math.Min(float64(m)/float64(n), 1)
	}
	a, b := c.mom(0).flat(), c.mom(2).flat()
	if len(a.mean) == 0 || len(b.mean) == 0 {
		return nil
	}
	d := a.mean[0] - b.mean[0]
	return &moments{nil, []float64{(1-f)*a.mean[0] + f*b.mean[0]}, []float64{(1-f)*a.vari[0] + f*b.vari[0] + f*(1-f)*d*d}}
}

// statistics are the mean of each row that LayerNormalization returns, and its inverse deviation.
func (c *call) statistics(i int) *moments {
	x := c.mom(0).flat()
	if len(x.mean) == 0 || i > 2 {
		return nil
	}
	if i == 1 {
		n := 64.0
		if axis, ok := c.axis("axis", -1, c.rank(0)); ok && !math.IsInf(c.trailingCount(0, axis), 0) {
			n = math.Max(c.trailingCount(0, axis), 1)
		}
		return &moments{nil, []float64{x.mean[0]}, []float64{x.vari[0] / n}}
	}
	r := 1 / math.Sqrt(x.vari[0]+c.epsilon(1e-5))
	return &moments{nil, []float64{r}, []float64{0.01 * r * r}}
}
