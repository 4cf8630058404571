package rangeprop

import (
	"encoding/binary"
	"math"
	"math/rand"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// matrixOf is a constant of rows by cols small weights, a few of them 0 or subnormal in float16.
func matrixOf(rng *rand.Rand, rows, cols int, scale float64) *graph.Tensor {
	var raw []byte
	for range rows * cols {
		w := rng.NormFloat64() * scale
		switch rng.Intn(20) {
		case 0:
			w = 0
		case 1:
			w *= 1e-6
		}
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(w)))
	}
	return graph.NewTensor("w", graph.Float, []int64{int64(rows), int64(cols)}, raw)
}

// boundsOf are n bounds and others so many times as large that lie off by a share of their magnitude.
func boundsOf(rng *rand.Rand, n int, scale, share float64) (lo, hi, lo2, hi2 []float64) {
	for range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		a, b = math.Min(a, b), math.Max(a, b)
		lo, hi = append(lo, a), append(hi, b)
		a, b = a*scale, b*scale
		size := share * (math.Abs(a/2+b/2) + b/2 - a/2)
		lo2, hi2 = append(lo2, a-size*rng.Float64()), append(hi2, b+size*rng.Float64())
	}
	return lo, hi, lo2, hi2
}

func sumsOf(t *testing.T, f factor, cols int, lo, hi []float64) *dots {
	t.Helper()
	d := newDots(cols, false)
	if err := d.product(f.t, lo, hi, f.flip); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestProducts: sums that follow from earlier ones hold those that reading the converted matrix gives,
// and lie close to them.
func TestProducts(t *testing.T) {
	rng := rand.New(rand.NewSource(3))
	const rows, cols, share = 40, 30, 1.0 / 256
	for i, to := range []graph.ElemType{graph.Float, graph.Float16, graph.BFloat16, graph.Float8E4M3FN, graph.Float, graph.Float16, graph.BFloat16} {
		scale := []float64{1, 300, 1.0 / 7}[i%3]
		for _, flip := range []bool{false, true} {
			f := factor{matrixOf(rng, rows, cols, 0.02), flip}
			if flip {
				f.t = matrixOf(rng, cols, rows, 0.02)
			}
			lo, hi, lo2, hi2 := boundsOf(rng, rows, scale, share)
			m := NewMemo(numfmt.Invalid)
			m.keep(f.t, m.read(f.t))
			m.keepProducts(f, lo, hi, sumsOf(t, f, cols, lo, hi))
			if to != graph.Float {
				f.t = f.t.Converted(to, false)
			}
			format, _ := to.Format()
			got, want := m.product(f, lo2, hi2), sumsOf(t, f, cols, lo2, hi2)
			if got == nil {
				t.Fatalf("%s: the matrix would be read again", to)
			}
			for j, total := range want.total {
				room := 4*(share+format.Unit())*total + 2*scale*rows*3*format.MinSubnormal()
				below, above := want.lo[j]-got.lo[j], got.hi[j]-want.hi[j]
				if min(below, above) < -1e-12*total || max(below, above) > room || got.total[j] < total*(1-1e-12) {
					t.Errorf("%s, flipped %v: sum %d is in [%g, %g], want about [%g, %g]", to, flip, j, got.lo[j], got.hi[j], want.lo[j], want.hi[j])
				}
			}
		}
	}
}

// TestProductsElse: bounds that are others, either way, and weights that the format cannot hold ask for
// the matrix.
func TestProductsElse(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	const n = 20
	for _, c := range []struct {
		name         string
		scale, share float64
	}{{"wider", 0.02, 0.5}, {"narrower", 0.02, -0.5}, {"overflowing", 1e5, 0}} {
		f := factor{matrixOf(rng, n, n, c.scale), false}
		lo, hi, lo2, hi2 := boundsOf(rng, n, 1, c.share)
		m := NewMemo(numfmt.Invalid)
		m.keep(f.t, m.read(f.t))
		m.keepProducts(f, lo, hi, sumsOf(t, f, n, lo, hi))
		if m.product(factor{f.t.Converted(graph.Float16, true), false}, lo2, hi2) != nil {
			t.Errorf("%s: it is not read again", c.name)
		}
	}
}
