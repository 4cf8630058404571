package rangeprop

import "math"

// box bounds the elements of a vector around a center: center - down ≤ element ≤ center + up.
type box struct{ down, up []float64 }

// meet returns the narrower of two boxes around one center, either of which may be nil.
func (x *box) meet(y *box) *box {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	z := &box{make([]float64, len(x.up)), make([]float64, len(x.up))}
	for j := range z.up {
		z.down[j], z.up[j] = math.Min(x.down[j], y.down[j]), math.Min(x.up[j], y.up[j])
	}
	return z
}

// widened returns a box that is larger by e on both sides of each element.
func (x *box) widened(e func(j int) float64) *box {
	z := &box{make([]float64, len(x.up)), make([]float64, len(x.up))}
	for j := range z.up {
		d := e(j)
		z.down[j], z.up[j] = x.down[j]+d, x.up[j]+d
	}
	return z
}

// finite returns the box where all of its bounds are numbers, else nil.
func (x *box) finite() *box {
	if s := length(x.down) + length(x.up); math.IsNaN(s) || math.IsInf(s, 0) {
		return nil
	}
	return x
}

// boxless returns the ball without the bounds of its elements: once the value has them they are not
// carried on.
func (b *ball) boxless() *ball {
	if b == nil || b.box == nil {
		return b
	}
	c := *b
	c.box = nil
	return &c
}
