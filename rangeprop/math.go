package rangeprop

import (
	"math"
)

func mathOps() map[string]op {
	ops := map[string]op{
		"Exp": approx(expOp), "Log": approx(logOp),
		"Tanh": within(-1-kernelError, 1+kernelError, plain(tanhOut)), "Sigmoid": within(0, 1, curve(sigmoid, 0)), "Erf": within(-1, 1, curve(monotone(math.Erf), 1)),
		"Softsign": within(-1, 1, softsignOp), "Atan": squash(plain(monotone(math.Atan))),
		"Softplus": approx(softplusOp), "Asinh": approx(plain(monotone(math.Asinh))), "Sinh": approx(plain(monotone(math.Sinh))),
		"Cosh": approx(plain(func(x Range) Range { a := absolute(x); return Range{math.Cosh(a.Lo), math.Cosh(a.Hi)} })),
		"Sin":  within(-1, 1, waveOp(0)), "Cos": within(-1, 1, waveOp(math.Pi/2)), "Tan": approx(tanOp),
		"Asin": squash(domain(-1, 1, math.Asin)), "Acos": squash(acosOp), "Acosh": approx(domain(1, math.Inf(1), math.Acosh)), "Atanh": approx(atanhOp),
		"Relu": exact(reluOp), "LeakyRelu": rounded(leakyOp), "PRelu": rounded(preluOp), "ThresholdedRelu": exact(thresholdedOp),
		"Elu": approx(eluOp), "Celu": approx(celuOp), "Selu": approx(seluOp), "Shrink": rounded(shrinkOp),
		"HardSigmoid": within(0, 1, hardSigmoidOp), "HardSwish": approx(gated(hardSwish, -1.5)), "Mish": approx(gated(mish, -1.19244838)),
		"Gelu": approx(geluOp), "Swish": approx(swishOp("alpha", 1)), "SwiGLU": approx(swiGLUOp), "com.microsoft.QuickGelu": approx(swishOp("alpha", 1.702)),
		"com.microsoft.Gelu": approx(gated(gelu, geluLeast)), "com.microsoft.FastGelu": approx(biasGelu(geluTanh, geluTanhLeast)), "com.microsoft.BiasGelu": approx(biasGelu(gelu, geluLeast)),
		"com.microsoft.BiasSplitGelu": approx(biasSplitGeluOp),
	}
	return ops
}

// plain applies a function to the bounds; an infinite argument gives what the function gives.
func plain(f func(Range) Range) func(c *call) *Val {
	return func(c *call) *Val { return map1(c.x(0), f) }
}

// kernelError is the absolute error of the rational approximations that kernels use for bounded
// functions near their limits: a sigmoid of -17 may come out as 0.
const kernelError = 1.0 / (1 << 22)

// curve applies a bounded function: within [low, 1], whatever the kernel's error. low is 0 or, for
// odd functions, given as 1.
func curve(f func(Range) Range, low float64) func(c *call) *Val {
	return func(c *call) *Val {
		return map1(c.x(0), func(x Range) Range {
			r := f(x)
			return Range{math.Max(r.Lo-kernelError, -low), math.Min(r.Hi+kernelError, 1)}
		})
	}
}

// tanhOut bounds what kernels return: those of onnxruntime pass 1 by two steps of FP32 where |x| is 8 to 9.
func tanhOut(x Range) Range {
	r := tanh(x)
	return Range{r.Lo - kernelError, r.Hi + kernelError}
}

func tanh(x Range) Range    { return Range{math.Tanh(x.Lo), math.Tanh(x.Hi)} }
func sigmoid(x Range) Range { return Range{logistic(x.Lo), logistic(x.Hi)} }

func logistic(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + math.Exp(-x))
	}
	e := math.Exp(x)
	return e / (1 + e)
}

func softsign(x float64) float64 {
	if math.IsInf(x, 0) {
		return math.Copysign(1, x)
	}
	return x / (1 + math.Abs(x))
}

// softsignOp divides Inf by Inf where its input is infinite.
func softsignOp(c *call) *Val {
	v := curve(monotone(softsign), 1)(c)
	v.nan = v.nan || c.x(0).special()
	return v
}

func softplus(x float64) float64 {
	if x > 30 {
		return x
	}
	return math.Log1p(math.Exp(x))
}

// softplusOp is log(1 + exp(x)), which the standard's own definition computes as it stands. Kernels
// are safe in FP32; there are none for FP16, and from opset 18 on, where the definition is one in
// operators, runtimes compute that, in FP32: its exponential overflows.
func softplusOp(c *call) *Val {
	f, ok := held(c.elem(0))
	return map1(c.x(0), func(x Range) Range {
		r := Range{softplus(x.Lo), softplus(x.Hi)}
		if ok && f.Bits() < 32 && c.n.Version() >= 18 && math.Exp(x.Hi) >= math.MaxFloat32 {
			r.Hi = math.Inf(1)
		}
		return r
	})
}

