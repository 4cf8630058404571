package walk

import "github.com/amplint/amplint/graph"

// maxSearch bounds the values that a search looks at.
const maxSearch = 100

// maxWays ends a list of ways that does not come to an end by itself.
const maxWays = 64

// LeadsTo follows a value through the readers that pass lets through and returns the first that is
// a goal, nil where there is none within reach.
func LeadsTo(v *graph.Value, pass, goal func(graph.Use) bool) *graph.Node {
	seen := map[*graph.Value]bool{}
	queue := []*graph.Value{v}
	for len(queue) > 0 && len(seen) < maxSearch {
		v, queue = queue[0], queue[1:]
		if v == nil || seen[v] {
			continue
		}
		seen[v] = true
		uses, _ := Flow(v)
		for _, u := range uses {
			if goal(u) {
				return u.Node
			}
			if Hands(u) || pass(u) {
				queue = append(queue, u.Node.Outputs...)
			}
		}
	}
	return nil
}

// Hands tells whether the use hands the numbers of its input on, in whichever format.
func Hands(u graph.Use) bool {
	return Carries(u) || Is(u.Node, "Cast", "CastLike") && u.Index == 0 && floats(u.Node)
}

// floats tells whether the first input and output of a node are floats.
func floats(n *graph.Node) bool {
	return n.In(0) != nil && n.Out(0) != nil && n.In(0).Type.Float() && n.Out(0).Type.Float()
}

// Uses returns the nodes that compute something of a value: what [Flow] returns, with Identity and
// casts between floats looked through as by [Plain].
func Uses(v *graph.Value) []graph.Use {
	var list []graph.Use
	uses, _ := Flow(v)
	for _, u := range uses {
		if o := u.Node.Out(0); o != nil && Is(u.Node, "Identity", "Cast", "CastLike") && Hands(u) {
			list = append(list, Uses(o)...)
		} else {
			list = append(list, u)
		}
	}
	return list
}

// Through makes a pass for [LeadsTo] from operators.
func Through(ops ...string) func(graph.Use) bool {
	return func(u graph.Use) bool { return Is(u.Node, ops...) }
}

// WaysTo returns the values on the ways from v to a reader, v first.
func WaysTo(v *graph.Value, goal *graph.Node, pass func(graph.Use) bool) []*graph.Value {
	list := []*graph.Value{v}
	seen := map[*graph.Value]bool{v: true}
	reaches := func(w *graph.Value) bool {
		return LeadsTo(w, pass, func(u graph.Use) bool { return u.Node == goal }) != nil
	}
	for i := 0; i < len(list) && len(list) < maxWays; i++ {
		uses, _ := Flow(list[i])
		for _, u := range uses {
			for _, o := range u.Node.Outputs {
				if o != nil && !seen[o] && (Hands(u) || pass(u)) && reaches(o) {
					seen[o] = true
					list = append(list, o)
				}
			}
		}
	}
	return list
}
