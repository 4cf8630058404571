package rangeprop

import "math"

// Estimates of means, sums and extremes.

// reducedMoments are those of means, sums and maxima of n elements.
func (c *call) reducedMoments(name string) *moments {
	x := c.mom(0)
	n := 1.0
	rho := pooled
	switch name {
	case "GlobalAveragePool", "GlobalMaxPool":
		rho = apart
		n = c.trailingCount(0, 2)
		x = x.perChannel()
	case "AveragePool", "MaxPool":
		n = c.kernel()
		x = x.perChannel()
	default:
		n = c.summands(name)
		if images, keep := c.overImages(); images {
			rho = apart
			if x = x.perChannel(); !keep && len(x.dims) > 1 {
				x = &moments{x.dims[:2], x.mean, x.vari}
			}
			break
		}
		x = x.flat()
	}
	if n < 1 || math.IsInf(n, 0) {
		n = manyTerms
	}
	out := &moments{x.dims, make([]float64, len(x.mean)), make([]float64, len(x.mean))}
	for i, m := range x.mean {
		v := x.vari[i]
		out.mean[i], out.vari[i] = reducedOf(name, n, m, v, rho)
	}
	return out
}

// summands is the number of elements that a reduction joins. A mean and an extreme of a length that nothing tells are
// those of many; a sum is taken to be no longer than it has to be.
func (c *call) summands(name string) float64 {
	n := math.Max(c.leastCount(), 1)
	switch name {
	case "ReduceMean", "ReduceMax", "ReduceMin":
		if _, axes, _, ok := c.reduction(); !ok || c.open(axes) {
			n = math.Max(n, manyTerms)
		}
	}
	return n
}

// open tells whether the length of one of the axes is not known.
func (c *call) open(axes []bool) bool {
	for i, on := range axes {
		if lo, hi := c.dim(0, i); on && lo != hi {
			return true
		}
	}
	return false
}

// overImages tells whether a reduction joins all positions of each channel, and whether their axes stay.
func (c *call) overImages() (yes, keep bool) {
	_, axes, keep, ok := c.reduction()
	if !ok || len(axes) < 3 || len(c.mom(0).dims) != len(axes) {
		return false, false
	}
	for i, on := range axes {
		if on != (i > 1) {
			return false, false
		}
	}
	return true, keep
}

// reducedOf are the moments of what n elements of mean m and variance v come to, which a mean and an extreme take to be
// correlated by rho.
func reducedOf(name string, n, m, v, rho float64) (mean, vari float64) {
	squares := m*m + v // the mean of the squares of normal variables, whose variance is 2v² + 4vm²
	spread := v * (2*v + 4*m*m)
	switch name {
	case "ReduceSum":
		return n * m, n * v
	case "ReduceMax", "GlobalMaxPool", "MaxPool":
		return m + extremeOf(v, n)*(1-rho), v * (1 + rho)
	case "ReduceMin":
		return m - extremeOf(v, n)*(1-rho), v * (1 + rho)
	case "ReduceSumSquare":
		return n * squares, n * spread
	case "ReduceL2":
		if squares == 0 {
			return 0, 0
		}
		return math.Sqrt(n * squares), spread / (4 * squares)
	case "ReduceL1":
		size := m*math.Erf(m/math.Sqrt(2*v)) + math.Sqrt(2*v/math.Pi)*math.Exp(-m*m/(2*v))
		if v == 0 {
			size = math.Abs(m)
		}
		return n * size, n * math.Max(squares-size*size, 0)
	}
	return m, v * ((1-rho)/n + rho)
}

// extremeOf is about how far above their mean the largest of many normal variables of variance v lies. What networks
// take it of has longer tails, and few elements that are alike: the largest comes closer to the mean the more they are,
// and varies more than one of them. That of normal variables (Blom, 1958), which vary less, left trained networks further
// off.
func extremeOf(v, n float64) float64 { return math.Sqrt(2 * v * math.Log(n)) }

// perChannel keeps the channel axis of images apart.
func (m *moments) perChannel() *moments {
	keep := make([]bool, len(m.dims))
	if len(keep) > 1 {
		keep[1] = true
	}
	return m.collapse(keep)
}
