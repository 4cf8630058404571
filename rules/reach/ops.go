package reach

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/walk"
)

// reachTable says how a reach goes through the operators that keep one. What is missing here ends
// it, which costs findings and never invents one.
var reachTable = map[string]func(*Map, *graph.Node) Span{
	"Identity": reachSame, "Reshape": reachSame, "Flatten": reachSame, "Squeeze": reachSame, "Unsqueeze": reachSame,
	"Transpose": reachSame, "Dropout": reachSame, "Cast": reachCast, "DepthToSpace": reachSame, "SpaceToDepth": reachSame,
	"Expand": reachSpread, "Tile": reachSpread, "MaxPool": reachPool, "AveragePool": reachPool,
	"Slice": reachPart, "Gather": reachPart, "Split": reachPart, "Pad": reachPart,
	"Concat":                    reachConcat,
	"Relu":                      rising(func(x float64) float64 { return math.Max(x, 0) }),
	"Exp":                       rising(math.Exp),
	"Tanh":                      rising(math.Tanh),
	"Erf":                       rising(math.Erf),
	"Sigmoid":                   rising(func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }),
	"Softplus":                  rising(func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }),
	"Sinh":                      rising(math.Sinh),
	"Floor":                     rising(math.Floor),
	"Ceil":                      rising(math.Ceil),
	"Round":                     rising(math.RoundToEven),
	"Neg":                       rising(func(x float64) float64 { return -x }),
	"Sqrt":                      positive(math.Sqrt),
	"Log":                       positive(math.Log),
	"Reciprocal":                positive(func(x float64) float64 { return 1 / x }),
	"Abs":                       evenly(math.Abs),
	"Cosh":                      evenly(math.Cosh),
	"LeakyRelu":                 reachLeaky,
	"Add":                       pairwise(func(x, y float64) float64 { return x + y }),
	"Sub":                       reachSub,
	"Mul":                       reachMul,
	"Div":                       reachDiv,
	"Max":                       pairwise(math.Max),
	"Min":                       pairwise(math.Min),
	"Pow":                       reachPow,
	"Clip":                      reachClip,
	"Where":                     reachWhere,
	"Not":                       rising(func(x float64) float64 { return 1 - x }),
	"ReduceSum":                 reachReduce,
	"ReduceMean":                reachReduce,
	"ReduceMax":                 reachReduce,
	"ReduceMin":                 reachReduce,
	"ReduceL1":                  reachReduce,
	"ReduceL2":                  reachReduce,
	"ReduceSumSquare":           reachReduce,
	"GlobalAveragePool":         reachPool,
	"GlobalMaxPool":             reachPool,
	"CumSum":                    reachCumSum,
	"MatMul":                    reachMatMul,
	"Gemm":                      reachGemm,
	"Conv":                      reachConv,
	"BatchNormalization":        reachBatchNorm,
	"Range":                     reachRange,
	"ConstantOfShape":           reachFill,
	"ArgMax":                    reachIndex,
	"ArgMin":                    reachIndex,
	"com.microsoft.FusedMatMul": reachFusedMatMul,
}

func reachSame(m *Map, n *graph.Node) Span { return m.Of(n.In(0)) }

// reachSpread repeats elements, which are then no longer free of one another.
func reachSpread(m *Map, n *graph.Node) Span { return m.Of(n.In(0)).capped(Uniform) }

// reachPool is for windows: their largest and mean elements go as far as the elements do.
func reachPool(m *Map, n *graph.Node) Span {
	r := m.Of(n.In(0)).capped(Uniform)
	if r.Level() < Uniform {
		return Span{}
	}
	return r
}

// reachPart is for operators that may leave elements out, and with them the one that goes furthest.
func reachPart(m *Map, n *graph.Node) Span {
	r := m.Of(n.In(0))
	for _, e := range []*End{&r.Lo, &r.Hi} {
		if e.Level == Some {
			*e = End{}
		}
	}
	if one := m.parts[n.Out(0)]; one == 0 && walk.Is(n, "Gather", "Pad") {
		r = r.capped(Uniform) // an element may stand there twice
	}
	return r
}

