package reach

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/walk"
)

// reachLoop goes into the body of a Loop whose first turn is sure to run, with what that turn is given: what it
// reaches some run reaches. Of the results only those that keep each turn's own are known then.
func (m *Map) reachLoop(n *graph.Node) {
	bodies := n.Subgraphs()
	if len(bodies) != 1 || !starts(n) {
		return
	}
	body := bodies[0]
	for i, v := range body.Inputs {
		switch {
		case i == 0:
			m.setReach(v, sure(0))
		case i >= 2 && n.In(i) != nil:
			m.setReach(v, m.Of(n.In(i)))
		}
	}
	m.reachGraph(body)
	carried := max(len(n.Inputs)-2, 0)
	m.kept(n, body.Outputs, 1+carried, carried)
}

// starts tells whether the first turn of a Loop runs whatever its inputs.
func starts(n *graph.Node) bool {
	for i := range 2 {
		if n.In(i) == nil {
			continue
		}
		if x, ok := walk.Scalar(n.In(i)); !ok || x < 1 {
			return false
		}
	}
	return true
}

// reachScan goes into the body of a Scan over an axis that has a length, with its first states and with slices of what is
// scanned.
func (m *Map) reachScan(n *graph.Node) {
	bodies := n.Subgraphs()
	if len(bodies) != 1 || len(bodies[0].Inputs) != len(n.Inputs) {
		return
	}
	body := bodies[0]
	states := len(n.Inputs) - int(n.Int("num_scan_inputs", 0))
	for i, v := range body.Inputs {
		r := m.Of(n.In(i))
		if i >= states {
			if walk.Dim(n.In(i), 0) < 1 || n.Attr("scan_input_axes") != nil {
				return
			}
			r = slice(r)
		}
		m.setReach(v, r)
	}
	m.reachGraph(body)
	m.kept(n, body.Outputs, states, states)
}

// slice is the reach of one slice of a value: elements that are reached somewhere may lie in another.
func slice(r Span) Span {
	for _, e := range []*End{&r.Lo, &r.Hi} {
		if e.Level == Some {
			*e = End{}
		}
	}
	return r
}

// kept notes the results of a loop that hold what each turn made, of body outputs and node outputs from these on: the
// first turn reaches some element of them.
func (m *Map) kept(n *graph.Node, made []*graph.Value, from, to int) {
	for i := 0; from+i < len(made) && to+i < len(n.Outputs); i++ {
		if v, o := made[from+i], n.Outputs[to+i]; v != nil && o != nil {
			m.setReach(o, m.Of(v).capped(Some))
		}
	}
}
