package numfmt

import (
	"math/rand/v2"
	"testing"
)

// weights returns n numbers spread as trained weights are.
func weights(n int) []float32 {
	r := rand.New(rand.NewPCG(5, 6))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64() * 0.02)
	}
	return out
}

const benchLen = 1 << 20

func BenchmarkRoundFloats(b *testing.B) {
	xs, dst := weights(benchLen), make([]float32, benchLen)
	for _, f := range narrowFormats {
		b.Run(f.String(), func(b *testing.B) {
			b.SetBytes(4 * benchLen)
			for b.Loop() {
				f.RoundFloats(dst, xs)
			}
		})
	}
}

func BenchmarkAppendEncoded(b *testing.B) {
	xs, dst := weights(benchLen), make([]byte, 0, 8*benchLen)
	for _, f := range all {
		b.Run(f.String(), func(b *testing.B) {
			b.SetBytes(4 * benchLen)
			for b.Loop() {
				f.AppendEncoded(dst, xs, true)
			}
		})
	}
}

func BenchmarkDecodeFloats(b *testing.B) {
	xs, dst := weights(benchLen), make([]float32, benchLen)
	for _, f := range all {
		raw := f.AppendEncoded(nil, xs, true)
		b.Run(f.String(), func(b *testing.B) {
			b.SetBytes(4 * benchLen)
			for b.Loop() {
				f.DecodeFloats(dst, raw)
			}
		})
	}
}

func BenchmarkHistogramRaw(b *testing.B) {
	xs := weights(benchLen)
	for _, f := range all {
		raw := f.AppendEncoded(nil, xs, true)
		b.Run(f.String(), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				var h Histogram
				h.AddRaw(f, raw)
			}
		})
	}
}

func BenchmarkHistogramFloats(b *testing.B) {
	for _, n := range []int{64, 1024, benchLen} {
		xs := weights(n)
		b.Run("", func(b *testing.B) {
			b.SetBytes(int64(4 * n))
			for b.Loop() {
				var h Histogram
				h.AddFloats(xs)
			}
		})
	}
}