// reachCast follows casts between numbers; integers lose their fraction.
func reachCast(m *Map, n *graph.Node) Span {
	r := m.Of(n.In(0))
	if o := n.Out(0); o != nil && o.Type.Elem.IsInt() {
		return r.monotone(math.Trunc)
	}
	if o := n.Out(0); o == nil || !o.Type.Elem.IsFloat() {
		return Span{}
	}
	return r
}

func reachConcat(m *Map, n *graph.Node) Span {
	var out Span
	for _, v := range n.Inputs {
		r := m.Of(v).capped(Some)
		out.add(r.Lo)
		out.add(r.Hi)
		out.Deps |= r.Deps
		if !r.Known() {
			return Span{} // its inputs would be missing from deps
		}
	}
	return out
}

func rising(f func(float64) float64) func(*Map, *graph.Node) Span {
	return func(m *Map, n *graph.Node) Span { return m.Of(n.In(0)).monotone(f) }
}

// positive is for functions that are monotone and finite for positive arguments only.
func positive(f func(float64) float64) func(*Map, *graph.Node) Span {
	return func(m *Map, n *graph.Node) Span {
		r := m.Of(n.In(0))
		zero := walk.Is(n, "Sqrt")
		for _, e := range []*End{&r.Lo, &r.Hi} {
			if e.At < 0 || e.At == 0 && !zero {
				*e = End{}
			}
		}
		return r.monotone(f)
	}
}

func evenly(f func(float64) float64) func(*Map, *graph.Node) Span {
	return func(m *Map, n *graph.Node) Span { return m.Of(n.In(0)).even(f) }
}

func reachLeaky(m *Map, n *graph.Node) Span {
	alpha := float64(n.Float("alpha", 0.01))
	return m.Of(n.In(0)).monotone(func(x float64) float64 {
		if x < 0 {
			return alpha * x
		}
		return x
	})
}

// pairwise is for operators of any number of inputs with extremes at the ends of each.
func pairwise(f func(x, y float64) float64) func(*Map, *graph.Node) Span {
	return func(m *Map, n *graph.Node) Span {
		r := m.Of(n.In(0))
		for i := 1; i < len(n.Inputs); i++ {
			r = m.broadcast(n, r, f, i)
		}
		return r
	}
}

// broadcast combines r with input i. Elements stay free of one another only where no element of an
// input is used twice.
func (m *Map) broadcast(n *graph.Node, r Span, f func(x, y float64) float64, i int) Span {
	a, b := n.In(0), n.In(i)
	if a == b && r.Deps != 0 {
		return r.monotone(func(x float64) float64 { return f(x, x) })
	}
	out := Pair(r, m.Of(b), f)
	if walk.Is(n, "Add", "Sub") && !out.Known() && walk.Constant(b) != nil {
		out = shifted(r, m.Of(b), f)
	}
	if !m.sameShape(a, b) {
		out = out.capped(Uniform)
	}
	return out
}

// shifted is x + c for an x that goes to its ends at some element and a c that differs between
// elements: the sum goes at least as far as with the least helpful c.
func shifted(x, c Span, f func(x, y float64) float64) Span {
	low, high := math.Max(f(x.Lo.At, c.Lo.At), f(x.Lo.At, c.Hi.At)), math.Min(f(x.Hi.At, c.Lo.At), f(x.Hi.At, c.Hi.At))
	if x.Level() < Some || low >= high {
		return Span{}
	}
	return Span{Lo: End{low, Some}, Hi: End{high, Some}, Deps: x.Deps}
}

