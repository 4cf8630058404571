package tokens

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// Image is a linear image of a token, x·A + b.
type Image struct {
	A []float32 // a row for each channel
	B []float64 // as long as a row
}

func (m *Image) width() int { return len(m.B) }

// norm is that of the columns from..to.
func (m *Image) norm(from, to int) float64 {
	sum := 0.0
	for i := 0; i < len(m.A); i += m.width() {
		sum += squares(m.A[i+from : i+to])
	}
	return math.Sqrt(sum)
}

// key is what images and numbers are told apart by.
func key(sizes []int, floats []float32, numbers []float64) [sha256.Size]byte {
	h := sha256.New()
	buf := make([]byte, 0, 1<<12)
	flush := func(least int) {
		if len(buf) >= least {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	for _, n := range sizes {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(n))
	}
	for _, x := range numbers {
		buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(x))
		flush(1 << 11)
	}
	for _, x := range floats {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		flush(1 << 11)
	}
	flush(0)
	return [sha256.Size]byte(h.Sum(nil))
}

// squares is the sum of squares.
func squares(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

func norm(x []float32) float64 { return math.Sqrt(squares(x)) }

// dot multiplies with numbers.
func dot(x []float32, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += float64(v) * y[i]
	}
	return sum
}

func length(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}