func expOp(c *call) *Val { return map1(c.x(0), monotone(math.Exp)) }

// logOp is -Inf at 0 and NaN below.
func logOp(c *call) *Val {
	a := c.x(0)
	v := map1(a, func(x Range) Range { return Range{math.Log(math.Max(x.Lo, 0)), math.Log(math.Max(x.Hi, 0))} })
	v.nan = a.nan || a.Hull().Lo < 0
	return v
}

func waveOp(shift float64) func(c *call) *Val {
	return func(c *call) *Val {
		a := c.x(0)
		v := map1(a, func(x Range) Range {
			r := wave(x, shift)
			return Range{math.Max(r.Lo-kernelError, -1), math.Min(r.Hi+kernelError, 1)}
		})
		v.nan = a.nan || a.special()
		return v
	}
}

func tanOp(c *call) *Val {
	a := c.x(0)
	v := map1(a, func(x Range) Range {
		if x.Hi-x.Lo >= math.Pi || crosses(Range{2 * x.Lo, 2 * x.Hi}, math.Pi) {
			return all
		}
		return Range{math.Tan(x.Lo), math.Tan(x.Hi)}
	})
	v.nan = a.nan || a.special()
	return v
}

// domain applies a function that rises between two ends and is NaN outside of them.
func domain(lo, hi float64, f func(float64) float64) func(c *call) *Val {
	return func(c *call) *Val {
		a := c.x(0)
		v := map1(a, func(x Range) Range {
			return Range{f(math.Min(math.Max(x.Lo, lo), hi)), f(math.Min(math.Max(x.Hi, lo), hi))}
		})
		h := a.Hull()
		v.nan = a.nan || h.Lo < lo || h.Hi > hi
		return v
	}
}

func acosOp(c *call) *Val {
	v := domain(-1, 1, math.Asin)(c)
	w := map1(v, func(x Range) Range { return Range{math.Pi/2 - x.Hi, math.Pi/2 - x.Lo} })
	return w
}

func atanhOp(c *call) *Val { return domain(-1, 1, math.Atanh)(c) }

func reluOp(c *call) *Val {
	a := c.x(0)
	v := map1(a, monotone(func(x float64) float64 { return math.Max(x, 0) }))
	v.posInf, v.integer, v.tiny = a.posInf, a.integer, a.tiny
	return v
}

// slopes bounds a function that is x·k below zero and x above.
func slopes(x, k Range) Range {
	pos, neg := Range{math.Max(x.Lo, 0), math.Max(x.Hi, 0)}, mul(Range{math.Min(x.Lo, 0), math.Min(x.Hi, 0)}, k)
	switch {
	case x.Lo >= 0:
		return pos
	case x.Hi <= 0:
		return neg
	}
	return pos.join(neg)
}

func leakyOp(c *call) *Val {
	k := float64(c.n.Float("alpha", 0.01))
	v := map1(c.x(0), func(x Range) Range { return slopes(x, Range{k, k}) })
	v.nan = v.nan || k == 0 && c.x(0).negInf
	return v
}

func preluOp(c *call) *Val {
	a, k := c.x(0), c.x(1)
	v := zip(a, k, slopes)
	v.nan = v.nan || a.special() && k.zero() || k.special()
	return v
}

func thresholdedOp(c *call) *Val {
	k := float64(c.n.Float("alpha", 1))
	a := c.x(0)
	v := map1(a, func(x Range) Range {
		if x.Lo > k {
			return x
		}
		return Range{0, math.Max(x.Hi, 0)}.join(Range{math.Min(0, math.Max(x.Lo, math.Min(k, 0))), 0})
	})
	v.posInf = a.posInf
	return v
}

// exponentialUnit is scale·(alpha·(exp(x/width) - 1)) below zero and scale·x above.
func exponentialUnit(c *call, alpha, scale, width float64) *Val {
	f := func(x float64) float64 {
		if x > 0 {
			return scale * x
		}
		return scale * alpha * math.Expm1(x/width)
	}
	return map1(c.x(0), func(x Range) Range {
		a, b := f(x.Lo), f(x.Hi)
		r := Range{math.Min(a, b), math.Max(a, b)}
		if x.hasZero() {
			r = r.join(Range{0, 0})
		}
		return r
	})
}

func eluOp(c *call) *Val { return exponentialUnit(c, float64(c.n.Float("alpha", 1)), 1, 1) }

