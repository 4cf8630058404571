// Package numfmt holds the number formats of ONNX models: their limits, the rounding of a
// value into them, their bits as they lie in a file, and histograms of stored weights that
// tell for every format at once how many values would overflow or vanish.
//
// Rounding is to nearest, ties to even, with gradual underflow. The code never relies on a
// product and a sum being fused or not, so results are the same on every architecture.
package numfmt

import (
	"fmt"
	"strings"
)

// Format is a floating-point format. The zero value is no format: its limits are 0, it
// rounds everything to NaN and encodes nothing.
type Format uint8

// The formats a float tensor may be stored in or lowered to.
const (
	Invalid Format = iota
	FP64
	FP32
	FP16
	BF16
	E4M3FN
	E4M3FNUZ
	E5M2
	E5M2FNUZ
)

// aliases are the names Parse accepts beside those of String: ONNX's and numpy's spellings.
var aliases = [formatCount][]string{
	FP64:     {"float64", "double"},
	FP32:     {"float32", "float"},
	FP16:     {"float16", "half"},
	BF16:     {"bfloat16"},
	E4M3FN:   {"e4m3fn", "float8e4m3fn", "float8_e4m3fn"},
	E4M3FNUZ: {"e4m3fnuz", "float8e4m3fnuz", "float8_e4m3fnuz"},
	E5M2:     {"e5m2", "float8e5m2", "float8_e5m2"},
	E5M2FNUZ: {"e5m2fnuz", "float8e5m2fnuz", "float8_e5m2fnuz"},
}

// Parse returns the format of a name such as "fp16", "bfloat16" or "fp8e4m3fn", in any
// case. The error lists the names of String.
func Parse(name string) (Format, error) {
	lower := strings.ToLower(name)
	for f := FP64; f < formatCount; f++ {
		if lower == specs[f].name {
			return f, nil
		}
		for _, alias := range aliases[f] {
			if lower == alias {
				return f, nil
			}
		}
	}
	return Invalid, fmt.Errorf("unknown number format %q: want one of %s", name, strings.Join(names(), ", "))
}

// names lists the canonical names, widest format first.
func names() []string {
	var out []string
	for f := FP64; f < formatCount; f++ {
		out = append(out, specs[f].name)
	}
	return out
}

// String returns the short name of the format, such as "fp16" or "fp8e4m3fn".
func (f Format) String() string { return f.spec().name }

// Bits returns the size of one element in bits.
func (f Format) Bits() int { return f.spec().bits }

// Max returns the largest finite value.
func (f Format) Max() float64 { return f.spec().max }

// OverflowAt returns the least float64 magnitude that rounds past Max, 65520 for FP16. For
// E4M3FN, whose tie at 464 goes to 448, it is the float64 after 464; for FP64 it is +Inf.
func (f Format) OverflowAt() float64 { return f.spec().overflowAt }

// MinNormal returns the least normal value.
func (f Format) MinNormal() float64 { return f.spec().minNormal }

// MinSubnormal returns the least positive value.
func (f Format) MinSubnormal() float64 { return f.spec().minSubnormal }

// ZeroAt returns the largest magnitude that rounds to 0: half the least subnormal, and 0
// for FP64, of which a float64 cannot hold the half.
func (f Format) ZeroAt() float64 { return f.spec().zeroAt }

// Unit returns the unit roundoff 2^-p, the largest relative error of rounding a normal
// value; p counts the significant bits with the hidden one.
func (f Format) Unit() float64 { return f.spec().unit }

// ExactInt returns the largest n such that every integer from -n to n is held exactly.
func (f Format) ExactInt() float64 { return f.spec().exactInt }

// HasInf reports whether the format has infinities; where it has none, overflow is NaN.
func (f Format) HasInf() bool { return f.spec().inf }
