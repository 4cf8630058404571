package refeval

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// trainingOps are optimisers, and the operators of onnxruntime's training graphs.
func trainingOps() []entry {
	return append(gradOps(),
		op("ai.onnx.preview.training.Adagrad", optimizer(3, adagrad)),
		op("ai.onnx.preview.training.Adam", optimizer(4, adam)),
		op("ai.onnx.preview.training.Momentum", optimizer(3, momentum)),
		op("com.microsoft.AdamWOptimizer", adamW),
		op("com.microsoft.InPlaceAccumulator", accumulate),
		op("com.microsoft.InPlaceAccumulatorV2", accumulateV2),
	)
}

// stepRule is how an optimiser moves one element: given the parameter, its gradient and its states,
// it sets the parameter and the states anew.
type stepRule func(x *float64, g float64, state []float64)

// optimizer makes a kernel of a rule. After the rate and the count of steps come groups of tensors:
// parameters, gradients, then states; the outputs are the parameters and the states.
func optimizer(groups int, rule func(c *Call, rate, t float64) stepRule) func(c *Call) error {
	return func(c *Call) error {
		n := (c.Len() - 2) / groups
		if n < 1 || c.Len() != 2+n*groups {
			refuse("%d inputs do not make groups of %d", c.Len(), groups)
		}
		step := rule(c, c.In(0).scalar(), c.In(1).scalar())
		for i := range n {
			in := make([]*Tensor, groups)
			for k := range in {
				in[k] = c.In(2 + k*n + i)
			}
			for k, t := range c.move(step, in[0], in[1], in[2:]) {
				c.Set(k*n+i, TensorValue(t))
			}
		}
		return nil
	}
}

// move applies a rule to all elements of a parameter, and returns it and its states anew.
func (c *Call) move(step stepRule, x, g *Tensor, states []*Tensor) []*Tensor {
	out := []*Tensor{c.Temp(x.Elem, x.Dims)}
	for _, s := range states {
		out = append(out, c.Temp(s.Elem, s.Dims))
		if !slices.Equal(s.Dims, x.Dims) {
			refuse("a state %s of the parameter %s", s, x)
		}
	}
	if !slices.Equal(g.Dims, x.Dims) {
		refuse("a gradient %s of the parameter %s", g, x)
	}
	state := make([]float64, len(states))
	for i := range x.Len() {
		v := x.at64(i)
		for k, s := range states {
			state[k] = s.at64(i)
		}
		step(&v, g.at64(i), state)
		out[0].put64(i, v)
		for k, s := range state {
			out[1+k].put64(i, s)
		}
	}
	return out
}

func adagrad(c *Call, rate, t float64) stepRule {
	norm, eps := c.Float("norm_coefficient"), c.Float("epsilon")
	rate /= 1 + t*c.Float("decay_factor")
	return func(x *float64, g float64, s []float64) {
		g += norm * *x
		s[0] += g * g
		*x -= rate * g / (math.Sqrt(s[0]) + eps)
	}
}

func adam(c *Call, rate, t float64) stepRule {
	alpha, beta, eps := c.Float("alpha"), c.Float("beta"), c.Float("epsilon")
	norm, post := c.Float("norm_coefficient"), c.Float("norm_coefficient_post")
	if t > 0 {
		rate *= math.Sqrt(1-math.Pow(beta, t)) / (1 - math.Pow(alpha, t))
	}
	return func(x *float64, g float64, s []float64) {
		g += norm * *x
		s[0] = alpha*s[0] + (1-alpha)*g
		s[1] = beta*s[1] + (1-beta)*g*g
		*x = (1 - post) * (*x - rate*s[0]/(math.Sqrt(s[1])+eps))
	}
}

func momentum(c *Call, rate, t float64) stepRule {
	alpha, beta, norm := c.Float("alpha"), c.Float("beta"), c.Float("norm_coefficient")
	if t <= 0 {
		beta = 1
	}
	nesterov := c.Str("mode") == "nesterov"
	return func(x *float64, g float64, s []float64) {
		g += norm * *x
		s[0] = alpha*s[0] + beta*g
		if nesterov {
			*x -= rate * (g + alpha*s[0])
			return
		}
		*x -= rate * s[0]
	}
}

// adamW moves sequences of parameters. Mode 0 decays the weights first, as torch does; mode 1
// last, as Hugging Face did.
func adamW(c *Call) error {
	params, grads := c.Sequence(2), c.Sequence(3)
	m, v := c.Sequence(4), c.Sequence(5)
	if len(grads) != len(params) || len(m) != len(params) || len(v) != len(params) {
		refuse("%d parameters, %d gradients, %d and %d states", len(params), len(grads), len(m), len(v))
	}
	update := !c.Has(6) || c.In(6).truth()
	c.Out(0, graph.Int64, []int{1}).I[0] = bit(update)
	var out [3][]*Value
	step := c.adamWRule(c.In(0).scalar(), c.In(1).scalar())
	for i, p := range params {
		in := []*Tensor{tensorOf(p), tensorOf(m[i]), tensorOf(v[i])}
		if update {
			in = c.move(step, in[0], tensorOf(grads[i]), in[1:])
		}
		for k, t := range in {
			out[k] = append(out[k], TensorValue(t))
		}
	}
	for k, list := range out {
		c.Set(1+k, SequenceValue(list...))
	}
	return nil
}

func (c *Call) adamWRule(rate, t float64) stepRule {
	alpha, beta, eps, decay := c.Float("alpha"), c.Float("beta"), c.Float("epsilon"), c.Float("weight_decay")
	first, second := 1.0, 1.0
	if c.Int("correct_bias") != 0 {
		first, second = 1-math.Pow(alpha, t), 1-math.Pow(beta, t)
	}
	late := c.Int("adam_mode") != 0
	return func(x *float64, g float64, s []float64) {
		s[0] = alpha*s[0] + (1-alpha)*g
		s[1] = beta*s[1] + (1-beta)*g*g
		if late {
			*x -= rate * math.Sqrt(second) / first * s[0] / (math.Sqrt(s[1]) + eps)
			*x -= rate * decay * *x
			return
		}
		*x -= rate * decay * *x
		*x -= rate / first * s[0] / (math.Sqrt(s[1])/math.Sqrt(second) + eps)
	}
}

// accumulate adds to a sum unless a signal says not to.
func accumulate(c *Call) error {
	if c.Has(2) && !c.In(2).truth() {
		c.Set(0, c.Value(0))
		return nil
	}
	c.Set(0, TensorValue(c.sumOf(c.In(0), c.In(1))))
	return nil
}

// accumulateV2 adds to a sum, or begins it anew.
func accumulateV2(c *Call) error {
	y := c.as(c.In(1), c.In(0).Elem)
	if !c.Has(2) || !c.In(2).truth() {
		y = c.sumOf(c.In(0), y)
	}
	c.Out(0, graph.Bool, []int{1}).I[0] = 1
	c.Set(1, TensorValue(y))
	return nil
}

// sumOf adds two tensors, in the type and shape of the first.
func (c *Call) sumOf(x, y *Tensor) *Tensor {
	z := c.Temp(x.Elem, x.Dims)
	addition().into(c, z, x, c.as(y, x.Elem))
	return z
}
