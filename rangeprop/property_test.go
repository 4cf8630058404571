package rangeprop_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/amplint/amplint/rangeprop"
)

// An operator under test computes one row of results from rows of x and y, in real numbers.
type tested struct {
	body string
	f    func(x, y []float64) []float64
}

func each(f func(x, y float64) float64) func(x, y []float64) []float64 {
	return func(x, y []float64) []float64 {
		z := make([]float64, len(x))
		for i := range z {
			z[i] = f(x[i], y[i])
		}
		return z
	}
}

func one(f func(x float64) float64) func(x, y []float64) []float64 {
	return each(func(x, _ float64) float64 { return f(x) })
}

func total(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func softmax(x []float64) []float64 {
	z := make([]float64, len(x))
	for i := range x {
		s := 0.0
		for _, v := range x {
			s += math.Exp(v - x[i])
		}
		z[i] = 1 / s
	}
	return z
}

func layerNorm(x []float64) []float64 {
	z := make([]float64, len(x))
	m, v := total(x)/float64(len(x)), 0.0
	for _, a := range x {
		v += (a - m) * (a - m)
	}
	for i, a := range x {
		z[i] = (a - m) / math.Sqrt(v/float64(len(x))+1e-5)
	}
	return z
}

// weights of the matrix products under test.
var weights = [4][4]float64{{1, -2, 0.5, 0}, {-1, 3, 0.25, 0}, {2, 0, -4, 1}, {0.5, 1, 1, -1}}

func times(x []float64) []float64 {
	z := make([]float64, 4)
	for i, a := range x {
		for j, w := range weights[i] {
			z[j] += a * w
		}
	}
	return z
}

func operators() []tested {
	return []tested{
		{"z = Add(x, y)", each(func(x, y float64) float64 { return x + y })},
		{"z = Sub(x, y)", each(func(x, y float64) float64 { return x - y })},
		{"z = Mul(x, y)", each(func(x, y float64) float64 { return x * y })},
		{"z = Div(x, y)", each(func(x, y float64) float64 { return x / y })},
		{"z = Pow(x, y)", each(math.Pow)},
		{"z = Max(x, y)", each(math.Max)},
		{"z = Min(x, y)", each(math.Min)},
		{"z = Mul(x, x)", one(func(x float64) float64 { return x * x })},
		{"z = Abs(x)", one(math.Abs)},
		{"z = Exp(x)", one(math.Exp)},
		{"z = Log(x)", one(math.Log)},
		{"z = Sqrt(x)", one(math.Sqrt)},
		{"z = Reciprocal(x)", one(func(x float64) float64 { return 1 / x })},
		{"z = Tanh(x)", one(math.Tanh)},
		{"z = Sigmoid(x)", one(sigmoid)},
		{"z = Erf(x)", one(math.Erf)},
		{"z = Sin(x)", one(math.Sin)},
		{"z = Cos(x)", one(math.Cos)},
		{"z = Tan(x)", one(math.Tan)},
		{"z = Atan(x)", one(math.Atan)},
		{"z = Cosh(x)", one(math.Cosh)},
		{"z = Softplus(x)", one(func(x float64) float64 { return math.Log1p(math.Exp(x)) })},
		{"z = Relu(x)", one(func(x float64) float64 { return math.Max(x, 0) })},
		{"z = LeakyRelu<alpha = 0.5>(x)", one(func(x float64) float64 { return math.Max(x, x/2) })},
		{"z = Elu(x)", one(func(x float64) float64 { return math.Max(x, 0) + math.Min(math.Expm1(x), 0) })},
		{"z = HardSwish(x)", one(func(x float64) float64 { return x * math.Min(math.Max(x/6+0.5, 0), 1) })},
		{"z = Gelu(x)", one(func(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) })},
		{"s = Sigmoid(x) z = Mul(x, s)", one(func(x float64) float64 { return x * sigmoid(x) })},
		{"t = Tanh(x) z = Sub(x, t)", one(func(x float64) float64 { return x - math.Tanh(x) })},
		{"z = Floor(x)", one(math.Floor)},
		{"z = Softmax(x)", func(x, _ []float64) []float64 { return softmax(x) }},
		{"z = LayerNormalization(x, one)", func(x, _ []float64) []float64 { return layerNorm(x) }},
		{"n = LayerNormalization(x, one) z = MatMul(n, w)", func(x, _ []float64) []float64 { return times(layerNorm(x)) }},
		{"z = MatMul(x, w)", func(x, _ []float64) []float64 { return times(x) }},
		{"a = MatMul(x, w) b = Tanh(a) z = MatMul(b, w)", func(x, _ []float64) []float64 { return times(one(math.Tanh)(times(x), times(x))) }},
		{"a = MatMul(x, w) b = Relu(a) z = MatMul(b, w)", func(x, _ []float64) []float64 {
			return times(one(func(x float64) float64 { return math.Max(x, 0) })(times(x), times(x)))
		}},
		{"n = LayerNormalization(x, one) a = MatMul(n, w) s = Sigmoid(a) b = Mul(a, s) z = MatMul(b, w)", func(x, _ []float64) []float64 {
			a := times(layerNorm(x))
			return times(one(func(x float64) float64 { return x * sigmoid(x) })(a, a))
		}},
		{"a = MatMul(x, w) z = MatMul(a, w)", func(x, _ []float64) []float64 { return times(times(x)) }},
		{"m = ReduceMean<axes = [-1]>(x) z = Sub(x, m)", func(x, _ []float64) []float64 {
			return each(func(a, b float64) float64 { return a - b })(x, []float64{total(x) / 4, total(x) / 4, total(x) / 4, total(x) / 4})
		}},
		{"z = ReduceL2<axes = [-1]>(x)", func(x, _ []float64) []float64 {
			s := 0.0
			for _, v := range x {
				s += v * v
			}
			return []float64{math.Sqrt(s)}
		}},
		{"p = Softmax(x) q = Mul(p, y) z = ReduceSum(q, last)", func(x, y []float64) []float64 {
			return []float64{total(each(func(a, b float64) float64 { return a * b })(softmax(x), y))}
		}},
	}
}

