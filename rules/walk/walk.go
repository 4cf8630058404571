package walk

import (
	"github.com/amplint/amplint/graph"
)

// movement lists the operators that carry elements on unchanged. A finding about a constant sits
// on the first reader that is none of them.
var movement = map[string]bool{
	"Identity": true, "Reshape": true, "Flatten": true, "Squeeze": true, "Unsqueeze": true, "Transpose": true,
	"Expand": true, "Tile": true, "Slice": true, "Gather": true, "Split": true, "Concat": true,
}

// Carries tells whether the use hands the elements of its input on unchanged.
func Carries(u graph.Use) bool {
	if u.Node.Domain != "" || !movement[u.Node.Op] {
		return false
	}
	return u.Index == 0 || u.Node.Op == "Concat"
}

// Lengthens tells whether a use puts a value into longer rows, beside other elements: a Concat along the last axis, and
// updates of a part of them.
func Lengthens(u graph.Use) bool {
	n, x, y := u.Node, u.Node.In(u.Index), u.Node.Out(0)
	if n.Domain != "" || x == nil || y == nil || len(x.Type.Shape) == 0 || len(x.Type.Shape) != len(y.Type.Shape) {
		return false
	}
	if n.Op != "Concat" && (n.Op != "ScatterElements" || u.Index != 2) {
		return false
	}
	last := len(x.Type.Shape) - 1
	a, b := x.Type.Shape[last], y.Type.Shape[last]
	return a.Known() && b.Known() && a.N < b.N
}

// Source follows a value back over the borders of function calls to where it is really defined.
func Source(v *graph.Value) *graph.Value {
	for v != nil {
		switch {
		case v.Producer != nil && v.Producer.Call != nil:
			out := v.Producer.Call.Outputs
			if v.Index >= len(out) || out[v.Index] == nil {
				return v
			}
			v = out[v.Index]
		case v.Input && v.Graph.Kind == graph.CallGraph:
			outer := Argument(v)
			if outer == nil {
				return v
			}
			v = outer
		default:
			return v
		}
	}
	return nil
}

// Argument returns what a call hands to an input of its instance. Inputs that the call leaves out
// have no value inside.
func Argument(v *graph.Value) *graph.Value {
	at := -1
	for i, in := range v.Graph.Inputs {
		if in == v {
			at = i
		}
	}
	for _, a := range v.Graph.Owner.Inputs {
		if a == nil {
			continue
		}
		if at == 0 {
			return a
		}
		at--
	}
	return nil
}

// Parameter returns the value inside a call that input i of the caller becomes.
func Parameter(n *graph.Node, i int) *graph.Value {
	at := 0
	for _, a := range n.Inputs[:i] {
		if a != nil {
			at++
		}
	}
	if at < len(n.Call.Inputs) {
		return n.Call.Inputs[at]
	}
	return nil
}

// Maker returns the node that really computes a value, nil for inputs and initializers.
func Maker(v *graph.Value) *graph.Node {
	if v = Source(v); v == nil {
		return nil
	}
	return v.Producer
}

// MakerOf returns the node that computes a value if it is one of the given operators of the
// standard, looking through no-op nodes in between.
func MakerOf(v *graph.Value, ops ...string) *graph.Node {
	n := Maker(Plain(v))
	if Is(n, ops...) {
		return n
	}
	return nil
}

// Plain follows a value back through Identity and float Casts.
func Plain(v *graph.Value) *graph.Value {
	for {
		v = Source(v)
		n := Maker(v)
		if !Is(n, "Identity", "Cast", "CastLike") || n.In(0) == nil || !v.Type.Float() || !n.In(0).Type.Float() {
			return v
		}
		v = n.In(0)
	}
}

// Is tells whether the node is one of the operators of the standard.
func Is(n *graph.Node, ops ...string) bool {
	if n == nil || n.Domain != "" && n.Domain != "ai.onnx" {
		return false
	}
	for _, op := range ops {
		if n.Op == op {
			return true
		}
	}
	return false
}

// Flow returns the nodes that read a value, calls entered and left, and whether it is an output of
// the model. Values that leave a branch or a body go on as outputs of the node around it.
func Flow(v *graph.Value) (uses []graph.Use, output bool) {
	for _, u := range v.Uses {
		if u.Node.Call == nil {
			uses = append(uses, u)
			continue
		}
		if inner := Parameter(u.Node, u.Index); inner != nil {
			more, out := Flow(inner)
			uses, output = append(uses, more...), output || out
		}
	}
	for _, w := range leaves(v) {
		more, out := Flow(w)
		uses, output = append(uses, more...), output || out
	}
	return uses, output || v.Output && v.Graph.Owner == nil
}

// leaves returns the outputs of the node around v's graph that v becomes.
func leaves(v *graph.Value) []*graph.Value {
	owner := v.Graph.Owner
	if owner == nil || !v.Output {
		return nil
	}
	shift := 0
	if Is(owner, "Loop") {
		shift = -1 // the body's first output is the condition
	}
	var list []*graph.Value
	for i, o := range v.Graph.Outputs {
		if o == v && i+shift >= 0 && owner.Out(i+shift) != nil {
			list = append(list, owner.Out(i+shift))
		}
	}
	return list
}

// Readers returns the uses of a value that compute something, and the values it passes through on
// the way there. Movement operators are entered.
func Readers(v *graph.Value) (uses []graph.Use, through []*graph.Value) {
	seen := map[*graph.Value]bool{v: true}
	queue := []*graph.Value{v}
	for len(queue) > 0 {
		v, queue = queue[0], queue[1:]
		list, _ := Flow(v)
		for _, u := range list {
			if !Carries(u) {
				uses = append(uses, u)
				continue
			}
			for _, o := range u.Node.Outputs {
				if o != nil && !seen[o] {
					seen[o] = true
					queue, through = append(queue, o), append(through, o)
				}
			}
		}
	}
	return uses, through
}

// Moves tells whether an operator of the standard only carries elements on.
func Moves(op string) bool { return movement[op] }
