//go:build unix

package kern

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/amplint/amplint/numfmt"
)

// guarded returns a copy of x that ends at a page which may not be touched.
func guarded(t *testing.T, x []float32) []float32 {
	t.Helper()
	page := unix.Getpagesize()
	size := roundUp(4*len(x)+1, page)
	b, err := unix.Mmap(-1, 0, size+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(b) })
	if err := unix.Mprotect(b[size:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	if len(x) == 0 {
		return nil
	}
	y := unsafe.Slice((*float32)(unsafe.Pointer(&b[size-4*len(x)])), len(x))
	copy(y, x)
	return y
}

// TestNothingBeyondTheEndIsTouched runs the kernels on slices that end where memory ends. An access
// behind them ends the test program.
func TestNothingBeyondTheEndIsTouched(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, l := range Levels() {
		e := NewAt(l, 1)
		for _, s := range []gemmShape{{1, 1, 1}, {7, 33, 5}, {13, 64, 70}, {3, 100, 300}, {20, 31, 9}} {
			a, b, c := guarded(t, randoms(r, s.m*s.k)), guarded(t, randoms(r, s.k*s.n)), guarded(t, randoms(r, s.m*s.n))
			e.Gemm(c, s.n, Rows(a, s.k), Rows(b, s.n), s.m, s.n, s.k, true)
			e.Gemm(c, s.n, Matrix{a, 1, s.m}, Matrix{b, 1, s.k}, s.m, s.n, s.k, false)
			e.GemmPacked(c, s.n, Rows(a, s.k), Pack(Rows(b, s.n), s.k, s.n), s.m, false)
			e.GemmSum(Sum{Format: numfmt.FP16}, c, s.n, Rows(a, s.k), Rows(b, s.n), s.m, s.n, s.k)
		}
		for _, c := range convs() {
			x, w := guarded(t, randoms(r, c.Batch*c.In*product(c.Size))), guarded(t, randoms(r, c.Out*c.In/c.Groups*product(c.Kernel)))
			e.Conv(guarded(t, make([]float32, c.Batch*c.Out*product(c.OutSize()))), x, w, guarded(t, make([]float32, c.Out)), &c)
		}
		for _, n := range []int{1, 8, 19, 64, 333} {
			x, y := guarded(t, randoms(r, n)), guarded(t, randoms(r, n))
			for _, f := range elementwise(y) {
				f(e, guarded(t, x), x)
			}
			e.Stats(numfmt.FP16, x)
		}
	}
}
