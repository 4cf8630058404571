package rules

import "github.com/amplint/amplint/graph"

// maxSearch bounds the values that a search looks at.
const maxSearch = 100

// leadsTo follows a value through the readers that pass lets through and returns the first that is
// a goal, nil where there is none within reach.
func leadsTo(v *graph.Value, pass, goal func(graph.Use) bool) *graph.Node {
	seen := map[*graph.Value]bool{}
	queue := []*graph.Value{v}
	for len(queue) > 0 && len(seen) < maxSearch {
		v, queue = queue[0], queue[1:]
		if v == nil || seen[v] {
			continue
		}
		seen[v] = true
		uses, _ := flow(v)
		for _, u := range uses {
			if goal(u) {
				return u.Node
			}
			if carries(u) || pass(u) {
				queue = append(queue, u.Node.Outputs...)
			}
		}
	}
	return nil
}

// through makes a pass for [leadsTo] from operators.
func through(ops ...string) func(graph.Use) bool {
	return func(u graph.Use) bool { return is(u.Node, ops...) }
}

// waysTo returns the values on the ways from v to a reader, v first.
func waysTo(v *graph.Value, goal *graph.Node, pass func(graph.Use) bool) []*graph.Value {
	list := []*graph.Value{v}
	seen := map[*graph.Value]bool{v: true}
	reaches := func(w *graph.Value) bool {
		return leadsTo(w, pass, func(u graph.Use) bool { return u.Node == goal }) != nil
	}
	for i := 0; i < len(list) && len(list) < maxRegion; i++ {
		uses, _ := flow(list[i])
		for _, u := range uses {
			for _, o := range u.Node.Outputs {
				if o != nil && !seen[o] && (carries(u) || pass(u)) && reaches(o) {
					seen[o] = true
					list = append(list, o)
				}
			}
		}
	}
	return list
}
