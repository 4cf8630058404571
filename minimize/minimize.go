package minimize

import (
	"errors"

	"github.com/amplint/amplint/graph"
)

// Options say what a part must show.
type Options struct {
	// Ranges are what is known of values of the main graph, by name: inputs that the cut makes get
	// them.
	Ranges map[string]Range
	// Fails tells whether a part still shows what is looked for. It may change the part.
	Fails func(m *graph.Model) bool
	// Budget is how many small parts may be tried. A part of hundreds of nodes counts as several.
	Budget int
}

// ErrLost is returned where no part shows what the model shows.
var ErrLost = errors.New("no part of the model shows it")

// reducer holds the smallest part so far.
type reducer struct {
	opt  Options
	best *graph.Model
	left int
}

// Of returns the smallest part found around a node of the main graph. The model itself is not
// changed; what is returned reads its weights through the model's file.
func Of(m *graph.Model, n *graph.Node, opt Options) (*graph.Model, error) {
	r := &reducer{opt: opt, left: opt.Budget}
	if !r.surround(m, n) {
		return nil, ErrLost
	}
	for r.left > 0 {
		before := r.left
		if !r.withoutNodes() && !r.bridged() && !r.withoutOutputs() {
			break
		}
		if r.left == before {
			break
		}
	}
	r.smaller()
	r.simpler()
	return r.best, nil
}

// perPart is how many nodes cost as much as a small part does anyway.
const perPart = 25

// try makes a part the best one if it fails.
func (r *reducer) try(m *graph.Model, err error) bool {
	if err != nil || m == nil || r.left <= 0 {
		return false
	}
	r.left -= 1 + len(m.Graph.Nodes)/perPart
	again, err := Reread(m) // the one that is tried may be changed
	if err != nil || !r.opt.Fails(m) {
		return false
	}
	r.best = again
	return true
}

// steps are how many edges up and down from the node are tried, in turn.
var steps = [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 1}, {1, 2}, {2, 2}, {3, 3}, {5, 5}, {8, 8}, {16, 16}}

// surround finds surroundings of the node that fail, at worst the whole graph.
func (r *reducer) surround(m *graph.Model, n *graph.Node) bool {
	last := 0
	for _, s := range steps {
		keep := map[int]bool{n.Index: true}
		walk(keep, m.Graph, s[0], makers)
		walk(keep, m.Graph, s[1], readers)
		if len(keep) == last {
			continue // nothing more there
		}
		last = len(keep)
		if r.try(cut(m, keep, r.opt.Ranges)) {
			return true
		}
	}
	all := map[int]bool{}
	for i := range m.Graph.Nodes {
		all[i] = true
	}
	return r.try(cut(m, all, r.opt.Ranges))
}

// walk adds the neighbours of the kept nodes, so many edges away.
func walk(keep map[int]bool, g *graph.Graph, edges int, next func(*graph.Node, func(*graph.Node))) {
	for range edges {
		var found []int
		for i, n := range g.Nodes {
			if keep[i] {
				next(n, func(o *graph.Node) { found = append(found, o.Index) })
			}
		}
		for _, i := range found {
			keep[i] = true
		}
	}
}

// makers visits the nodes of the same graph that a node reads from, its subgraphs included.
func makers(n *graph.Node, visit func(*graph.Node)) {
	n.Reads(n.Graph, func(v *graph.Value) {
		if v.Producer != nil && v.Const == nil {
			visit(v.Producer)
		}
	})
}

// readers visits the nodes of the same graph that read what a node makes.
func readers(n *graph.Node, visit func(*graph.Node)) {
	for _, v := range n.Outputs {
		if v == nil {
			continue
		}
		for _, u := range v.Uses {
			if o := lifted(u.Node, n.Graph); o != nil {
				visit(o)
			}
		}
	}
}

// lifted returns the node of a graph that another one is, or lies in.
func lifted(n *graph.Node, g *graph.Graph) *graph.Node {
	for n != nil && n.Graph != g {
		n = n.Graph.Owner
	}
	return n
}
