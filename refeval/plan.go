package refeval

import (
	"fmt"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/schema"
	"github.com/amplint/amplint/numfmt"
)

// plan is one graph ready to run: its values have slots in a frame, its constants are read.
type plan struct {
	g      *graph.Graph
	outer  *plan // of a subgraph; nil for the main graph and function instances
	slots  map[slotKey]int
	last   []int // the step that reads a slot last; len(steps) for outputs, -1 for none
	inputs []inputSlot
	steps  []*step
	outs   []ref
	names  []string // of outs
}

// slotKey tells the rounded from the raw form of a main input; pinned operands read the latter.
type slotKey struct {
	v   *graph.Value
	raw bool
}

type inputSlot struct {
	v         *graph.Value
	slot, raw int    // raw is -1 where no operand is pinned
	def       *Value // the initializer of the same name, which the caller may override
}

// ref says where an operand is: a constant, or a slot so many frames out. The zero depth is the
// graph's own frame. An operand that is left out has neither.
type ref struct {
	con         *Value
	depth, slot int
}

var noRef = ref{slot: -1}

// step is one node of a plan.
type step struct {
	node    *graph.Node
	version int64
	schema  *schema.Op
	op      entry
	call    *plan            // the function instance that the node calls
	bodies  map[string]*plan // by attribute
	in      []ref
	out     []int  // slots, -1 where an output is left out
	kept    []bool // outputs that stay float under As
	moved   bool   // results are rounded as they should be already
	dies    []bool // inputs in the graph's own frame that nothing reads after this step
	free    []int  // slots that nothing reads after this step
}

// planner carries what all plans of a model share.
type planner struct {
	r      *Runner
	free   map[*graph.Value]bool // see [Options.Free]
	cone   map[*graph.Node]bool  // the nodes of the main graph that run, nil for all
	consts map[slotKey]*Value
	// scratch holds the elements of constants that are kept in another layout only.
	scratch []float32
}

// graph plans one scope.
func (p *planner) graph(g *graph.Graph, outer *plan) (*plan, error) {
	pl := &plan{g: g, outer: outer, slots: map[slotKey]int{}}
	for _, v := range p.inputs(g) {
		in := inputSlot{v: v, slot: pl.slot(slotKey{v: v}), raw: -1}
		if d, err := p.initial(v); err != nil {
			return nil, err
		} else if d != nil {
			in.def = d
		}
		pl.inputs = append(pl.inputs, in)
	}
	for _, n := range g.Nodes {
		if p.skips(n) {
			continue
		}
		if err := p.node(pl, n); err != nil {
			return nil, nodeErr(n, err)
		}
	}
	for _, v := range g.Outputs {
		if v.Producer != nil && p.skips(v.Producer) {
			continue
		}
		r, err := p.operand(pl, v, false)
		if err != nil {
			return nil, err
		}
		pl.outs, pl.names = append(pl.outs, r), append(pl.names, v.Name)
	}
	pl.finish()
	return pl, nil
}

// finish settles where raw inputs go and where slots are freed.
func (pl *plan) finish() {
	for i, in := range pl.inputs {
		if s, ok := pl.slots[slotKey{in.v, true}]; ok {
			pl.inputs[i].raw = s
		}
	}
	for slot, last := range pl.last {
		if last >= 0 && last < len(pl.steps) {
			pl.steps[last].free = append(pl.steps[last].free, slot)
		}
	}
	for _, s := range pl.steps {
		s.dies = make([]bool, len(s.in))
		for i, r := range s.in {
			s.dies[i] = r.con == nil && r.depth == 0 && slices.Contains(s.free, r.slot)
		}
	}
	pl.slots = nil
}

// slot returns the slot of a value, a new one at the first time.
func (pl *plan) slot(k slotKey) int {
	s, ok := pl.slots[k]
	if !ok {
		s = len(pl.last)
		pl.slots[k] = s
		pl.last = append(pl.last, -1)
	}
	return s
}

