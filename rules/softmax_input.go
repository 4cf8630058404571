package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/walk"
)

var softmaxInput = Rule{
	Name:  "softmax-input",
	Title: "logits of a softmax overflow",
	Kind:  Overflow,
	Model: checkSoftmaxInput,
}

// checkSoftmaxInput reports logits that pass the limit on their way to a softmax, other than
// products of queries and keys: class scores, similarities, and whatever a small temperature blows
// up. The softmax subtracts the row's maximum, and Inf - Inf is NaN.
func checkSoftmaxInput(p *Pass) {
	for n := range p.Model.Nodes() {
		if !walk.Is(n, "Mul", "Div", "MatMul", "Gemm", "Conv", "Add", "Sub", "Einsum", "Pow") || p.known(n, nil) || n.Out(0) == nil {
			continue
		}
		e, ok := p.rootOf(n.Out(0))
		if !ok || !e.damage.Pos {
			continue
		}
		if sink := softmaxBehind(n.Out(0)); sink != nil {
			p.overflowAt(n, e, p.temperature(n), fmt.Sprintf("the input of %s (%s)", sink.LocalKey(), sink.OpName()))
		}
	}
}

// softmaxBehind returns the softmax that a value comes to without anything between that bounds it.
func softmaxBehind(v *graph.Value) *graph.Node {
	return walk.LeadsTo(v, walk.Through("Add", "Sub", "Mul", "Div", "Where", "Cast", "CastLike"), func(u graph.Use) bool {
		return walk.Is(u.Node, "Softmax", "LogSoftmax", "ReduceLogSumExp")
	})
}

// temperature tells whether a node scales logits up by a constant.
func (p *Pass) temperature(n *graph.Node) bool {
	for i, v := range n.Inputs {
		c, ok := walk.Scalar(v)
		if ok && (walk.Is(n, "Mul") && (c > 1 || c < -1) || walk.Is(n, "Div") && i == 1 && c > -1 && c < 1) {
			return true
		}
	}
	return false
}