func celuOp(c *call) *Val {
	a := float64(c.n.Float("alpha", 1))
	return exponentialUnit(c, a, 1, a)
}

func seluOp(c *call) *Val {
	return exponentialUnit(c, float64(c.n.Float("alpha", 1.67326319)), float64(c.n.Float("gamma", 1.05070102)), 1)
}

func shrinkOp(c *call) *Val {
	lambd, bias := float64(c.n.Float("lambd", 0.5)), float64(c.n.Float("bias", 0))
	return map1(c.x(0), func(x Range) Range {
		parts := []Range{}
		if x.Lo < -lambd {
			parts = append(parts, Range{x.Lo + bias, math.Min(x.Hi, -lambd) + bias})
		}
		if x.Hi > lambd {
			parts = append(parts, Range{math.Max(x.Lo, lambd) - bias, x.Hi - bias})
		}
		if x.Lo <= lambd && x.Hi >= -lambd || len(parts) == 0 {
			parts = append(parts, Range{0, 0})
		}
		r := parts[0]
		for _, q := range parts[1:] {
			r = r.join(q)
		}
		return r
	})
}

func hardSigmoidOp(c *call) *Val {
	alpha, beta := float64(c.n.Float("alpha", 0.2)), float64(c.n.Float("beta", 0.5))
	return map1(c.x(0), func(x Range) Range {
		r := add(x.scale(alpha), Range{beta, beta})
		return Range{math.Min(math.Max(r.Lo, 0), 1), math.Min(math.Max(r.Hi, 0), 1)}
	})
}

// gated applies x·g(x) for a gate g that rises from 0 to 1: it falls to a least value and rises
// from there. Far below zero kernels lose some of it to cancellation, and ∞·0 is NaN.
func gated(f func(float64) float64, at float64) func(c *call) *Val {
	return func(c *call) *Val { return gate(c.x(0), f, at) }
}

func gate(a *Val, f func(float64) float64, at float64) *Val {
	bound := valley(func(x float64) float64 {
		if math.IsInf(x, -1) {
			return 0
		}
		return f(x)
	}, at)
	v := map1(a, func(x Range) Range {
		r := bound(x)
		if x.Lo < at {
			e := kernelError * math.Min(-x.Lo, 64)
			r.Lo, r.Hi = r.Lo-e, math.Max(r.Hi, 0)
		}
		return r
	})
	v.nan = a.nan || a.special()
	return v
}

func hardSwish(x float64) float64 { return x * math.Min(math.Max(x/6+0.5, 0), 1) }

func mish(x float64) float64 { return x * math.Tanh(softplus(x)) }

// geluLeast is where GELU is least, to the precision of FP32.
const geluLeast = -0.7517915241

func gelu(x float64) float64 {
	if math.IsInf(x, 1) {
		return x
	}
	return x * 0.5 * math.Erfc(-x/math.Sqrt2)
}

func geluTanh(x float64) float64 {
	if math.IsInf(x, 1) {
		return x
	}
	return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

// geluTanhLeast is where the tanh form is least.
const geluTanhLeast = -0.7524614

func geluOp(c *call) *Val {
	if c.n.Str("approximate", "none") == "tanh" {
		return gate(c.x(0), geluTanh, geluTanhLeast)
	}
	return gate(c.x(0), gelu, geluLeast)
}

// biasGelu adds a bias before the activation.
func biasGelu(f func(float64) float64, least float64) func(c *call) *Val {
	return func(c *call) *Val {
		a := c.x(0)
		if c.has(1) {
			a = plus(a, c.x(1))
		}
		return gate(a, f, least)
	}
}

// swishOp is x·sigmoid(k·x), least at -1.278/k.
func swishOp(attr string, def float32) func(c *call) *Val {
	return func(c *call) *Val {
		k := float64(c.n.Float(attr, def))
		if k <= 0 {
			v := times(c.x(0), map1(c.x(0), func(x Range) Range { return sigmoid(x.scale(k)) }))
			v.nan = v.nan || c.x(0).special()
			return v
		}
		return gate(c.x(0), func(x float64) float64 { return x * logistic(k*x) }, -1.2784645/k)
	}
}

// swiGLUOp multiplies the swish of a gate by a value.
func swiGLUOp(c *call) *Val { return times(swishOp("alpha", 1)(c), c.x(1)) }

// biasSplitGeluOp adds a bias and multiplies one half of the channels by the GELU of the other.
func biasSplitGeluOp(c *call) *Val {
	a := plus(c.x(0), c.x(1)).flat()
	return times(a, gate(a, gelu, geluLeast))
}