// node plans one node.
func (p *planner) node(pl *plan, n *graph.Node) error {
	if isConstant(n.Out(0)) && n.Op == "Constant" {
		if !p.r.opt.watched() {
			return nil // who reads it reads the constant
		}
		_, err := p.constant(n.Outputs[0], false)
		return err
	}
	s := &step{node: n, version: n.Version()}
	if err := p.find(s); err != nil {
		return err
	}
	for i, v := range n.Inputs {
		c, err := p.rightSide(n, i, v)
		if err != nil {
			return err
		}
		if c != nil {
			s.in = append(s.in, ref{con: c})
			continue
		}
		raw := v != nil && s.schema != nil && s.schema.PinnedFloat(i) && p.r.opt.As != numfmt.Invalid
		r, err := p.operand(pl, v, raw)
		if err != nil {
			return err
		}
		s.in = append(s.in, r)
	}
	if err := p.below(pl, s); err != nil {
		return err
	}
	for _, v := range n.Outputs {
		p.result(pl, s, v)
	}
	s.moved = (s.op.move || s.call != nil) && p.r.opt.Keep == nil && !p.pinned(s)
	pl.steps = append(pl.steps, s)
	return nil
}

// result gives an output its slot. One that nothing reads is freed at once, unless a reader moves
// its last use on.
func (p *planner) result(pl *plan, s *step, v *graph.Value) {
	slot := -1
	if v != nil {
		slot = pl.slot(slotKey{v: v})
		pl.last[slot] = len(pl.steps)
	}
	s.out = append(s.out, slot)
	s.kept = append(s.kept, v != nil && p.r.opt.Keep != nil && p.r.opt.Keep(v))
}

// pinned tells whether a float operand of the node is not rounded.
func (p *planner) pinned(s *step) bool {
	for i := range s.in {
		if s.schema != nil && s.schema.PinnedFloat(i) && p.r.opt.As != numfmt.Invalid {
			return true
		}
	}
	return false
}

// find looks up what evaluates the node.
func (p *planner) find(s *step) error {
	n := s.node
	s.schema, _ = schema.Lookup(n.Domain, n.Op, s.version)
	if n.Call != nil {
		return nil
	}
	e, ok := table()[n.OpName()]
	if !ok {
		return fmt.Errorf("the evaluator has no operator %s", n.OpName())
	}
	s.op = e
	return required(s.schema, n)
}

// required refuses a node without an input that the standard demands.
func required(op *schema.Op, n *graph.Node) error {
	if op == nil || op.Vendor {
		return nil
	}
	for i, in := range op.Inputs {
		if in.Option == schema.Single && n.In(i) == nil {
			return fmt.Errorf("input %d (%s) is missing", i, in.Name)
		}
	}
	return nil
}

// below plans the graphs below a node.
func (p *planner) below(pl *plan, s *step) (err error) {
	if s.node.Call != nil {
		s.call, err = p.graph(s.node.Call, nil)
		return err
	}
	for _, a := range s.node.Attrs {
		if a.Graph == nil {
			continue
		}
		if s.bodies == nil {
			s.bodies = map[string]*plan{}
		}
		if s.bodies[a.Name], err = p.graph(a.Graph, pl); err != nil {
			return err
		}
	}
	return nil
}

// operand finds a value from inside a scope, and notes that the scope's current step reads it.
func (p *planner) operand(pl *plan, v *graph.Value, raw bool) (ref, error) {
	if v == nil {
		return noRef, nil
	}
	if p.fixed(v) {
		c, err := p.constant(v, raw)
		return ref{con: c}, err
	}
	raw = raw && (v.Input || p.free[v]) && v.Graph.Kind == graph.MainGraph
	for depth := 0; pl != nil; depth, pl = depth+1, pl.outer {
		if pl.g == v.Graph {
			slot := pl.slot(slotKey{v, raw})
			pl.last[slot] = len(pl.steps)
			return ref{depth: depth, slot: slot}, nil
		}
	}
	return noRef, fmt.Errorf("value %q is out of reach", v.Name)
}