// sameShape tells whether two operands are combined one to one. A constant scalar does no harm.
func (m *Map) sameShape(a, b *graph.Value) bool {
	if a == nil || b == nil {
		return false
	}
	if walk.Constant(a) != nil || walk.Constant(b) != nil {
		return true
	}
	x, y := a.Type.Shape, b.Type.Shape
	if len(x) != len(y) || x == nil {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// reachSub knows one difference of dependent values: x - mean(x) and x - max(x) are 0 where all
// elements are equal.
func reachSub(m *Map, n *graph.Node) Span {
	a, b := n.In(0), n.In(1)
	if r := walk.MakerOf(b, "ReduceMean", "ReduceMax", "ReduceMin"); r != nil && walk.Plain(r.In(0)) == walk.Plain(a) {
		r := m.Of(a)
		if r.Lo.Level < Uniform && r.Hi.Level < Uniform {
			return Span{}
		}
		zero := End{0, Uniform}
		return Span{Lo: zero, Hi: zero, Deps: r.Deps}
	}
	return pairwise(func(x, y float64) float64 { return x - y })(m, n)
}

func reachMul(m *Map, n *graph.Node) Span {
	if walk.Plain(n.In(0)) == walk.Plain(n.In(1)) && n.In(0) != nil {
		return m.Of(n.In(0)).even(func(x float64) float64 { return x * x })
	}
	return pairwise(func(x, y float64) float64 { return x * y })(m, n)
}

func reachDiv(m *Map, n *graph.Node) Span {
	d := m.Of(n.In(1))
	if d.Lo.At <= 0 && d.Hi.At >= 0 {
		return Span{}
	}
	return pairwise(func(x, y float64) float64 { return x / y })(m, n)
}

func reachPow(m *Map, n *graph.Node) Span {
	y, ok := walk.Scalar(n.In(1))
	r := m.Of(n.In(0))
	f := func(x float64) float64 { return math.Pow(x, y) }
	switch {
	case !ok:
		if base, ok := walk.Scalar(n.In(0)); ok && base > 0 {
			return m.Of(n.In(1)).monotone(func(x float64) float64 { return math.Pow(base, x) })
		}
		return Span{}
	case y > 0 && y == math.Trunc(y) && math.Mod(y, 2) == 0:
		return r.even(f)
	case y > 0 && y == math.Trunc(y), r.Lo.At > 0 && r.Hi.At > 0:
		return r.monotone(f)
	}
	return Span{}
}

// reachClip takes the bounds of the operator's inputs, or of its attributes before opset 11.
func reachClip(m *Map, n *graph.Node) Span {
	lo, hi, ok := walk.Clip(n)
	if !ok {
		return Span{}
	}
	return m.Of(n.In(0)).monotone(func(x float64) float64 { return math.Min(math.Max(x, lo), hi) })
}

func reachWhere(m *Map, n *graph.Node) Span {
	c, a, b := m.Of(n.In(0)), m.Of(n.In(1)), m.Of(n.In(2))
	if !c.Known() || c.Deps&(a.Deps|b.Deps) != 0 || a.Deps&b.Deps != 0 {
		return Span{}
	}
	l := Uniform
	if c.Level() < Uniform || walk.Constant(n.In(0)) != nil {
		return Span{} // which elements are chosen is fixed, and unknown here
	}
	out := Span{Deps: a.Deps | b.Deps | c.Deps}
	for _, r := range []Span{a.capped(l), b.capped(l)} {
		out.add(r.Lo)
		out.add(r.Hi)
	}
	return out
}

func reachRange(m *Map, n *graph.Node) Span {
	start, ok0 := walk.Scalar(n.In(0))
	limit, ok1 := walk.Scalar(n.In(1))
	delta, ok2 := walk.Scalar(n.In(2))
	if !ok0 || !ok1 || !ok2 || delta == 0 {
		return Span{}
	}
	count := math.Ceil((limit - start) / delta)
	if count < 1 {
		return Span{}
	}
	last := start + (count-1)*delta
	return between(math.Min(start, last), math.Max(start, last))
}

func reachFill(m *Map, n *graph.Node) Span {
	if a := n.Attr("value"); a != nil && a.Tensor != nil {
		return m.constantReach(a.Tensor)
	}
	return sure(0)
}

// reachIndex is for the position of an extreme, which may be anywhere along the axis where the
// elements are free.
func reachIndex(m *Map, n *graph.Node) Span {
	r := m.Of(n.In(0))
	size := walk.Dim(n.In(0), n.Int("axis", 0))
	if r.Level() < Free || size < 1 || r.Lo.At == r.Hi.At {
		return Span{}
	}
	return Span{Lo: End{0, Free}, Hi: End{float64(size - 1), Free}, Deps: r.Deps}
}
