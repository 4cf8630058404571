package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop/tokens"
)

// tokenized tells that every vector of a value is made of a token, a sum of a row of each of some tables:
//
//	vector = (token·ρ∘gain + shift)·W∘factor + bias
//
// with ρ and what follows it once they are met. Balls forget that there are no other vectors. What follows
// is told by value and not kept with the bounds: it has the errors of all roundings in it, and no bound that
// is narrowed or joined makes it wrong.
type tokenized struct {
	tables   []tokens.Rows
	relative float64 // error of the sum of rows, as a share of the sum of their norms
	absolute float64 // and norm of what is added to that error where rows are held in few bits

	norm   tokens.Norm
	normed bool
	unit   float64   // of the parts of the norm
	gain   []float64 // of the channels
	shift  []float64
	loss   float64 // norm of the error behind the norm, before W

	w      *graph.Tensor // nil before a projection
	flip   bool
	at     []int     // column of W, or channel, of each element
	factor []float64 // of each element
	bias   []float64 // nil for none
	rounds float64   // relative error of the elements
	off    float64   // and what may be added to it
	axes   []int     // whose elements, in row-major order, make the vector
	sizes  []int

	mean *tokenMean // nil where vectors are of one token
}

// tokenMean tells that each part of the vector is a mean of those of tokens.
type tokenMean struct {
	parts int
	zero  bool    // weights may sum to less than 1
	size  float64 // bound of the norm of what it is a mean of
	blur  float64 // and of that of its error
}

// tokenize notes what is known of an output.
func (c *call) tokenize(i int, v *graph.Value) {
	if c.p.opt.NoBalls || !v.Type.Elem.IsFloat() || len(v.Type.Shape) == 0 {
		return
	}
	t := c.tokensOf(i)
	if n := c.p.facts.Norm(v); n != nil {
		t = c.p.tokensNormed(n)
	}
	if t == nil || !t.carrier().fits(v.Type.Shape) || v.Const != nil {
		delete(c.p.tokens, v)
		return
	}
	c.p.tokens[v] = t
}

// tokensOf returns the tokens of output i, nil where there are none.
func (c *call) tokensOf(i int) *tokenized {
	name := c.n.OpName()
	a := c.tokensAt(0)
	if name == "Gather" && a == nil {
		return c.tokensBorn()
	}
	if a == nil && c.tokensAt(1) == nil {
		return nil
	}
	switch name {
	case "Dropout":
		if on, known := c.number(2); c.has(2) && !(known && on == 0) {
			return nil
		}
		return a
	case "Identity", "Cast":
		return a.rounded(c.p.unit(c.n.Out(i)))
	case "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Transpose", "Slice", "Gather", "Split", "Expand":
		return c.tokensMoved(i)
	}
	if i > 0 {
		return nil
	}
	switch name {
	case "Add":
		return c.tokensAdded()
	case "Sub":
		return c.tokensCentered()
	case "Mul", "Div":
		return c.tokensScaled(name == "Div")
	case "MatMul", "Gemm":
		return c.tokensMultiplied()
	case "LayerNormalization", "com.microsoft.LayerNormalization":
		return c.tokensLayered(a, c.given(1), c.given(2), false, c.epsilon(1e-5))
	case "RMSNormalization", "SimplifiedLayerNormalization", "com.microsoft.SimplifiedLayerNormalization":
		return c.tokensLayered(a, c.given(1), nil, true, c.epsilon(1e-5))
	case "com.microsoft.SkipLayerNormalization":
		if !c.has(4) {
			return c.tokensLayered(c.tokensAdded(), c.given(2), c.given(3), false, c.epsilon(1e-12))
		}
	case "com.microsoft.SkipSimplifiedLayerNormalization":
		if !c.has(3) {
			return c.tokensLayered(c.tokensAdded(), c.given(2), nil, true, c.epsilon(1e-12))
		}
	}
	return nil
}

// tokensAt returns the tokens of an input.
func (c *call) tokensAt(i int) *tokenized { return c.p.tokens[c.n.In(i)] }

// channels returns how many channels a token has.
func (t *tokenized) channels() int { return len(t.gain) }

// whole tells whether vectors are tokens as they are, all of them along the last axis.
func (t *tokenized) whole(rank int) bool {
	return t != nil && t.w == nil && t.mean == nil && len(t.axes) == 1 && t.axes[0] == rank-1 && len(t.at) == t.channels()
}

// carrier is a ball that stands where the vectors do; its center numbers the elements. It goes through
// movements as any other.
func (t *tokenized) carrier() *ball {
	b := newBall(t.axes, t.sizes, make([]float64, len(t.at)), 0)
	for i := range b.center {
		b.center[i] = float64(i)
	}
	return b
}

// tokensMoved follows the elements to other places.
func (c *call) tokensMoved(i int) *tokenized {
	t := c.tokensAt(0)
	if t == nil {
		return nil
	}
	d := &call{p: c.p, n: c.n, in: slices.Clone(c.in)}
	d.in[0] = &Val{ball: t.carrier(), lo: []float64{0}, hi: []float64{0}}
	b := d.ballOf(i)
	if b == nil || t.mean != nil && b.n() != len(t.at) {
		return nil
	}
	y := *t
	y.axes, y.sizes, y.at, y.factor, y.bias = b.axes, b.sizes, make([]int, b.n()), make([]float64, b.n()), nil
	if t.bias != nil {
		y.bias = make([]float64, b.n())
	}
	for k, from := range b.center {
		y.at[k], y.factor[k] = t.at[int(from)], t.factor[int(from)]
		if t.bias != nil {
			y.bias[k] = t.bias[int(from)]
		}
	}
	return &y
}

// coarse is a unit that no format of 16 bits has: tokens are not followed through formats of 8, whose least
// numbers are no small ones.
const coarse = 1.0 / 100

// rounded is the same with every element rounded.
func (t *tokenized) rounded(unit float64) *tokenized {
	if t == nil || unit > coarse {
		return nil
	}
	y := *t
	off := 0.0
	if unit > accumUnit {
		off = vanishing
	}
	switch {
	case t.w != nil:
		y.rounds += 2 * unit
		y.off += off
	case t.normed: // a row and what is multiplied of it has no norm greater than that
		y.loss += 2*unit*t.most() + off*math.Sqrt(float64(t.channels()))
	default:
		y.relative += 2 * unit
		y.absolute += off * math.Sqrt(float64(t.channels()))
	}
	return &y
}

// most bounds the norm of normalised tokens.
func (t *tokenized) most() float64 {
	return greatest(t.gain)/math.Sqrt(t.norm.Coef)*grow + length(t.shift)
}
