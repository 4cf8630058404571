package rewrite

import (
	"fmt"
	"slices"

	"github.com/amplint/amplint/graph"
)

// Rebalance multiplies the constants of a linear node by a power of two and takes it back in the constants
// of a linear node behind it; what lies between passes a factor on. Results in FP32 stay the same to the
// bit, as long as no weight becomes subnormal.
type Rebalance struct {
	First, Second *graph.Node
	Power         int // of two
}

// Describe says what the edit does.
func (e Rebalance) Describe() string {
	return fmt.Sprintf("multiply the weights of %q (%s) by 2^%d, and take it back in those of %q (%s)", e.First.Key(), e.First.OpName(), e.Power, e.Second.Key(), e.Second.OpName())
}

// Safe returns true: powers of two are exact.
func (e Rebalance) Safe() bool { return true }

// maxRescaled bounds the elements of a constant that is multiplied: it is held in memory.
const maxRescaled = 1 << 24

// operand is a constant input of a node, and the power of two it is multiplied by.
type operand struct {
	n     *graph.Node
	index int
	power int
}

// RebalanceFor returns the edit that multiplies what a node makes by a power of two, without the power,
// and the values that it changes; ok is false where the node is not linear in constants, or no linear node
// behind it takes the factor back.
func RebalanceFor(first *graph.Node) (e Rebalance, values []*graph.Value, ok bool) {
	if _, ok := givers(first, 1); !ok {
		return e, nil, false
	}
	for v := first.Out(0); v != nil; {
		u, ok := onlyUse(v)
		if !ok {
			break
		}
		values = append(values, v)
		if _, ok := takers(u.Node, u.Index, 1); ok {
			return Rebalance{First: first, Second: u.Node}, values, true
		}
		if _, ok := between(u.Node, u.Index, 1); !ok {
			break
		}
		v = u.Node.Out(0)
	}
	return e, nil, false
}

// givers returns the constants to multiply so that the result of a linear node is multiplied.
func givers(n *graph.Node, power int) (list []operand, ok bool) {
	switch n.OpName() {
	case "MatMul":
		return list, linear(&list, n, power)
	case "Conv", "ConvTranspose", "Gemm":
		if !scalable(n.In(1)) {
			return nil, false
		}
		list = append(list, operand{n, 1, power})
		if n.In(2) != nil {
			if !scalable(n.In(2)) {
				return nil, false
			}
			list = append(list, operand{n, 2, power})
		}
		return list, true
	}
	return nil, false
}

// linear lists the one operand of a product that is constant.
func linear(list *[]operand, n *graph.Node, power int) bool {
	for i := range 2 {
		if scalable(n.In(i)) {
			*list = append(*list, operand{n, i, power})
			return true
		}
	}
	return false
}

// takers returns the constants to divide so that the result of a linear node stays what it is while
// its input at an index is multiplied.
func takers(n *graph.Node, at, power int) (list []operand, ok bool) {
	switch n.OpName() {
	case "MatMul", "Mul":
		if other := 1 - at; scalable(n.In(other)) {
			return []operand{{n, other, -power}}, true
		}
	case "Div":
		if at == 0 && scalable(n.In(1)) {
			return []operand{{n, 1, power}}, true
		}
	case "Conv", "ConvTranspose", "Gemm":
		if at == 0 && scalable(n.In(1)) {
			return []operand{{n, 1, -power}}, true
		}
	case "BatchNormalization":
		if at == 0 && scalable(n.In(1)) && scalable(n.In(3)) && n.Out(1) == nil && n.Version() >= 7 && n.Int("training_mode", 0) == 0 {
			return []operand{{n, 1, -power}, {n, 3, power}}, true
		}
	}
	return nil, false
}

// homogeneous lists operators that pass a positive factor of their first input on.
var homogeneous = set("Relu", "LeakyRelu", "Abs", "Neg", "Identity", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze",
	"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "Slice", "DepthToSpace", "SpaceToDepth")

// between returns the constants to multiply along so that a node passes the factor of its input at an
// index on.
func between(n *graph.Node, at, power int) (list []operand, ok bool) {
	switch {
	case n.Domain != "":
	case homogeneous[n.Op]:
		return nil, at == 0 && n.Out(1) == nil
	case n.Op == "PRelu":
		return nil, at == 0
	case n.Op == "Add", n.Op == "Sub":
		if other := 1 - at; scalable(n.In(other)) {
			return []operand{{n, other, power}}, true
		}
	}
	return nil, false
}

// scalable tells whether a value is a constant that may be multiplied.
func scalable(v *graph.Value) bool {
	t := tensorOfConst(v)
	return t != nil && t.Elem.IsFloat() && t.Elem.Bits() >= 16 && t.Len() <= maxRescaled
}

func (w *worker) rebalance(e Rebalance) bool {
	list, ok := e.operands()
	if !ok {
		w.sum.note("no effect: %s: what lies between does not pass a factor on", e.Describe())
		return false
	}
	for _, o := range list {
		w.multiply(o)
	}
	return true
}

// operands lists all constants to multiply; ok is false where the two nodes are no pair.
func (e Rebalance) operands() (list []operand, ok bool) {
	list, ok = givers(e.First, e.Power)
	for v := e.First.Out(0); ok && v != nil; {
		u, single := onlyUse(v)
		if !single {
			break
		}
		var more []operand
		if u.Node == e.Second {
			more, ok = takers(u.Node, u.Index, e.Power)
			return append(list, more...), ok
		}
		more, ok = between(u.Node, u.Index, e.Power)
		list, v = append(list, more...), u.Node.Out(0)
	}
	return nil, false
}

// onlyUse returns the one reader of a value, where it stands in the same graph and no graph yields the
// value.
func onlyUse(v *graph.Value) (u graph.Use, ok bool) {
	if len(v.Uses) != 1 || slices.Contains(v.Graph.Outputs, v) || insideCall(v.Graph) || v.Uses[0].Node.Graph != v.Graph {
		return u, false
	}
	return v.Uses[0], true
}

// multiply multiplies a constant input of a node, for this node alone.
func (w *worker) multiply(o operand) {
	old := o.n.In(o.index)
	k, err := mapped(tensorOfConst(old), func(x float64) float64 { return x * pow2(o.power) })
	if err != nil {
		w.sum.note("constant %q cannot be read: %v", old.Key(), err)
		return
	}
	o.n.SetInput(o.index, constFor(o.n, old.Name+"_rescaled", k))
	w.yields = outputsOf(w.m)
	w.drop(old)
}
