package refeval

import (
	"math"
	"slices"
)

// signalOps are Fourier transforms and windows.
func signalOps() []entry {
	return []entry{
		op("BlackmanWindow", windowNode(func(t float64) float64 { return 0.42 - 0.5*math.Cos(t) + 0.08*math.Cos(2*t) })),
		op("DFT", dft),
		op("HammingWindow", windowNode(func(t float64) float64 { return (25 - 21*math.Cos(t)) / 46 })),
		op("HannWindow", windowNode(func(t float64) float64 { return 0.5 - 0.5*math.Cos(t) })),
		op("MelWeightMatrix", melWeights),
		op("STFT", stft),
	}
}

// windowNode makes a kernel of a function of the angle, which goes once around over the window; a
// window that is not periodic ends where it began.
func windowNode(f func(t float64) float64) func(c *Call) error {
	return func(c *Call) error {
		n := c.In(0).int()
		y := c.Out(0, c.elemAttr("output_datatype"), []int{n})
		period := float64(n)
		if c.Int("periodic") == 0 {
			period--
		}
		for i := range n {
			y.put64(i, f(2*math.Pi*float64(i)/period))
		}
		return nil
	}
}

// spectrum is one kind of transform: of n points, of which the result keeps out.
type spectrum struct {
	n, out   int
	inverse  bool
	oneSided bool
}

// parts is 2 where the result is complex. The inverse of one half of a spectrum is real.
func (s spectrum) parts() int { return pick(s.inverse && s.oneSided, 1, 2) }

// transform returns the transform of as many points as there are; the rest are zeros.
func (s spectrum) transform(x []complex128) []complex128 {
	line := make([]complex128, s.n)
	copy(line, x)
	if s.parts() == 1 {
		mirror(line, len(x))
	}
	fourier(line, s.inverse)
	return line[:s.out]
}

// mirror completes the half of a spectrum that a real signal has, given so many points of it.
func mirror(line []complex128, given int) {
	n := len(line)
	for k := range n {
		switch {
		case 2*k > n:
			v := line[n-k]
			line[k] = complex(real(v), -imag(v))
		case k >= given:
			line[k] = 0
		case k == 0 || 2*k == n:
			line[k] = complex(real(line[k]), 0)
		}
	}
}

// dft transforms along an axis; the last dimension holds real and imaginary parts. Before opset 20
// the axis was an attribute.
func dft(c *Call) error {
	x, at := c.In(0), c.IntOr("axis", 1)
	if c.Version >= 20 {
		at = -2
		if c.Has(2) {
			at = c.In(2).int()
		}
	}
	at = axis(at, x.Rank())
	if at == x.Rank()-1 {
		refuse("axis %d holds the real and imaginary parts", at)
	}
	s := spectrum{n: x.Dims[at], inverse: c.Int("inverse") != 0, oneSided: c.Int("onesided") != 0}
	switch {
	case c.Has(1):
		s.n = c.In(1).int()
	case s.parts() == 1:
		s.n = 2 * (x.Dims[at] - 1)
	}
	if s.n < 1 {
		refuse("a transform of %d points", s.n)
	}
	s.out = s.n
	if s.oneSided && !s.inverse {
		s.out = s.n/2 + 1
	}
	c.spectra(x, at, s)
	return nil
}

// spectra sets output 0 to the transforms of all lines along an axis.
func (c *Call) spectra(x *Tensor, at int, s spectrum) {
	dims := slices.Clone(x.Dims)
	last := len(dims) - 1
	dims[at], dims[last] = s.out, s.parts()
	y := c.Out(0, x.Elem, dims)
	outer, n, inner := split3(x.Dims[:last], at)
	const copies = 16 * 12 // bytes of the lines that a transform of any length needs
	c.room(int64(min(s.n, math.MaxInt64/copies)) * copies)
	c.parallel(outer*inner, 32*s.n, func(lo, hi int) {
		line := make([]complex128, min(n, s.n))
		for r := lo; r < hi; r++ {
			o, i := r/inner, r%inner
			for k := range line {
				line[k] = x.complexAt((o*n+k)*inner+i, x.Dims[last])
			}
			for k, v := range s.transform(line) {
				y.putComplex((o*s.out+k)*inner+i, s.parts(), v)
			}
		}
	})
}

// complexAt returns number i of a tensor that holds so many parts of each.
func (t *Tensor) complexAt(i, parts int) complex128 {
	switch parts {
	case 1:
		return complex(t.at64(i), 0)
	case 2:
		return complex(t.at64(2*i), t.at64(2*i+1))
	}
	panic(refusal{errParts})
}

// putComplex sets number i.
func (t *Tensor) putComplex(i, parts int, v complex128) {
	t.put64(parts*i, real(v))
	if parts == 2 {
		t.put64(2*i+1, imag(v))
	}
}

// stft transforms stretches of a signal, each weighted by a window.
func stft(c *Call) error {
	x, step, window := c.In(0), c.In(1).int(), c.In(2)
	parts := 1
	if x.Rank() == 3 {
		parts = x.Dims[2]
	}
	if x.Rank() != 3 && x.Rank() != 2 || step < 1 {
		refuse("a signal %s in steps of %d", x, step)
	}
	n := x.Dims[1]
	switch {
	case c.Has(3):
		n = c.In(3).int()
	case window != nil:
		n = window.Len()
	}
	if n < 1 || n > x.Dims[1] || window != nil && window.Len() != n {
		refuse("stretches of %d of a signal %s", n, x)
	}
	s := spectrum{n: n, out: n}
	if c.Int("onesided") != 0 {
		s.oneSided, s.out = true, n/2+1
	}
	frames := (x.Dims[1]-n)/step + 1
	y := c.Out(0, x.Elem, []int{x.Dims[0], frames, s.out, 2})
	c.parallel(x.Dims[0]*frames, 32*n, func(lo, hi int) {
		line := make([]complex128, n)
		for f := lo; f < hi; f++ {
			from := f/frames*x.Dims[1] + f%frames*step
			for k := range line {
				line[k] = x.complexAt(from+k, parts)
				if window != nil {
					line[k] *= complex(window.at64(k), 0)
				}
			}
			for k, v := range s.transform(line) {
				y.putComplex(f*s.out+k, 2, v)
			}
		}
	})
	return nil
}