func (o tested) model() string {
	var w []string
	for _, row := range weights {
		for _, v := range row {
			w = append(w, fmt.Sprint(v))
		}
	}
	return `<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 4] x, float[1, 4] y) => (float[M, N] z) <float[4, 4] w = {` + strings.Join(w, ", ") + `}, float[4] one = {1, 1, 1, 1}, int64[1] last = {-1}> {
` + strings.ReplaceAll(o.body, "Gelu(", "com.microsoft.Gelu(") + ` }`
}

// bound analyses the model over ranges of x and y.
func (o tested) bound(t testing.TB, x, y rangeprop.Range) *rangeprop.Val {
	src := o.model()
	if strings.Contains(src, "com.microsoft") {
		src = strings.Replace(src, `"" : 17`, `"" : 17, "com.microsoft" : 1`, 1)
	}
	m, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{
		"x": {Range: x, Basis: rangeprop.Declared}, "y": {Range: y, Basis: rangeprop.Declared}}})
	return r.Val(m.Graph.Lookup("z"))
}

// span draws a range, small ones and such with special ends among them.
func span(t *rapid.T, name string) rangeprop.Range {
	ends := []float64{-100, -8, -3, -1, -0.75, -1e-3, 0, 1e-3, 0.5, 1, 2, 3, 8, 90, 100}
	a, b := rapid.SampledFrom(ends).Draw(t, name+" lo"), rapid.SampledFrom(ends).Draw(t, name+" hi")
	return rangeprop.Range{Lo: math.Min(a, b), Hi: math.Max(a, b)}
}

// point draws elements at the corners of a range or inside.
func point(t *rapid.T, r rangeprop.Range, name string) []float64 {
	x := make([]float64, 4)
	for i := range x {
		switch rapid.IntRange(0, 3).Draw(t, name) {
		case 0:
			x[i] = r.Lo
		case 1:
			x[i] = r.Hi
		default:
			x[i] = float64(float32(r.Lo + (r.Hi-r.Lo)*rapid.Float64Range(0, 1).Draw(t, name)))
		}
	}
	return x
}

// TestSound compares results at random points and corners with the bounds.
func TestSound(t *testing.T) {
	for _, o := range operators() {
		t.Run(o.body, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				rx, ry := span(rt, "x"), span(rt, "y")
				v := o.bound(t, rx, ry)
				h := v.Hull()
				for range 8 {
					x, y := point(rt, rx, "point"), point(rt, ry, "point")
					for _, z := range o.f(x, y) {
						if z = float64(float32(z)); math.IsNaN(z) {
							if !v.NaN() {
								rt.Fatalf("NaN at x %v, y %v was not foreseen", x, y)
							}
							continue
						}
						if e := 1e-6 * (1 + math.Abs(z)); !math.IsInf(z, 0) && (z < h.Lo-e || z > h.Hi+e) || z < h.Lo-1e38 || z > h.Hi+1e38 {
							rt.Fatalf("%v at x %v, y %v lies outside %v", z, x, y, h)
						}
					}
				}
			})
		})
	}
}

// TestMonotone widens the inputs: no bound may become narrower.
func TestMonotone(t *testing.T) {
	for _, o := range operators() {
		t.Run(o.body, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				a, b := span(rt, "x"), span(rt, "y")
				c, d := span(rt, "wider x"), span(rt, "wider y")
				wide := o.bound(t, rangeprop.Range{Lo: math.Min(a.Lo, c.Lo), Hi: math.Max(a.Hi, c.Hi)}, rangeprop.Range{Lo: math.Min(b.Lo, d.Lo), Hi: math.Max(b.Hi, d.Hi)})
				narrow := o.bound(t, a, b)
				w, n := wide.Hull(), narrow.Hull()
				if e := 2e-2 * (1e-6 + math.Min(n.MaxAbs(), 1e30)); n.Lo < w.Lo-e || n.Hi > w.Hi+e || narrow.NaN() && !wide.NaN() {
					rt.Fatalf("narrower input [%v %v]: %v; wider input: %v", a, b, n, w)
				}
			})
		})
	}
}
