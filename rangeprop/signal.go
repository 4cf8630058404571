package rangeprop

import "math"

func signalOps() map[string]op {
	return map[string]op{
		"DFT": approx(dftOp), "STFT": approx(stftOp), "HannWindow": squash(windowOp(0, 1)), "HammingWindow": squash(windowOp(0.08, 1)),
		"BlackmanWindow": squash(windowOp(-1e-6, 1)), "MelWeightMatrix": squash(windowOp(0, 1)),
	}
}

// spectrum bounds a discrete Fourier transform of n elements: real and imaginary part of each
// output are sums of n elements turned, of complex ones by up to √2.
func spectrum(x *Val, n float64, complex, inverse bool) *Val {
	m := x.Hull().MaxAbs()
	if complex {
		m *= math.Sqrt2
	}
	if !inverse {
		m = product(m, n)
	}
	m *= 1 + math.Min(sumError(n, 16), 1)
	v := scalar(Range{-m, m})
	v.rest(x)
	v.nan = x.nan || x.special()
	return v
}

func dftOp(c *call) *Val {
	rank := c.rank(0)
	if rank < 2 {
		return anyOf(c)
	}
	n := c.elements()
	axis, ok := c.axis("axis", 1, rank)
	if c.n.Version() >= 20 {
		a, given := c.number(2)
		if axis = rank - 2; given {
			axis = int(a)
		}
		if axis < 0 {
			axis += rank
		}
		ok = given || !c.has(2)
	}
	if _, hi := c.dim(0, axis); ok && hi >= 0 {
		n = float64(hi)
	}
	if k, given := c.number(1); given && k >= 0 { // more are zeros
		n = math.Min(n, k)
	}
	_, last := c.dim(0, rank-1)
	return spectrum(c.x(0), n, last != 1, c.n.Int("inverse", 0) != 0)
}

// stftOp transforms frames under a window.
func stftOp(c *call) *Val {
	x, n := c.x(0).flat(), c.elements()
	if c.has(2) {
		x = times(x, c.in[2].flat())
		if _, hi := c.dim(2, 0); hi >= 0 {
			n = float64(hi)
		}
	}
	if k, given := c.number(3); given {
		n = k
	}
	_, last := c.dim(0, c.rank(0)-1)
	return spectrum(x, n, c.rank(0) == 3 && last != 1, false)
}

func fftOp(c *call) *Val { return spectrum(c.x(0), c.elements(), true, false) }

func windowOp(lo, hi float64) func(c *call) *Val {
	return func(c *call) *Val {
		v := scalar(Range{lo, hi})
		v.nan = c.n.Int("periodic", 1) == 0 && c.x(0).Hull().Lo <= 1 // one element is divided by none
		return v
	}
}
