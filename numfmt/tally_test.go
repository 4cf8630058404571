package numfmt

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// told is all that a tally and a histogram both tell.
type told struct {
	Count, Zeros, Infs, NaNs, Overflow, Underflow, Subnormal int64
	Min, Max, MinMagnitude, MaxMagnitude                     float64
}

func toldByTally(t *Tally) told {
	return told{t.Count(), t.Zeros(), t.Infs(), t.NaNs(), t.Overflow(), t.Underflow(), t.Subnormal(), t.Min(), t.Max(), t.MinMagnitude(), t.MaxMagnitude()}
}

func toldByHistogram(h *Histogram, f Format) told {
	return told{h.Count(), h.Zeros(), h.Infs(), h.NaNs(), h.Overflow(f), h.Underflow(f), h.Subnormal(f), h.Min(), h.Max(), h.MinMagnitude(), h.MaxMagnitude()}
}

func (a told) same(b told) bool {
	nan := math.IsNaN(a.Min) && math.IsNaN(b.Min) && math.IsNaN(a.Max) && math.IsNaN(b.Max)
	if nan {
		a.Min, a.Max, b.Min, b.Max = 0, 0, 0, 0
	}
	return a == b
}

// tallyInputs are numbers by what is special in them.
func tallyInputs() map[string][]float32 {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, scale float64) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(random.NormFloat64() * scale * math.Ldexp(1, -random.IntN(12)))
		}
		return x
	}
	thresholds := halfInputs()
	return map[string][]float32{"none": nil, "one": {-3}, "zeros": make([]float32, 100), "weights": draw(3*blockLen+5, 0.1),
		"tiny": draw(5000, 1e-7), "tiniest": draw(5000, 1e-40), "large": draw(5000, 1e5), "largest": draw(5000, 1e37), "special": thresholds,
		"all NaN": {float32(math.NaN()), float32(math.NaN())}, "NaN last": append(draw(1000, 1), float32(math.NaN()))}
}

// TestTally: a tally tells what a histogram tells.
func TestTally(t *testing.T) {
	for name, x := range tallyInputs() {
		for f := FP32; f < formatCount; f++ {
			h, one, parts := new(Histogram), NewTally(f), NewTally(f)
			h.AddFloats(x)
			one.Add(x)
			other := NewTally(f)
			other.Add(x[:len(x)/3])
			parts.Add(x[len(x)/3:])
			parts.Merge(other)
			want := toldByHistogram(h, f)
			if got := toldByTally(one); !got.same(want) {
				t.Errorf("%s in %s: %+v, want %+v", name, f, got, want)
			}
			if *parts != *one {
				t.Errorf("%s in %s: two parts give %+v, want %+v", name, f, parts, one)
			}
		}
	}
}

// TestTallyRounded: the tally of rounded numbers follows from that of the numbers.
func TestTallyRounded(t *testing.T) {
	done := 0
	for name, x := range tallyInputs() {
		for f := FP32; f < formatCount; f++ {
			before, want := NewTally(f), NewTally(f)
			before.Add(x)
			y := make([]float32, len(x))
			f.RoundFloats(y, x)
			want.Add(y)
			got, ok := before.Rounded()
			if ok != (want.NaNs()+want.Infs() == 0 && before.Infs() == 0) {
				t.Errorf("%s in %s: known %v", name, f, ok)
			}
			if ok && *got != *want {
				t.Errorf("%s in %s: %+v, want %+v", name, f, got, want)
			}
			if ok {
				done++
			}
		}
	}
	if done < 30 {
		t.Errorf("only %d tallies were compared", done)
	}
}

// TestTallyVectors: the processor counts what one number after the other gives.
func TestTallyVectors(t *testing.T) {
	x := tallyInputs()["weights"]
	l := NewTally(FP16).limits
	for _, n := range []int{0, 7, 8, 100, 4000} {
		got := tallied{ends: extremes{least: noLeast}, survive: noLeast}
		want := got
		done := l.vectors(&got, x[:n])
		for _, v := range x[:done] {
			l.count(&want, math.Float32bits(v))
		}
		if got != want || hasHalves() && done != n&^7 {
			t.Errorf("of %d numbers %d are done and give %+v, want %+v", n, done, got, want)
		}
	}
}

// TestTallyEncoded: counting and encoding at once gives what each gives.
func TestTallyEncoded(t *testing.T) {
	for name, x := range tallyInputs() {
		for f := FP32; f < formatCount; f++ {
			for _, saturate := range []bool{false, true} {
				got, want := NewTally(f), NewTally(f)
				want.Add(x)
				raw := got.AddEncoded([]byte("head"), x, saturate)
				if *got != *want || !bytes.Equal(raw, f.AppendEncoded([]byte("head"), x, saturate)) {
					t.Errorf("%s in %s, saturated %t: %+v, want %+v, or other bytes", name, f, saturate, got, want)
				}
			}
		}
	}
}

// TestTallyQuick: where nothing is special in numbers, they count as one after the other does.
func TestTallyQuick(t *testing.T) {
	if !hasHalves() {
		t.Skip("no vectors")
	}
	x := tallyInputs()["weights"][:64]
	for f := FP32; f < formatCount; f++ {
		l := NewTally(f).limits
		for _, put := range []float32{x[9], -x[9], 0, float32(f.ZeroAt()), float32(math.NaN()), float32(math.Inf(-1)), math.MaxFloat32} {
			y := slices.Clone(x)
			y[9] = put
			want := tallied{ends: extremes{least: noLeast}, survive: noLeast}
			for _, v := range y {
				l.count(&want, math.Float32bits(v))
			}
			usual := want.reached[1] == 64 && want.reached[3] == 0 && put == put && !math.IsInf(float64(put), 0)
			if got, ok := l.quick(nil, y); ok != usual || ok && got != want {
				t.Errorf("%s with %v: %+v %t, want %+v %t", f, put, got, ok, want, usual)
			}
		}
	}
}

// BenchmarkTally counts as much as stays in the second cache.
func BenchmarkTally(b *testing.B) {
	x, y := weights(32<<10), NewTally(FP16)
	b.SetBytes(int64(4 * len(x)))
	for b.Loop() {
		y.Add(x)
	}
}

func BenchmarkTallyEncoded(b *testing.B) {
	x, y, buf := weights(32<<10), NewTally(FP16), []byte(nil)
	b.SetBytes(int64(4 * len(x)))
	for b.Loop() {
		buf = y.AddEncoded(buf[:0], x, false)
	}
}
