package rules

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// reachTable says how a reach goes through the operators that keep one. What is missing here ends
// it, which costs findings and never invents one.
var reachTable = map[string]func(*Pass, *graph.Node) reach{
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

func reachSame(p *Pass, n *graph.Node) reach { return p.reachOf(n.In(0)) }

// reachSpread repeats elements, which are then no longer free of one another.
func reachSpread(p *Pass, n *graph.Node) reach { return p.reachOf(n.In(0)).capped(uniform) }

// reachPool is for windows: their largest and mean elements go as far as the elements do.
func reachPool(p *Pass, n *graph.Node) reach {
	r := p.reachOf(n.In(0)).capped(uniform)
	if r.level() < uniform {
		return reach{}
	}
	return r
}

// reachPart is for operators that may leave elements out, and with them the one that goes furthest.
func reachPart(p *Pass, n *graph.Node) reach {
	r := p.reachOf(n.In(0))
	for _, e := range []*end{&r.lo, &r.hi} {
		if e.level == some {
			*e = end{}
		}
	}
	if is(n, "Gather", "Pad") {
		r = r.capped(uniform)
	}
	return r
}

// reachCast follows casts between numbers; integers lose their fraction.
func reachCast(p *Pass, n *graph.Node) reach {
	r := p.reachOf(n.In(0))
	if o := n.Out(0); o != nil && o.Type.Elem.IsInt() {
		return r.monotone(math.Trunc)
	}
	if o := n.Out(0); o == nil || !o.Type.Elem.IsFloat() {
		return reach{}
	}
	return r
}

func reachConcat(p *Pass, n *graph.Node) reach {
	var out reach
	for _, v := range n.Inputs {
		r := p.reachOf(v).capped(some)
		out.add(r.lo)
		out.add(r.hi)
		out.deps |= r.deps
		if !r.known() {
			return reach{} // its inputs would be missing from deps
		}
	}
	return out
}

func rising(f func(float64) float64) func(*Pass, *graph.Node) reach {
	return func(p *Pass, n *graph.Node) reach { return p.reachOf(n.In(0)).monotone(f) }
}

// positive is for functions that are monotone and finite for positive arguments only.
func positive(f func(float64) float64) func(*Pass, *graph.Node) reach {
	return func(p *Pass, n *graph.Node) reach {
		r := p.reachOf(n.In(0))
		zero := is(n, "Sqrt")
		for _, e := range []*end{&r.lo, &r.hi} {
			if e.at < 0 || e.at == 0 && !zero {
				*e = end{}
			}
		}
		return r.monotone(f)
	}
}

func evenly(f func(float64) float64) func(*Pass, *graph.Node) reach {
	return func(p *Pass, n *graph.Node) reach { return p.reachOf(n.In(0)).even(f) }
}

func reachLeaky(p *Pass, n *graph.Node) reach {
	alpha := float64(n.Float("alpha", 0.01))
	return p.reachOf(n.In(0)).monotone(func(x float64) float64 {
		if x < 0 {
			return alpha * x
		}
		return x
	})
}

// pairwise is for operators of any number of inputs with extremes at the ends of each.
func pairwise(f func(x, y float64) float64) func(*Pass, *graph.Node) reach {
	return func(p *Pass, n *graph.Node) reach {
		r := p.reachOf(n.In(0))
		for i := 1; i < len(n.Inputs); i++ {
			r = p.broadcast(n, r, f, i)
		}
		return r
	}
}

// broadcast combines r with input i. Elements stay free of one another only where no element of an
// input is used twice.
func (p *Pass) broadcast(n *graph.Node, r reach, f func(x, y float64) float64, i int) reach {
	a, b := n.In(0), n.In(i)
	if a == b && r.deps != 0 {
		return r.monotone(func(x float64) float64 { return f(x, x) })
	}
	out := pair(r, p.reachOf(b), f)
	if is(n, "Add", "Sub") && !out.known() && p.constant(b) != nil {
		out = shifted(r, p.reachOf(b), f)
	}
	if !p.sameShape(a, b) {
		out = out.capped(uniform)
	}
	return out
}

// shifted is x + c for an x that goes to its ends at some element and a c that differs between
// elements: the sum goes at least as far as with the least helpful c.
func shifted(x, c reach, f func(x, y float64) float64) reach {
	low, high := math.Max(f(x.lo.at, c.lo.at), f(x.lo.at, c.hi.at)), math.Min(f(x.hi.at, c.lo.at), f(x.hi.at, c.hi.at))
	if x.level() < some || low >= high {
		return reach{}
	}
	return reach{lo: end{low, some}, hi: end{high, some}, deps: x.deps}
}

// sameShape tells whether two operands are combined one to one. A constant scalar does no harm.
func (p *Pass) sameShape(a, b *graph.Value) bool {
	if a == nil || b == nil {
		return false
	}
	if p.constant(a) != nil || p.constant(b) != nil {
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
func reachSub(p *Pass, n *graph.Node) reach {
	a, b := n.In(0), n.In(1)
	if m := makerOf(b, "ReduceMean", "ReduceMax", "ReduceMin"); m != nil && plain(m.In(0)) == plain(a) {
		r := p.reachOf(a)
		if r.lo.level < uniform && r.hi.level < uniform {
			return reach{}
		}
		zero := end{0, uniform}
		return reach{lo: zero, hi: zero, deps: r.deps}
	}
	return pairwise(func(x, y float64) float64 { return x - y })(p, n)
}

func reachMul(p *Pass, n *graph.Node) reach {
	if plain(n.In(0)) == plain(n.In(1)) && n.In(0) != nil {
		return p.reachOf(n.In(0)).even(func(x float64) float64 { return x * x })
	}
	return pairwise(func(x, y float64) float64 { return x * y })(p, n)
}

func reachDiv(p *Pass, n *graph.Node) reach {
	d := p.reachOf(n.In(1))
	if d.lo.at <= 0 && d.hi.at >= 0 {
		return reach{}
	}
	return pairwise(func(x, y float64) float64 { return x / y })(p, n)
}

func reachPow(p *Pass, n *graph.Node) reach {
	y, ok := p.scalar(n.In(1))
	r := p.reachOf(n.In(0))
	f := func(x float64) float64 { return math.Pow(x, y) }
	switch {
	case !ok:
		if base, ok := p.scalar(n.In(0)); ok && base > 0 {
			return p.reachOf(n.In(1)).monotone(func(x float64) float64 { return math.Pow(base, x) })
		}
		return reach{}
	case y > 0 && y == math.Trunc(y) && math.Mod(y, 2) == 0:
		return r.even(f)
	case y > 0 && y == math.Trunc(y), r.lo.at > 0 && r.hi.at > 0:
		return r.monotone(f)
	}
	return reach{}
}

// reachClip takes the bounds of the operator's inputs, or of its attributes before opset 11.
func reachClip(p *Pass, n *graph.Node) reach {
	lo, hi, ok := p.clip(n)
	if !ok {
		return reach{}
	}
	return p.reachOf(n.In(0)).monotone(func(x float64) float64 { return math.Min(math.Max(x, lo), hi) })
}

// clip returns the bounds of a Clip; ok is false where they are not constant.
func (p *Pass) clip(n *graph.Node) (lo, hi float64, ok bool) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if a := n.Attr("min"); a != nil {
		lo = float64(a.F)
	}
	if a := n.Attr("max"); a != nil {
		hi = float64(a.F)
	}
	for i, bound := range []*float64{&lo, &hi} {
		v := n.In(i + 1)
		if v == nil {
			continue
		}
		x, known := p.scalar(v)
		if !known && !p.infinite(v) {
			return 0, 0, false
		}
		if known {
			*bound = x
		}
	}
	return lo, hi, true
}

// infinite tells whether a value is the constant that leaves a bound open.
func (p *Pass) infinite(v *graph.Value) bool {
	t := p.constant(v)
	s, ok := stats{}, false
	if t != nil {
		s, ok = statsOf(t)
	}
	return ok && s.Infs() > 0
}

func reachWhere(p *Pass, n *graph.Node) reach {
	c, a, b := p.reachOf(n.In(0)), p.reachOf(n.In(1)), p.reachOf(n.In(2))
	if !c.known() || c.deps&(a.deps|b.deps) != 0 || a.deps&b.deps != 0 {
		return reach{}
	}
	l := uniform
	if c.level() < uniform || p.constant(n.In(0)) != nil {
		return reach{} // which elements are chosen is fixed, and unknown here
	}
	out := reach{deps: a.deps | b.deps | c.deps}
	for _, r := range []reach{a.capped(l), b.capped(l)} {
		out.add(r.lo)
		out.add(r.hi)
	}
	return out
}

func reachRange(p *Pass, n *graph.Node) reach {
	start, ok0 := p.scalar(n.In(0))
	limit, ok1 := p.scalar(n.In(1))
	delta, ok2 := p.scalar(n.In(2))
	if !ok0 || !ok1 || !ok2 || delta == 0 {
		return reach{}
	}
	count := math.Ceil((limit - start) / delta)
	if count < 1 {
		return reach{}
	}
	last := start + (count-1)*delta
	return between(math.Min(start, last), math.Max(start, last))
}

func reachFill(p *Pass, n *graph.Node) reach {
	if a := n.Attr("value"); a != nil && a.Tensor != nil {
		return p.constantReach(a.Tensor)
	}
	return sure(0)
}

// reachIndex is for the position of an extreme, which may be anywhere along the axis where the
// elements are free.
func reachIndex(p *Pass, n *graph.Node) reach {
	r := p.reachOf(n.In(0))
	size := dimOf(n.In(0), n.Int("axis", 0))
	if r.level() < free || size < 1 || r.lo.at == r.hi.at {
		return reach{}
	}
	return reach{lo: end{0, free}, hi: end{float64(size - 1), free}, deps: r.deps}
}

// dimOf returns the length of a value along an axis, 0 where it is not known.
func dimOf(v *graph.Value, axis int64) int64 {
	if v == nil {
		return 0
	}
	s := v.Type.Shape
	if axis < 0 {
		axis += int64(len(s))
	}
	if axis < 0 || axis >= int64(len(s)) || !s[axis].Known() {
		return 0
	}
	return s[axis].N
}
