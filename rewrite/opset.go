package rewrite

import (
	"fmt"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/schema"
)

// opsets in which the standard first allows BF16 for many operators: 13 for arithmetic, 16 for
// control flow, 22 for convolutions and pooling.
var bfloatOpsets = []int64{13, 14, 15, 16, 17, 18, 19, 20, 21, 22}

// bfloatCast is the first opset whose Cast takes BF16.
const bfloatCast = 13

// raiseOpset raises the opset where the target needs it and every node means the same afterwards, and
// says so. Where some node would mean something else, nothing is raised: what cannot be low in the
// model's opset stays FP32.
func (w *worker) raiseOpset() string {
	have := w.m.Opset("")
	if w.plan.Strategy != Mixed || have == 0 {
		return ""
	}
	to, why := have, ""
	switch graph.ElemOf(w.plan.Target) {
	case graph.Float16:
		to, why = w.opsetForQuantize(have), "has QuantizeLinear and DequantizeLinear for float only"
	case graph.BFloat16:
		to, why = w.opsetForBFloat(have), "allows bfloat16 for few operators"
	}
	if to == have {
		return ""
	}
	w.m.SetOpset("", to)
	w.upgradeNodes(have, to)
	return fmt.Sprintf("opset %d instead of %d, which %s", to, have, why)
}

// opsetForQuantize returns the opset for a model that rounds to 8 bits and back: in FP32 alone each of these
// nodes would stand between two casts. A scale that the model computes from its data stays FP32, with the
// numbers it divides.
func (w *worker) opsetForQuantize(have int64) int64 {
	count := 0
	for n := range w.standard {
		if n.Op != "QuantizeLinear" && n.Op != "DequantizeLinear" {
			continue
		}
		if scale := n.In(1); scale == nil || scale.Const == nil {
			return have
		}
		count++
	}
	if count == 0 || have >= quantizeOpset || !w.sameMeaning(have, quantizeOpset) {
		return have
	}
	return quantizeOpset
}

// opsetForBFloat returns the opset that allows BF16 for most nodes.
func (w *worker) opsetForBFloat(have int64) int64 {
	best, most := have, w.allowed(have)
	for _, to := range bfloatOpsets {
		if to <= have || !w.sameMeaning(have, to) {
			continue
		}
		if n := w.allowed(to); n > most {
			best, most = to, n
		}
	}
	return best
}

// standard yields the nodes of the standard's own operators outside functions.
func (w *worker) standard(yield func(*graph.Node) bool) {
	for n := range w.m.Nodes() {
		if n.Domain != "" || n.Call != nil || insideCall(n.Graph) {
			continue
		}
		if !yield(n) {
			return
		}
	}
}

func insideCall(g *graph.Graph) bool {
	for ; g != nil; g = g.Outer() {
		if g.Kind == graph.CallGraph {
			return true
		}
	}
	return false
}

// allowed counts the nodes whose float results may be BF16 in an opset.
func (w *worker) allowed(opset int64) int {
	count := 0
	for n := range w.standard {
		op, ok := schema.Lookup(n.Domain, n.Op, opset)
		if ok && len(op.Outputs) > 0 && op.Outputs[0].AllowsElem(int32(graph.BFloat16)) {
			count++
		}
	}
	return count
}

// changedMeaning lists operators that compute something else from an opset on although their
// signature stays valid: Softmax flattened its input before, GridSample renamed its modes,
// GroupNormalization took one scale per group, PRelu one slope per channel that was not broadcast.
var changedMeaning = map[string]int64{
	"Softmax": 13, "LogSoftmax": 13, "Hardmax": 13, "GridSample": 20, "GroupNormalization": 21, "Resize": 11, "Upsample": 9,
	"AveragePool": 19, "ReverseSequence": 10, "BatchNormalization": 9, "Dropout": 12, "Scan": 9, "PRelu": 7,
}

// sameMeaning tells whether every node stays valid and computes the same in another opset.
func (w *worker) sameMeaning(from, to int64) bool {
	for n := range w.standard {
		if _, ok := upgradeOf(n, from, to); ok {
			continue
		}
		if at := changedMeaning[n.Op]; from < at && at <= to {
			return false
		}
		a, okA := schema.Lookup(n.Domain, n.Op, from)
		b, okB := schema.Lookup(n.Domain, n.Op, to)
		if !okA || !okB || b.Deprecated && !a.Deprecated {
			return false
		}
		if a.Since != b.Since && !extends(a, b, n) {
			return false
		}
	}
	return true
}

// extends tells whether b takes all that the node gives a, with the same defaults.
func extends(a, b *schema.Op, n *graph.Node) bool {
	if !longer(a.Inputs, b.Inputs) || !longer(a.Outputs, b.Outputs) {
		return false
	}
	for _, x := range n.Attrs {
		if y, ok := b.Attr(x.Name); !ok || int32(y.Type) != int32(x.Type) && x.Ref == "" {
			return false
		}
	}
	for _, y := range b.Attrs {
		x, ok := a.Attr(y.Name)
		if n.Attr(y.Name) == nil && (y.Required || ok && !sameDefault(x, y)) {
			return false
		}
	}
	return true
}

// longer tells whether b begins with the parameters of a and adds only optional ones.
func longer(a, b []schema.Param) bool {
	if len(b) < len(a) {
		return false
	}
	for i, p := range a {
		if p.Name != b[i].Name || p.Option == schema.Variadic != (b[i].Option == schema.Variadic) {
			return false
		}
	}
	return !slices.ContainsFunc(b[len(a):], func(p schema.Param) bool { return p.Option == schema.Single })
}

func sameDefault(a, b schema.Attr) bool {
	if a.HasDefault != b.HasDefault {
		return false
	}
	x, y := a.Default, b.Default
	return x.Int == y.Int && x.Float == y.Float && x.Str == y.Str && slices.Equal(x.Ints, y.Ints)
}
