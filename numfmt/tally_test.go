package numfmt

import (
	"math"
	"math/rand/v2"
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

func BenchmarkTally(b *testing.B) {
	x := tallyInputs()["weights"]
	b.SetBytes(int64(4 * len(x)))
	for b.Loop() {
		NewTally(FP16).Add(x)
	}
}
