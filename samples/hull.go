package samples

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// Hull is the least interval around a set of numbers. NaN counts apart.
type Hull struct {
	Lo, Hi float64
	NaN    bool
}

// NoHull is the hull of nothing.
var NoHull = Hull{Lo: math.Inf(1), Hi: math.Inf(-1)}

// Empty tells whether the hull holds no number.
func (h Hull) Empty() bool { return h.Lo > h.Hi }

// Join returns the hull of both.
func (h Hull) Join(o Hull) Hull {
	return Hull{math.Min(h.Lo, o.Lo), math.Max(h.Hi, o.Hi), h.NaN || o.NaN}
}

// Add returns the hull with one more number.
func (h Hull) Add(x float64) Hull {
	if x != x {
		h.NaN = true
		return h
	}
	h.Lo, h.Hi = min(h.Lo, x), max(h.Hi, x)
	return h
}

// Hull streams the array. Strings and complex numbers have no hull.
func (a *Array) Hull() (Hull, error) {
	h := NoHull
	if a.Elem == graph.String || a.Elem == graph.Complex64 || a.Elem == graph.Complex128 {
		return h, nil
	}
	err := a.raw(func(b []byte) error {
		n := int64(len(b)) * 8 / int64(a.Elem.Bits())
		x, err := graph.NewTensor("", a.Elem, []int64{n}, b).Float64s()
		for _, v := range x {
			h = h.Add(v)
		}
		return err
	})
	return h, err
}
