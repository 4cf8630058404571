package refeval

import (
	"math"
	"slices"
	"strings"
)

// activation is a function of a recurrent layer.
type activation func(x float64) float64

// actKind is an activation by name: what it takes, and what its parameters are by default.
type actKind struct {
	name        string
	alpha, beta float64
	takes       int // 0, alpha alone, or both
	f           func(x, alpha, beta float64) float64
}

func actKinds() []actKind {
	return []actKind{
		{"affine", 1, 0, 2, func(x, a, b float64) float64 { return a*x + b }},
		{"elu", 1, 0, 1, func(x, a, _ float64) float64 { return pick(x < 0, a*math.Expm1(x), x) }},
		{"hardsigmoid", 0.2, 0.5, 2, func(x, a, b float64) float64 { return min(max(a*x+b, 0), 1) }},
		{"leakyrelu", 0.01, 0, 1, func(x, a, _ float64) float64 { return pick(x < 0, a*x, x) }},
		{"relu", 0, 0, 0, func(x, _, _ float64) float64 { return pick(x < 0, 0, x) }},
		{"scaledtanh", 1, 1, 2, func(x, a, b float64) float64 { return a * math.Tanh(b*x) }},
		{"sigmoid", 0, 0, 0, func(x, _, _ float64) float64 { return sigmoid(x) }},
		{"softplus", 0, 0, 0, func(x, _, _ float64) float64 { return log1pExp(x) }},
		{"softsign", 0, 0, 0, func(x, _, _ float64) float64 { return x / (1 + math.Abs(x)) }},
		{"tanh", 0, 0, 0, func(x, _, _ float64) float64 { return math.Tanh(x) }},
		{"thresholdedrelu", 1, 0, 1, func(x, a, _ float64) float64 { return pick(x >= a, x, 0) }},
	}
}

// activations returns the functions of all directions. The lists of parameters have either one for
// each function, or only those that the functions take.
func (c *Call) activations(names []string, directions int) []activation {
	given, need := c.Strs("activations"), len(names)*directions
	if len(given) == 0 {
		given = names
	}
	for len(given) < need && len(given) == len(names) {
		given = slices.Concat(given, given)
	}
	if len(given) < need {
		refuse("%d activations, %d are needed", len(given), need)
	}
	given = given[:need] // the default of RNN is that of both directions
	alphas, betas := c.Floats("activation_alpha"), c.Floats("activation_beta")
	clip := c.FloatOr("clip", math.Inf(1))
	list := make([]activation, len(given))
	var usedA, usedB int
	for i, name := range given {
		k := actNamed(name)
		alpha := parameter(alphas, i, &usedA, len(given), k.takes >= 1, k.alpha)
		beta := parameter(betas, i, &usedB, len(given), k.takes >= 2, k.beta)
		list[i] = func(x float64) float64 { return k.f(max(min(x, clip), -clip), alpha, beta) }
	}
	return list
}

func actNamed(name string) actKind {
	for _, k := range actKinds() {
		if k.name == strings.ToLower(name) {
			return k
		}
	}
	refuse("unknown activation %q", name)
	return actKind{}
}

// parameter returns the number that belongs to function i of n.
func parameter(list []float32, i int, used *int, n int, takes bool, def float64) float64 {
	if !takes {
		return def
	}
	if len(list) == n {
		return float64(list[i])
	}
	if *used < len(list) {
		*used++
		return float64(list[*used-1])
	}
	return def
}
