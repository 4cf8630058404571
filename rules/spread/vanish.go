package spread

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rules/walk"
)

// noticed is the share of a sum from which on a lost summand shows.
const noticed = 1.0 / 32

// Lost follows a value that is 0 throughout where it should be up to top in magnitude, and returns
// the worst that comes of it. What is not known is taken to do no harm: a verdict needs a reason.
func (p Walk) Lost(v *graph.Value, top float64) Harm {
	f := &vanish{p: p, seen: map[*graph.Value]bool{}, left: 200}
	return f.value(v, top)
}

type vanish struct {
	p    Walk
	seen map[*graph.Value]bool
	left int
}

func (f *vanish) value(v *graph.Value, top float64) Harm {
	if v == nil || f.seen[v] || !v.Type.Float() || walk.Empty(v) {
		return Harmless
	}
	f.seen[v] = true
	uses, output := walk.Flow(v)
	worst := Harmless
	if output && !f.p.small(v, top) {
		worst = Wrong
	}
	for _, u := range uses {
		if f.left--; f.left < 0 {
			return worst
		}
		worst = max(worst, f.use(u, top))
	}
	return worst
}

// keepsZero lists the operators of one value that are 0 at 0 and about as steep as there.
var keepsZero = map[string]bool{
	"Relu": true, "LeakyRelu": true, "PRelu": true, "Abs": true, "Neg": true, "Tanh": true, "Erf": true, "Sin": true, "Atan": true, "Asin": true,
	"Cast": true, "CastLike": true, "Dropout": true, "ReduceMean": true, "ReduceMax": true, "ReduceMin": true, "MaxPool": true, "AveragePool": true,
	"GlobalAveragePool": true, "GlobalMaxPool": true, "Pad": true, "Trilu": true, "DepthToSpace": true, "SpaceToDepth": true,
}

func (f *vanish) use(u graph.Use, top float64) Harm {
	n := u.Node
	if n.Domain != "" && n.Domain != "ai.onnx" {
		return Harmless
	}
	switch {
	case walk.Carries(u), keepsZero[n.Op] && u.Index == 0:
		return f.outputs(n, top)
	case walk.Is(n, "Reciprocal", "Log"):
		return Broken
	case walk.Is(n, "Sqrt"):
		return f.outputs(n, math.Sqrt(top))
	case walk.Is(n, "Pow"):
		return f.power(u, top)
	case walk.Is(n, "ReduceSum", "ReduceL1", "ReduceL2"):
		return f.outputs(n, top*walk.ReducedCount(n))
	case walk.Is(n, "Sign"):
		return Wrong
	}
	return f.combined(u, top)
}

// combined is for operators that join the value with another one.
func (f *vanish) combined(u graph.Use, top float64) Harm {
	n := u.Node
	other := n.In(1 - min(u.Index, 1))
	r := f.p.Range(other)
	switch {
	case walk.Is(n, "Mul"):
		if other == n.In(u.Index) {
			return f.outputs(n, top*top)
		}
		return f.outputs(n, top*finite(r))
	case walk.Is(n, "Div") && u.Index == 1:
		return Broken
	case walk.Is(n, "Div"):
		return f.outputs(n, top/math.Max(finite(r), math.SmallestNonzeroFloat32))
	case walk.Is(n, "MatMul", "Gemm", "Conv", "ConvTranspose") && u.Index < 2:
		return f.outputs(n, top*finite(r))
	case walk.Is(n, "Add", "Sub", "Sum"):
		if top < noticed*r.MaxAbs() {
			return Harmless // swallowed
		}
		return f.outputs(n, top)
	case walk.Is(n, "Max", "Min"):
		return f.chosen(n, r, top)
	case walk.Is(n, "Clip") && u.Index == 0:
		if lo, hi, ok := walk.Clip(n); !ok || lo > top || hi < -top {
			return Harmless
		}
		return f.outputs(n, top)
	case walk.Is(n, "Where") && u.Index > 0:
		return f.outputs(n, top)
	}
	return Harmless
}

// chosen is for the larger or the smaller of two: the value is left out where the other one always is beyond it, on the
// side that is taken.
func (f *vanish) chosen(n *graph.Node, r rangeprop.Range, top float64) Harm {
	if walk.Is(n, "Max") && r.Lo >= top || walk.Is(n, "Min") && r.Hi <= -top {
		return Harmless
	}
	return f.outputs(n, top)
}

// finite returns the largest magnitude of a range, 1 where it has none.
func finite(r rangeprop.Range) float64 {
	if m := r.MaxAbs(); !math.IsInf(m, 0) {
		return m
	}
	return 1
}

func (f *vanish) power(u graph.Use, top float64) Harm {
	y, ok := walk.Scalar(u.Node.In(1))
	switch {
	case !ok || u.Index == 1 || y == 0:
		return Harmless
	case y < 0:
		return Broken
	}
	return f.outputs(u.Node, math.Pow(top, y))
}

func (f *vanish) outputs(n *graph.Node, top float64) Harm {
	worst := Harmless
	for _, o := range n.Outputs {
		worst = max(worst, f.value(o, top))
	}
	return worst
}
