package reach

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rules/walk"
)

// Options say what a model's reach begins with.
type Options struct {
	// Target is the format that the model is judged for.
	Target numfmt.Format
	// Hold returns the low format a value is held in; false where it stays FP32 or holds no floats.
	Hold func(*graph.Value) (numfmt.Format, bool)
	// Declared returns the range of an input that the user vouches for.
	Declared func(*graph.Value) (rangeprop.Range, bool)
	// Nonempty tells of a mask that leaves each row one open element at least.
	Nonempty func(*graph.Value) bool
}

// Map holds the reach of the values of a model.
type Map struct {
	Options
	reached map[*graph.Value]reached
	parts   map[*graph.Value]uint64 // what the parts of inputs depend on, where they are free of one another
}

// reached is the reach of a value as its node gives it from right inputs, and as the format then
// holds it.
type reached struct{ raw, held Span }

// Raw returns the reach of a value as its node gives it, before its format cuts it off.
func (m *Map) Raw(v *graph.Value) Span { return m.reached[v].raw }

// New computes the reach of all values of a model.
func New(model *graph.Model, opt Options) *Map {
	m := &Map{Options: opt, reached: map[*graph.Value]reached{}, parts: map[*graph.Value]uint64{}}
	next := len(model.Graph.Inputs)
	for i, v := range model.Graph.Inputs {
		if r, ok := m.Declared(v); ok && v.Const == nil {
			r = holdable(v, r)
			x := Span{Lo: End{r.Lo, Free}, Hi: End{r.Hi, Free}, Deps: 1 << min(i, 63)}
			if m.Nonempty(v) {
				x.Lo.Level = Some // a sequence has at least one token
			}
			m.setReach(v, x)
			next = m.split(v, next)
		} else if flag(v) {
			m.setReach(v, Span{Lo: End{0, Free}, Hi: End{1, Free}, Deps: 1 << min(i, 63)})
		}
	}
	m.reachGraph(model.Graph)
	return m
}

// holdable returns the ends of a range as an input of 16 bits holds them: the outermost of its numbers inside, where
// there is one.
func holdable(v *graph.Value, r rangeprop.Range) rangeprop.Range {
	f, ok := v.Type.Elem.Format()
	if !ok || f.Bits() != 16 {
		return r
	}
	lo, hi := f.Round(r.Lo), f.Round(r.Hi)
	if lo < r.Lo {
		lo = f.Round(r.Lo + 0.75*f.Ulp(r.Lo))
	}
	if hi > r.Hi {
		hi = f.Round(r.Hi - 0.75*f.Ulp(r.Hi))
	}
	if lo > hi || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		return r
	}
	return rangeprop.Range{Lo: lo, Hi: hi}
}

// flag tells whether an input is a single truth value, which takes both whatever anybody says of it.
func flag(v *graph.Value) bool {
	dims, ok := v.Type.Shape.Ints()
	return v.Type.Elem == graph.Bool && v.Const == nil && ok && !slices.ContainsFunc(dims, func(n int64) bool { return n != 1 })
}

// setReach notes the reach of a value. What the model itself makes infinite in its own type, or
// cannot be written down, is no reach.
func (m *Map) setReach(v *graph.Value, r Span) {
	if !r.Known() {
		return
	}
	if m.Target != numfmt.FP32 {
		r = r.within(math.MaxFloat32)
	}
	held := r
	if f, ok := m.Hold(v); ok {
		held = r.within(f.Max())
	}
	m.reached[v] = reached{raw: r, held: held}
}

// Of returns how a reader finds the value: as its format holds it.
func (m *Map) Of(v *graph.Value) Span {
	if v == nil {
		return Span{}
	}
	if t := walk.Constant(v); t != nil {
		return m.constantReach(t)
	}
	return m.reached[v].held
}

func (m *Map) constantReach(t *graph.Tensor) Span {
	s, ok := walk.StatsOf(t)
	if !ok || s.Infs()+s.NaNs() > 0 || s.Count() == 0 {
		return Span{}
	}
	return between(s.Extremes())
}

func (m *Map) reachGraph(g *graph.Graph) {
	for _, n := range g.Nodes {
		switch {
		case n.Call != nil:
			m.reachCall(n)
		case walk.Is(n, "If"):
			m.reachIf(n)
		case walk.Is(n, "Loop"):
			m.reachLoop(n)
		case walk.Is(n, "Scan"):
			m.reachScan(n)
		default:
			m.reachNode(n)
		}
	}
}

func (m *Map) reachNode(n *graph.Node) {
	f := reachTable[n.OpName()]
	if f == nil {
		return
	}
	r := f(m, n)
	for _, o := range n.Outputs {
		if o == nil {
			continue
		}
		if own := m.parts[o]; own != 0 {
			r.Deps = own
		}
		m.setReach(o, r)
	}
}

// reachCall carries the reach into a function and out again.
func (m *Map) reachCall(n *graph.Node) {
	for i, v := range n.Inputs {
		if v == nil {
			continue
		}
		if inner := walk.Parameter(n, i); inner != nil {
			m.copyReach(inner, v)
		}
	}
	m.reachGraph(n.Call)
	for i, o := range n.Outputs {
		if o != nil && i < len(n.Call.Outputs) && n.Call.Outputs[i] != nil {
			m.copyReach(o, n.Call.Outputs[i])
		}
	}
}

func (m *Map) copyReach(to, from *graph.Value) {
	if r, ok := m.reached[from]; ok {
		m.reached[to] = r
	}
}

// reachIf goes into both branches where the condition can be chosen freely, so that each branch is
// run by some input.
func (m *Map) reachIf(n *graph.Node) {
	cond := m.Of(n.In(0))
	if cond.Level() < Uniform || walk.Constant(n.In(0)) != nil {
		return
	}
	for _, g := range n.Subgraphs() {
		m.reachGraph(g)
	}
	for i, o := range n.Outputs {
		var r Span
		for _, g := range n.Subgraphs() {
			if o == nil || i >= len(g.Outputs) || g.Outputs[i] == nil {
				continue
			}
			b := m.Of(g.Outputs[i]).capped(Uniform)
			if b.Deps&cond.Deps == 0 {
				r.add(b.Lo)
				r.add(b.Hi)
				r.Deps |= b.Deps | cond.Deps
			}
		}
		if o != nil {
			m.setReach(o, r)
		}
	}
}
