package numfmt

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tally is what a Histogram must say, counted by rounding each value.
type tally struct {
	Count, Zeros, Infs, NaNs       int64
	Min, Max, MinMag, MaxMag       float64
	Overflow, Underflow, Subnormal [formatCount]int64
	Exponents                      [256]int64
}

func countSlowly(xs []float64) tally {
	r := tally{Min: math.Inf(1), Max: math.Inf(-1), MinMag: math.Inf(1)}
	for _, x := range xs {
		r.Count++
		a := math.Abs(x)
		switch {
		case math.IsNaN(x):
			r.NaNs++
			continue
		case math.IsInf(x, 0):
			r.Infs++
			continue
		}
		r.Min, r.Max, r.MaxMag = min(r.Min, x+0), max(r.Max, x+0), max(r.MaxMag, a)
		if x == 0 {
			r.Zeros++
			continue
		}
		r.MinMag = min(r.MinMag, a)
		r.Exponents[min(max(math.Ilogb(a), -127), 127)+127]++
		r.fate(x)
	}
	if r.Count == r.NaNs+r.Infs {
		r.Min, r.Max = math.NaN(), math.NaN()
	}
	if math.IsInf(r.MinMag, 1) {
		r.MinMag = 0
	}
	return r
}

// fate counts what becomes of x in every format.
func (r *tally) fate(x float64) {
	for _, f := range all {
		switch v := math.Abs(f.Round(x)); {
		case !(v <= f.Max()):
			r.Overflow[f]++
		case v == 0:
			r.Underflow[f]++
		case v < f.MinNormal():
			r.Subnormal[f]++
		}
	}
}

func read(h *Histogram) tally {
	r := tally{Count: h.Count(), Zeros: h.Zeros(), Infs: h.Infs(), NaNs: h.NaNs(),
		Min: h.Min() + 0, Max: h.Max() + 0, MinMag: h.MinMagnitude(), MaxMag: h.MaxMagnitude()}
	for _, f := range all {
		r.Overflow[f], r.Underflow[f], r.Subnormal[f] = h.Overflow(f), h.Underflow(f), h.Subnormal(f)
	}
	for e := -127; e <= 127; e++ {
		r.Exponents[e+127] = h.Exponent(e)
	}
	return r
}

func check(t *testing.T, what string, h *Histogram, xs []float64) {
	t.Helper()
	if diff := cmp.Diff(countSlowly(xs), read(h), cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func widen(xs []float32) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = float64(x)
	}
	return out
}

// samples are slices that take the different ways through the scan.
func samples() map[string][]float32 {
	r := rand.New(rand.NewPCG(3, 4))
	normal := make([]float32, 3*blockLen+17)
	zeros, negative := make([]float32, 5000), make([]float32, 5000)
	for i := range normal {
		normal[i] = float32(r.NormFloat64() * 0.02)
	}
	for i := range negative {
		negative[i] = -normal[i] * normal[i]
	}
	dirty := append([]float32(nil), normal...)
	dirty[blockLen+5] = float32(math.NaN())
	dirty[2*blockLen] = float32(math.Inf(-1))
	return map[string][]float32{
		"empty": nil, "one": {-0.5}, "short": someBits(scanFrom - 1), "bits": someBits(30_000), "normal": normal,
		"zeros": zeros, "negative zeros": scaled(zeros, -1), "negative": negative, "positive": scaled(negative, -1),
		"NaN and Inf": dirty, "huge": scaled(normal, 1e37), "subnormal": scaled(scaled(normal, 1e-20), 1e-20),
	}
}

func scaled(xs []float32, by float32) []float32 {
	out := make([]float32, len(xs))
	for i, x := range xs {
		out[i] = x * by
	}
	return out
}

func TestHistogram(t *testing.T) {
	for name, xs := range samples() {
		var fast, single, merged Histogram
		fast.AddFloats(xs)
		for _, x := range xs {
			single.Add(float64(x))
		}
		check(t, name, &fast, widen(xs))
		check(t, name+", one by one", &single, widen(xs))
		merged.AddFloats(xs[:len(xs)/3])
		var rest Histogram
		rest.AddFloats(xs[len(xs)/3:])
		merged.Merge(&rest)
		if merged != fast {
			t.Errorf("%s: merged parts differ from the whole", name)
		}
	}
}

func TestHistogramRaw(t *testing.T) {
	for name, xs := range samples() {
		for _, f := range all {
			raw := f.AppendEncoded(nil, xs, false)
			var h Histogram
			h.AddRaw(f, raw)
			held := make([]float32, len(xs))
			f.DecodeFloats(held, raw)
			check(t, name+" as "+f.String(), &h, widen(held))
		}
	}
}

func TestHistogramEveryCode(t *testing.T) {
	for _, f := range narrowFormats {
		var raw []byte
		var xs []float64
		for code := uint32(0); code < 1<<f.Bits(); code++ {
			raw = binary.LittleEndian.AppendUint32(raw, code)[:len(raw)+f.Bits()/8]
			xs = append(xs, f.Decode(code))
		}
		var h Histogram
		h.AddRaw(f, raw)
		check(t, f.String(), &h, xs)
	}
}

func TestHistogramIncompleteElement(t *testing.T) {
	var h Histogram
	h.AddRaw(FP32, make([]byte, 4*blockLen+3))
	h.AddRaw(FP64, make([]byte, 17))
	if h.Count() != blockLen+2 {
		t.Errorf("%d elements, want %d", h.Count(), blockLen+2)
	}
}

// TestHistogramFloat64 draws values beyond float32 and next to the thresholds.
func TestHistogramFloat64(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) float64 {
		x := rapid.SampledFrom(thresholds).Draw(t, "threshold")
		switch rapid.IntRange(0, 4).Draw(t, "side") {
		case 0:
			x = math.Nextafter(x, 0)
		case 1:
			x = -math.Nextafter(x, math.Inf(1))
		case 2:
			x = rapid.Float64().Draw(t, "any")
		case 3:
			x = 0
		}
		return x
	})
	rapid.Check(t, func(rt *rapid.T) {
		xs := rapid.SliceOf(value).Draw(rt, "xs")
		var h Histogram
		var raw []byte
		for _, x := range xs {
			h.Add(x)
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
		}
		check(t, "values", &h, xs)
		var stored Histogram
		if stored.AddRaw(FP64, raw); stored != h {
			rt.Fatalf("raw float64 are counted otherwise")
		}
		if t.Failed() {
			rt.Fatalf("see above")
		}
	})
}

// TestCounter: what comes in portions is counted as what comes at once.
func TestCounter(t *testing.T) {
	for name, xs := range samples() {
		c := NewCounter()
		for i := 0; i < len(xs); i += 700 {
			c.Add(xs[i:min(i+700, len(xs))])
		}
		check(t, name, c.Histogram(), widen(xs))
	}
}
