package refeval

import (
	"math"

	"github.com/amplint/amplint/refeval/kern"
)

func activationOps() []entry {
	return []entry{
		op("Celu", unaryWith(celu)),
		op("Elu", unaryWith(elu)),
		op("Gelu", gelu),
		op("HardSigmoid", unaryWith(hardSigmoid)),
		op("HardSwish", unary(func(x float64) float64 { return x * max(0, min(1, x/6+0.5)) })),
		op("LeakyRelu", unaryWith(leakyRelu)),
		op("Mish", unary(func(x float64) float64 { return x * math.Tanh(log1pExp(x)) })),
		op("Relu", relu),
		op("Selu", unaryWith(selu)),
		op("Shrink", unaryWith(shrink)),
		op("Sigmoid", vector((*kern.Engine).Sigmoid, sigmoid)),
		op("Softplus", softplus),
		op("Softsign", unary(func(x float64) float64 { return x / (1 + math.Abs(x)) })),
		op("SwiGLU", swiglu),
		op("Swish", unaryWith(func(c *Call) func(float64) float64 { return swish(c.Float("alpha")) })),
		op("ThresholdedRelu", unaryWith(thresholdedRelu)),
	}
}

// sigmoid never overflows on its way.
func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// log1pExp is log(1 + exp(x)) without overflow.
func log1pExp(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

func swish(alpha float64) func(x float64) float64 {
	return func(x float64) float64 { return x * sigmoid(alpha*x) }
}

// relu keeps NaN and the sign of zero, as onnxruntime does.
func relu(c *Call) error {
	if c.eachInt(func(x int64) int64 { return max(x, 0) }) {
		return nil
	}
	clip := func(e *kern.Engine, dst, x []float32) { e.Clip(dst, x, 0, float32(math.Inf(1))) }
	return vector(clip, func(x float64) float64 { return pick(x < 0, 0, x) })(c)
}

func elu(c *Call) func(x float64) float64 {
	alpha := c.Float("alpha")
	return func(x float64) float64 {
		if x < 0 {
			return alpha * math.Expm1(x)
		}
		return x
	}
}

func celu(c *Call) func(x float64) float64 {
	alpha := c.Float("alpha")
	return func(x float64) float64 {
		if x < 0 {
			return alpha * math.Expm1(x/alpha)
		}
		return x
	}
}

func selu(c *Call) func(x float64) float64 {
	alpha, gamma := c.Float("alpha"), c.Float("gamma")
	return func(x float64) float64 {
		if x <= 0 {
			return gamma * alpha * math.Expm1(x)
		}
		return gamma * x
	}
}

func leakyRelu(c *Call) func(x float64) float64 {
	alpha := c.Float("alpha")
	return func(x float64) float64 { return pick(x < 0, alpha*x, x) }
}

func hardSigmoid(c *Call) func(x float64) float64 {
	alpha, beta := c.Float("alpha"), c.Float("beta")
	return func(x float64) float64 { return max(0, min(1, alpha*x+beta)) }
}

func thresholdedRelu(c *Call) func(x float64) float64 {
	alpha := c.Float("alpha")
	return func(x float64) float64 { return pick(x > alpha || x != x, x, 0) }
}

func shrink(c *Call) func(x float64) float64 {
	bias, lambd := c.Float("bias"), c.Float("lambd")
	return func(x float64) float64 {
		switch {
		case x < -lambd:
			return x + bias
		case x > lambd:
			return x - bias
		case x != x:
			return x
		}
		return 0
	}
}

// softplus overflows where log(1 + exp(x)) is computed in the low type as it is written.
func softplus(c *Call) error {
	a, x := c.accum(), c.In(0)
	if !a.low() || x.F == nil {
		return unary(log1pExp)(c)
	}
	y := c.Out(0, x.Elem, x.Dims)
	for i, v := range x.F {
		y.F[i] = float32(math.Exp(float64(v)))
	}
	a.roundAll(y.F)
	for i, v := range y.F {
		y.F[i] = 1 + v
	}
	a.roundAll(y.F)
	for i, v := range y.F {
		y.F[i] = float32(math.Log(float64(v)))
	}
	return nil
}

// gelu is exact, or the approximation by tanh.
func gelu(c *Call) error {
	if c.Str("approximate") == "tanh" {
		return fastGelu(c, c.In(0))
	}
	return unary(func(x float64) float64 { return x * 0.5 * (1 + math.Erf(x*math.Sqrt2/2)) })(c)
}

// geluCube and geluScale are the constants of the approximation of Gelu.
const (
	geluCube  = 0.044715
	geluScale = 0.7978845608028654 // √(2/π)
)

// fastGelu sets output 0 to the approximation of Gelu at x. In a low type each step is rounded,
// and the cube overflows.
func fastGelu(c *Call, x *Tensor) error {
	y := c.Out(0, x.Elem, x.Dims)
	a := c.accum()
	if !a.low() || x.F == nil {
		for i := range y.Len() {
			v := x.at64(i)
			y.put64(i, v*0.5*(1+math.Tanh(geluScale*(v+geluCube*v*v*v))))
		}
		return nil
	}
	r := a.round
	cube, scale := r(geluCube), r(geluScale)
	for i, v := range x.F {
		t := r(scale * r(v+r(cube*r(r(v*v)*v))))
		t = r(float32(math.Tanh(float64(t))))
		y.F[i] = r(r(0.5*v) * r(1+t))
	}
	return nil
}

// swiglu gates the second input by the swish of the first.
func swiglu(c *Call) error {
	f := swish(c.Float("alpha"))
	return pairwise(arith{
		f: func(x, y float32) float32 { return float32(f(float64(x)) * float64(y)) },
		d: func(x, y float64) float64 { return f(x) * y },
	})(c)
}
