package rangeprop

import (
	"math"

	"github.com/amplint/amplint/refeval/kern"
)

// maxCompose bounds the multiplications for the product of a ball's map with the next matrix.
const maxCompose = 1 << 30

// composed bounds the elements of the image of a ball under w with the maps multiplied: a column of the
// product is shorter than the norm of one times the column of the other. Parts with a u of their own,
// such as heads of an attention, are multiplied one by one. It is nil where the ball has no map.
func (b *ball) composed(w *matrix) *box {
	if b.m == nil || b.m.cols != w.rows || b.m.rows > maxCompose/(w.rows*w.cols) {
		return nil
	}
	dev := make([]float64, w.cols)
	for j, s := range w.columns() {
		dev[j] = b.loss * s
	}
	p := newChain(b.m, w)
	for g := range b.groups {
		from, to := b.part(g)
		for j, s := range p.columns(from, to) {
			dev[j] += b.radius[g] * s * grow
		}
	}
	return (&box{dev, dev}).finite()
}

// chain multiplies parts of two maps by the kernels.
type chain struct {
	m, w  *matrix // divided by powers of two, so that squares fit into float32
	scale float64 // the product of those powers
	out   []float32
}

func newChain(m, w *matrix) *chain {
	x, k := normalised(m.a)
	y, l := normalised(w.a)
	return &chain{&matrix{rows: m.rows, cols: m.cols, a: x}, &matrix{rows: w.rows, cols: w.cols, a: y}, k * l, make([]float32, m.rows*w.cols)}
}

// columns bounds the norms of the columns of the product of m's columns from..to with those rows of w: as
// computed, and what the kernels may have lost of them.
func (p *chain) columns(from, to int) []float64 {
	k, m := to-from, p.m
	part := &matrix{rows: k, cols: p.w.cols, a: p.w.a[from*p.w.cols : to*p.w.cols]}
	engine().Gemm(p.out, part.cols, kern.Matrix{X: m.a[from:], Row: m.cols, Col: 1}, kern.Rows(part.a, part.cols), m.rows, part.cols, k, false)
	reach := 0.0 // the Frobenius norm of m's columns
	for _, s := range m.columnSquares()[from:to] {
		reach += s
	}
	lost, least := sumSteps(k)*0x1.01p-24*math.Sqrt(reach)*(1+1e-9), math.Sqrt(float64(m.rows))*float64(k)*0x1p-148
	lengths := (&matrix{rows: m.rows, cols: part.cols, a: p.out}).columns()
	for j, s := range part.columns() {
		lengths[j] = (lengths[j] + lost*s + least) * p.scale
	}
	return lengths
}
