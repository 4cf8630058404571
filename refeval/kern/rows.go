package kern

import "math"

// Lanes is how many chains a sum over a row runs in: element i goes to chain i modulo Lanes.
const Lanes = 32

// lanes are the sums of the chains.
type lanes [Lanes]float32

// total adds the chains pairwise.
func (s *lanes) total() float32 {
	for n := Lanes / 2; n > 0; n /= 2 {
		for i := range n {
			s[i] += s[i+n]
		}
	}
	return s[0]
}

// SumRow returns the sum of x.
func (e *Engine) SumRow(x []float32) float32 {
	var s lanes
	done := e.level.sum(&s, x)
	for i, v := range x[done:] {
		s[i%Lanes] += v
	}
	return e.level.total(&s)
}

// squares returns the sum of (x - m)².
func (e *Engine) squares(x []float32, m float32) float32 {
	var s lanes
	done := e.level.squares(&s, x, m)
	for i, v := range x[done:] {
		d := v - m
		s[i%Lanes] += float32(d * d)
	}
	return e.level.total(&s)
}

// MaxRow returns the greatest number of x that is not NaN, -Inf if there is none. Of zeros it
// returns the positive one.
func (e *Engine) MaxRow(x []float32) float32 {
	s := noMax
	done := e.level.max(&s, x)
	for i, v := range x[done:] {
		s[i%Lanes] = greater(s[i%Lanes], v)
	}
	return e.level.top(&s) + 0
}

// noMax is what the chains of MaxRow begin with.
var noMax = func() (s lanes) {
	for i := range s {
		s[i] = float32(math.Inf(-1))
	}
	return s
}()

// top returns the greatest of the chains, none of which is NaN.
func (s *lanes) top() float32 {
	m := s[0]
	for _, v := range s[1:] {
		m = greater(m, v)
	}
	return m
}

// greater takes x if y is NaN.
func greater(x, y float32) float32 {
	if y > x {
		return y
	}
	return x
}

// Softmax sets each row of dst, n numbers wide, to e^(x-max) divided by the sum of these. dst may
// be x.
func (e *Engine) Softmax(dst, x []float32, rows, n int) {
	e.Parallel(rows, 1, 20*n, func(lo, hi int) {
		s := e.Serial()
		for i := lo; i < hi; i++ {
			d, v := dst[i*n:(i+1)*n], x[i*n:(i+1)*n]
			s.expMinus(d, v, s.MaxRow(v))
			s.right(opDiv, divGo, d, d, s.SumRow(d))
		}
	})
}

// Norm are the parameters of LayerNorm.
type Norm struct {
	Scale, Bias []float32 // as long as a row, or nil
	Epsilon     float32
	RMS         bool      // no mean is subtracted
	Mean, Inv   []float32 // if not nil, set to the mean and the factor of each row
}

// LayerNorm sets each row of dst, n numbers wide, to (x - mean) / √(variance + ε), times the scale,
// plus the bias. dst may be x.
func (e *Engine) LayerNorm(dst, x []float32, rows, n int, p *Norm) {
	e.Parallel(rows, 1, 4*n, func(lo, hi int) {
		s := e.Serial()
		for i := lo; i < hi; i++ {
			mean, inv := s.norm(dst[i*n:(i+1)*n], x[i*n:(i+1)*n], p)
			if p.Mean != nil {
				p.Mean[i] = mean
			}
			if p.Inv != nil {
				p.Inv[i] = inv
			}
		}
	})
}

func (e *Engine) norm(dst, x []float32, p *Norm) (mean, inv float32) {
	n := float32(len(x))
	if !p.RMS {
		mean = e.SumRow(x) / n
	}
	v := e.squares(x, mean)/n + p.Epsilon
	inv = 1 / float32(math.Sqrt(float64(v)))
	e.normalize(dst, x, p, mean, inv)
	return mean, inv
}

func (e *Engine) normalize(dst, x []float32, p *Norm, mean, inv float32) {
	if p.Scale != nil && p.Bias != nil {
		done := e.level.normalize(dst, x, p.Scale, p.Bias, mean, inv)
		normalizeGo(dst[done:], x[done:], p.Scale[done:], p.Bias[done:], mean, inv)
		return
	}
	e.right(opSub, subGo, dst, x, mean)
	e.right(opMul, mulGo, dst, dst, inv)
	if p.Scale != nil {
		e.Mul(dst, dst, p.Scale)
	}
	if p.Bias != nil {
		e.Add(dst, dst, p.Bias)
	}
}

func normalizeGo(dst, x, scale, bias []float32, mean, inv float32) {
	for i, v := range x[:len(dst)] {
		dst[i] = float32(float32((v-mean)*inv)*scale[i]) + bias[i]
	}
}
