package numfmt

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

// halfInputs are float32 of every exponent with ties and their neighbours, in blocks with and without
// what overflows.
func halfInputs() []float32 {
	var x []float32
	for b := uint32(0); b < infBits; b += 0x7ff {
		x = append(x, math.Float32frombits(b), -math.Float32frombits(b&^0xfff), math.Float32frombits(b&^0x1fff|0x1000))
	}
	x = append(x, 65504, 65519.996, 65520, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.Float32frombits(0xffabcdef))
	return append(x, x[:1237]...)
}

// TestHalves: the processor's conversions give the bits of ours.
func TestHalves(t *testing.T) {
	s, x := &specs[FP16], halfInputs()
	for _, over := range []uint32{s.overflowCode, s.maxCode} {
		got, want := make([]byte, 2*len(x)), make([]byte, 2*len(x))
		s.put16(got, x, over)
		s.put16Slowly(want, x, over)
		if !bytes.Equal(got, want) {
			t.Errorf("narrowed with %#x past the largest: other bytes", over)
		}
	}
	want, inPlace := make([]float32, len(x)), slices.Clone(x)
	roundFP16Slowly(want, x)
	roundFP16(inPlace, inPlace)
	compareBits(t, "rounded", inPlace, want)
}

// TestWidenHalves reads every code.
func TestWidenHalves(t *testing.T) {
	var raw []byte
	for c := range 1 << 16 {
		raw = append(raw, byte(c), byte(c>>8))
	}
	raw = raw[:len(raw)-6] // no multiple of eight
	got, want := make([]float32, len(raw)/2), make([]float32, len(raw)/2)
	specs[FP16].get16(got, raw)
	specs[FP16].get16Slowly(want, raw)
	compareBits(t, "widened", got, want)
}

// TestEnds: the processor finds the extremes that one element after the other gives.
func TestEnds(t *testing.T) {
	x := halfInputs()
	for _, n := range []int{0, 7, 8, 100, len(x) - 5} {
		got, done := extremes{least: noLeast}.ends(x[:n])
		want := extremes{least: noLeast}
		for _, v := range x[:done] {
			want = want.with(math.Float32bits(v))
		}
		if got != want || hasHalves() && done != n&^7 {
			t.Errorf("of %d elements %d are done and give %v, want %v", n, done, got, want)
		}
	}
}

func compareBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, g := range got {
		if math.Float32bits(g) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %x, want %x", what, i, math.Float32bits(g), math.Float32bits(want[i]))
		}
	}
}
