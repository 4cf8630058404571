package rules

import (
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/walk"
)

// habit is a way in which exporters write something that is safe in the source and not in the graph,
// or safe in real numbers only.
type habit uint8

const (
	logOfSigmoid habit = iota
	logOfRest
	logOfExps
	meanOfSquares
	twoMasks
	lostEpsilon
)

// habits says who writes it so, and how the source avoids it, in general and for the exporter that
// wrote the model where that is known.
var habits = [...]struct{ who, general, torch, tensorflow string }{
	logOfSigmoid: {"torch, tf2onnx, Paddle and MXNet exporters write log-sigmoid so", "write -softplus(-x)", "write -F.softplus(-x) for F.logsigmoid(x)", "write -tf.nn.softplus(-x) for tf.math.log_sigmoid(x)"},
	logOfRest: {"exporters write binary cross entropy so", "compute it from the logits: -softplus(x)", "use F.binary_cross_entropy_with_logits, or -F.softplus(x) for log(1 - sigmoid(x))",
		"use from_logits=True, or -tf.nn.softplus(x) for log(1 - sigmoid(x))"},
	logOfExps: {"exporters write logaddexp so", "write max(a, b) + log1p(exp(-|a - b|))", "write torch.logsumexp(torch.stack([a, b]), 0) for torch.logaddexp(a, b)", "use tf.reduce_logsumexp of the stacked operands"},
	meanOfSquares: {"the standard's own function bodies and old batch statistics write a variance so", "subtract the mean before squaring", "write (x - x.mean(d, keepdim=True)).square().mean(d), or x.var(d, correction=0)",
		"tf.math.reduce_variance subtracts first"},
	twoMasks:    {"transformers adds a causal and a padding mask of the lowest number so", "join the masks as booleans and add one", "join the masks by & and call masked_fill once", "join the masks by tf.logical_and and add one"},
	lostEpsilon: {"torch's current exporter deletes an added epsilon of 1e-8 and below", "divide by max(norm, 1e-4)", "use F.normalize(x, eps=1e-4), or clamp_min instead of + eps", "use tf.math.l2_normalize(x, epsilon=1e-6), whose epsilon is squared already"},
}

// hint ends a message about a habit.
func (p *Pass) hint(h habit) string {
	t := &habits[h]
	avoid := t.general
	switch producer := strings.ToLower(p.Model.Producer); {
	case strings.Contains(producer, "torch"):
		avoid = t.torch
	case strings.Contains(producer, "tf2onnx"), strings.Contains(producer, "keras"), strings.Contains(producer, "tensorflow"):
		avoid = t.tensorflow
	}
	return "; " + t.who + ": " + avoid
}

// addsExps tells whether an exponential is one of the two of a log(exp(a) + exp(b)).
func addsExps(v *graph.Value) bool {
	uses, _ := walk.Flow(v)
	for _, u := range uses {
		if !walk.Is(u.Node, "Add") || walk.MakerOf(u.Node.In(1-u.Index), "Exp") == nil {
			continue
		}
		next, _ := walk.Flow(u.Node.Out(0))
		for _, w := range next {
			if walk.Is(w.Node, "Log") {
				return true
			}
		}
	}
	return false
}
