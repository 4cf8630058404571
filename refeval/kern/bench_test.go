package kern

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/amplint/amplint/numfmt"
)

// perCPU reports the work of a benchmark, in units of 10^9 per second that the process had a
// processor: other programs on the machine matter less to it than to wall time.
func perCPU(b *testing.B, name string, work int, f func()) {
	b.Helper()
	f()
	start := cpuSeconds()
	b.ResetTimer()
	for b.Loop() {
		f()
	}
	b.StopTimer()
	if s := cpuSeconds() - start; s > 0 {
		b.ReportMetric(float64(work)*float64(b.N)/s/1e9, name)
	}
}

// levels runs a benchmark on each level, and on two threads of the best.
func levels(b *testing.B, f func(b *testing.B, e *Engine)) {
	for _, l := range Levels() {
		b.Run(l.String(), func(b *testing.B) { f(b, NewAt(l, 1)) })
	}
	b.Run("threads", func(b *testing.B) {
		e := New(2)
		defer e.Close()
		f(b, e)
	})
}

func BenchmarkGemm(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range []gemmShape{{32, 384, 384}, {64, 384, 384}, {128, 768, 3072}, {512, 512, 512}} {
		x, y, z := randoms(r, s.m*s.k), randoms(r, s.k*s.n), make([]float32, s.m*s.n)
		p := Pack(Rows(y, s.n), s.k, s.n)
		b.Run(fmt.Sprintf("%dx%dx%d", s.m, s.n, s.k), func(b *testing.B) {
			levels(b, func(b *testing.B, e *Engine) {
				perCPU(b, "GF/cpu-s", 2*s.m*s.n*s.k, func() { e.Gemm(z, s.n, Rows(x, s.k), Rows(y, s.n), s.m, s.n, s.k, false) })
			})
		})
		b.Run(fmt.Sprintf("%dx%dx%d-packed", s.m, s.n, s.k), func(b *testing.B) {
			levels(b, func(b *testing.B, e *Engine) {
				perCPU(b, "GF/cpu-s", 2*s.m*s.n*s.k, func() { e.GemmPacked(z, s.n, Rows(x, s.k), p, s.m, false) })
			})
		})
	}
}

func BenchmarkGemmSum(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	s := gemmShape{64, 384, 384}
	x, y, z := randoms(r, s.m*s.k), randoms(r, s.k*s.n), make([]float32, s.m*s.n)
	for _, f := range []numfmt.Format{numfmt.FP16, numfmt.BF16} {
		b.Run(f.String(), func(b *testing.B) {
			levels(b, func(b *testing.B, e *Engine) {
				perCPU(b, "GMAC/cpu-s", s.m*s.n*s.k, func() {
					e.GemmSum(Sum{Format: f}, z, s.n, Rows(x, s.k), Rows(y, s.n), s.m, s.n, s.k)
				})
			})
		})
	}
}

func BenchmarkConv(b *testing.B) {
	one := []int{1, 1}
	square := func(in, out, groups, size, kernel int) Conv {
		p := []int{kernel / 2, kernel / 2}
		return Conv{Batch: 1, In: in, Out: out, Groups: groups, Size: []int{size, size}, Kernel: []int{kernel, kernel}, Stride: one, Dilation: one, Begin: p, End: p}
	}
	for _, c := range []Conv{square(64, 64, 1, 80, 3), square(96, 24, 1, 160, 3), square(96, 24, 1, 160, 1), square(16, 32, 1, 320, 1),
		square(192, 192, 1, 40, 1), square(16, 16, 16, 320, 3), square(48, 48, 48, 160, 3), square(192, 192, 192, 48, 3)} {
		r := rand.New(rand.NewPCG(1, 1))
		n, k := product(c.Size), c.In/c.Groups*product(c.Kernel)
		x, w, y := randoms(r, c.In*n), randoms(r, c.Out*k), make([]float32, c.Out*n)
		b.Run(fmt.Sprintf("%dx%d-%dx%d-%d-groups%d", c.Kernel[0], c.Kernel[1], c.In, c.Size[0], c.Out, c.Groups), func(b *testing.B) {
			levels(b, func(b *testing.B, e *Engine) {
				perCPU(b, "GF/cpu-s", 2*c.Out*n*k, func() { e.Conv(y, x, w, nil, &c) })
			})
		})
	}
}

func BenchmarkElementwise(b *testing.B) {
	const n = 98304
	r := rand.New(rand.NewPCG(1, 1))
	x, y, z := randoms(r, n), randoms(r, n), make([]float32, n)
	for _, c := range []struct {
		name string
		f    func(e *Engine)
	}{
		{"exp", func(e *Engine) { e.Exp(z, x) }},
		{"tanh", func(e *Engine) { e.Tanh(z, x) }},
		{"erf", func(e *Engine) { e.Erf(z, x) }},
		{"sigmoid", func(e *Engine) { e.Sigmoid(z, x) }},
		{"softmax128", func(e *Engine) { e.Softmax(z, x, n/128, 128) }},
		{"layernorm384", func(e *Engine) { e.LayerNorm(z, x, n/384, 384, &Norm{Scale: y[:384], Bias: y[:384], Epsilon: 1e-5}) }},
		{"add", func(e *Engine) { e.Add(z, x, y) }},
		{"scale", func(e *Engine) { e.Mul(z, x, y[:1]) }},
		{"div", func(e *Engine) { e.Div(z, x, y) }},
		{"relu", func(e *Engine) { e.Clip(z, x, 0, 1e30) }},
		{"fp16", func(e *Engine) { e.Round(numfmt.FP16, y, false) }},
		{"bf16", func(e *Engine) { e.Round(numfmt.BF16, y, false) }},
		{"stats", func(e *Engine) { e.Stats(numfmt.FP16, x) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			levels(b, func(b *testing.B, e *Engine) { perCPU(b, "G/cpu-s", n, func() { c.f(e) }) })
		})
	}
}

// BenchmarkBoundRows takes chunks of weights as an analysis does, of narrow and of wide matrices.
func BenchmarkBoundRows(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	const size = 32 << 10
	x := randoms(r, size)
	for _, width := range []int{768, 2048, 8192} {
		rows := size / width
		y, mid, rad := x[:rows*width], make([]float64, rows), make([]float64, rows)
		sums := &RowSums{make([]float64, width), make([]float64, width), make([]float64, width)}
		low, high := make([]float32, width), make([]float32, width)
		e := New(1)
		b.Run(fmt.Sprintf("dots-%d", width), func(b *testing.B) {
			perCPU(b, "Gel/cpu-s", len(y), func() { e.DotRows(sums, y, mid, rad, rad) })
		})
		b.Run(fmt.Sprintf("extremes-%d", width), func(b *testing.B) {
			perCPU(b, "Gel/cpu-s", len(y), func() { e.ExtremeRows(low, high, y) })
		})
	}
}
