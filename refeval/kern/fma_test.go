package kern

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFMAIsRoundedOnce compares with exact arithmetic on operands that meet halfway points often.
func TestFMAIsRoundedOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	twice := 0
	for range 50000 {
		a, b := short(r), short(r)
		c := float32(math.Ldexp(float64(short(r)), r.IntN(80)-40))
		if r.IntN(4) == 0 { // where the sum may be subnormal
			a, c = a*0x1p-120, c*0x1p-120
		}
		x := new(big.Float).SetPrec(400).SetFloat64(float64(a) * float64(b))
		want, _ := x.Add(x, big.NewFloat(float64(c))).Float32()
		if got := fma32(a, b, c); got != want {
			t.Fatalf("%g * %g + %g is %g, want %g", a, b, c, got, want)
		}
		if float32(float64(a)*float64(b)+float64(c)) != want {
			twice++
		}
	}
	if twice == 0 {
		t.Error("no operands of the test tell one rounding from two")
	}
}

// short is a number of few bits, so that sums end in long runs of zeros.
func short(r *rand.Rand) float32 {
	return float32(1+r.IntN(3)*2) * float32(math.Ldexp(1, r.IntN(60)-30)) * (1 + float32(r.IntN(2))*0x1p-23)
}
