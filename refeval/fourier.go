package refeval

import (
	"errors"
	"math"
	"math/bits"
	"math/cmplx"
)

var errParts = errors.New("the last dimension must be 1 or 2: real and imaginary parts")

// fourier transforms in place; the inverse is divided by the number of points.
func fourier(x []complex128, inverse bool) {
	if inverse {
		conjugate(x)
	}
	if n := len(x); n&(n-1) == 0 {
		fourier2(x)
	} else {
		chirp(x)
	}
	if inverse {
		conjugate(x)
		for i := range x {
			x[i] /= complex(float64(len(x)), 0)
		}
	}
}

func conjugate(x []complex128) {
	for i, v := range x {
		x[i] = cmplx.Conj(v)
	}
}

// angle returns exp(-iπ k/n), exact at the quarters.
func angle(k, n int) complex128 {
	s, c := math.Sincos(-math.Pi * float64(k) / float64(n))
	return complex(c, s)
}

// fourier2 transforms a power of two of points (Cooley and Tukey).
func fourier2(x []complex128) {
	n := len(x)
	if n < 2 {
		return
	}
	shift := 64 - bits.Len(uint(n-1))
	for i := range x {
		if j := int(bits.Reverse64(uint64(i)) >> shift); j > i {
			x[i], x[j] = x[j], x[i]
		}
	}
	w := make([]complex128, n/2)
	for k := range w {
		w[k] = angle(2*k, n)
	}
	for half := 1; half < n; half *= 2 {
		for i := 0; i < n; i += 2 * half {
			for k := range half {
				a, b := x[i+k], x[i+k+half]*w[k*(n/2/half)]
				x[i+k], x[i+k+half] = a+b, a-b
			}
		}
	}
}

// chirp transforms any number of points: as a convolution, by the transform of the next power of
// two (Bluestein).
func chirp(x []complex128) {
	n := len(x)
	m := 1 << bits.Len(uint(2*n-2))
	w := make([]complex128, n)
	for k := range w {
		w[k] = angle(k*k%(2*n), n)
	}
	a, b := make([]complex128, m), make([]complex128, m)
	for k, v := range x {
		a[k] = v * w[k]
		b[k] = cmplx.Conj(w[k])
		b[(m-k)%m] = b[k]
	}
	fourier2(a)
	fourier2(b)
	for i := range a {
		a[i] *= b[i]
	}
	fourier(a, true)
	for k := range x {
		x[k] = a[k] * w[k]
	}
}

// melWeights sums the bins of a spectrum into bands that overlap by half, spaced evenly in mel. The
// edges of the bands are worked out in the precision of the standard's reference: they are cut to
// whole bins.
func melWeights(c *Call) error {
	bands, n, rate := c.In(0).int(), c.In(1).int(), c.In(2).scalar()
	if bands < 0 || n < 1 || bands > math.MaxInt32 || n > math.MaxInt32 {
		refuse("%d bands of a transform of %d points", bands, n)
	}
	lo, hi := mel(c.In(3).scalar()), mel(c.In(4).scalar())
	step := (hi - lo) / float64(bands+2)
	bin := func(i int) int {
		hertz := 700 * math.Expm1((float64(i)*step+lo)/2595*math.Ln10)
		return int(math.Floor(float64(n+1) * hertz / rate))
	}
	y := c.Out(0, c.elemAttr("output_datatype"), []int{n/2 + 1, bands})
	for i := range bands {
		left, mid, right := bin(i), bin(i+1), bin(i+2)
		if left < 0 || max(mid, right-1) > n/2 {
			refuse("band %d reaches from bin %d to %d of %d", i, left, right, n/2+1)
		}
		y.band(i, bands, left, mid, right)
	}
	return nil
}

func mel(hertz float64) float64 {
	return float64(2595*float32(math.Log1p(float64(float32(hertz)/700)))) / math.Ln10
}

// band sets a column to a triangle over the bins from left to right.
func (t *Tensor) band(col, cols, left, mid, right int) {
	if left == mid {
		t.put64(mid*cols+col, 1)
	}
	for j := left; j <= mid && left < mid; j++ {
		t.put64(j*cols+col, float64(j-left)/float64(mid-left))
	}
	for j := mid; j < right; j++ {
		t.put64(j*cols+col, float64(right-j)/float64(right-mid))
	}
}
