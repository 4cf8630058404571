package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop/tokens"
)

// Memo keeps what analyses learn of constants, whose elements would else be read again by each: the
// analyses of one model under other ranges or formats, and of the model that a fix makes of it. It
// is not safe for use by several goroutines.
type Memo struct {
	target   numfmt.Format
	consts   map[*graph.Tensor]*Val
	products map[factor]*products
	made     int // how many of those were made, over time
	sets     *tokens.Sets
	norms    *norms
	turned   map[turnedKey]*graph.Tensor
}

// NewMemo returns an empty memo. What the format does to constants is counted while they are read, for
// those who will ask for it; [numfmt.Invalid] where nobody will.
func NewMemo(target numfmt.Format) *Memo {
	if target == numfmt.Invalid {
		target = numfmt.FP16 // zeros and NaN, which the bounds ask for, are counted with any
	}
	return &Memo{target: target, consts: map[*graph.Tensor]*Val{}, products: map[factor]*products{}, sets: &tokens.Sets{}, norms: newNorms(), turned: map[turnedKey]*graph.Tensor{}}
}

// constant returns the bounds of a constant that has been read, or of one that was converted from
// one that has; else nil.
func (m *Memo) constant(t *graph.Tensor) *Val {
	if v := m.consts[t]; v != nil {
		return v
	}
	if t.Origin() == nil {
		return nil
	}
	if v := m.constant(t.Origin()); v != nil && !v.special() && !v.nan {
		return m.keep(t, v.converted(t))
	}
	return nil
}

func (m *Memo) keep(t *graph.Tensor, v *Val) *Val {
	if v != nil {
		m.consts[t] = v
	}
	return v
}

// converted bounds the elements of a constant that become those of t: rounding is monotone, so it
// takes the least and the greatest to the least and the greatest. It is nil where a number that is
// too large becomes NaN.
func (v *Val) converted(t *graph.Tensor) *Val {
	f, ok := t.Elem.Format()
	if !ok {
		return nil
	}
	round := f.Round
	if t.Saturates() {
		round = f.RoundSat
	}
	y := v.clone()
	y.lo, y.hi = make([]float64, len(v.lo)), make([]float64, len(v.hi))
	for i := range v.lo {
		y.lo[i], y.hi[i] = round(v.lo[i]), round(v.hi[i])
		if math.IsNaN(y.lo[i]) || math.IsNaN(y.hi[i]) {
			return nil
		}
	}
	if v.tiny > 0 {
		y.tiny = math.Max(round(v.tiny), f.MinSubnormal())
	}
	y.infinities()
	return y
}
