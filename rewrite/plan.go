package rewrite

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// Strategy says what a plan does with values that no edit speaks of.
type Strategy uint8

const (
	// Mixed narrows: every value that may be low becomes low.
	Mixed Strategy = iota
	// Repair leaves the model as it is, but for the FP32 islands of the edits.
	Repair
)

// Plan is a wanted change of a model. The zero KeepIO keeps the types of all inputs and outputs.
type Plan struct {
	// Target is FP16 or BF16. FP32 widens every FP16, BF16 and FP8 value instead.
	Target   numfmt.Format
	Strategy Strategy
	Edits    []Edit
	// KeepIO tells whether an input or output of the model keeps its type.
	KeepIO func(v *graph.Value) bool
	// NarrowDouble makes DOUBLE values low too; else they stay as they are.
	NarrowDouble bool
}

func (p *Plan) keeps(v *graph.Value) bool { return p.KeepIO == nil || p.KeepIO(v) }

// Summary says what applying a plan did.
type Summary struct {
	Changed    bool
	Casts      int   // Cast nodes added
	Removed    int   // Cast nodes that had become without effect
	Retargeted int   // nodes that make another type than before: Cast, ConstantOfShape …
	Low, FP32  int   // nodes with float results, by the format of the first
	Converted  int64 // bytes of constants, as they were, that are stored in another format
	Inlined    []string
	Notes      []string // what could not be done, or was done beyond the formats
}

func (s *Summary) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// Apply carries the plan out on a copy of the model, whose types must have been inferred; m stays
// as it was. A plan that changes nothing gives a copy that is written byte for byte like m.
func (p *Plan) Apply(m *graph.Model) (*graph.Model, *Summary, error) {
	if err := p.check(); err != nil {
		return nil, nil, err
	}
	w := &worker{plan: p, m: m.Clone(), sum: &Summary{}, opaque: map[*graph.Node]bool{},
		last: map[anchor]*graph.Node{}}
	w.relocate(m)
	raised := w.raiseOpset()
	b, ch, err := w.settle()
	if err != nil {
		return nil, nil, err
	}
	b.explain(w.sum)
	b.count(w.sum)
	edited, err := w.contents()
	if err != nil {
		return nil, nil, err
	}
	if ch.empty() && !edited {
		return m.Clone(), w.sum, nil
	}
	if err := w.carryOut(b, ch); err != nil {
		return nil, nil, err
	}
	w.sum.Changed = true
	if raised != "" {
		w.sum.note("%s", raised)
	}
	return w.m, w.sum, nil
}

func (p *Plan) check() error {
	switch p.Target {
	case numfmt.FP16, numfmt.BF16, numfmt.FP32:
		return nil
	}
	return fmt.Errorf("cannot rewrite a model to %s: want fp16, bf16 or fp32", p.Target)
}

// Hold returns a function that tells in which low format a value is held once the plan is carried
// out; false where it stays in FP32 or holds no floats. Constants that both formats read count as low.
func (p *Plan) Hold(m *graph.Model) (func(*graph.Value) (numfmt.Format, bool), error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	b := newBuilder(p, m, nil)
	if err := b.pin(p.Edits); err != nil {
		return nil, err
	}
	b.solve()
	return func(v *graph.Value) (numfmt.Format, bool) {
		e := b.heldIn(v)
		f, ok := e.Format()
		return f, ok && !isWide(e)
	}, nil
}

// worker carries one plan out.
type worker struct {
	plan   *Plan
	m      *graph.Model // the copy
	edits  []Edit       // of the plan, with the values and nodes of the copy
	opaque map[*graph.Node]bool
	last   map[anchor]*graph.Node // the last cast inserted there
	sum    *Summary
}

// relocate translates the edits to the copy, whose graphs list values and nodes in the same order.
func (w *worker) relocate(m *graph.Model) {
	values, nodes := map[*graph.Value]*graph.Value{}, map[*graph.Node]*graph.Node{}
	var copies []*graph.Graph
	for g := range w.m.Graphs() {
		copies = append(copies, g)
	}
	for g := range m.Graphs() {
		for i, v := range g.Values {
			values[v] = copies[0].Values[i]
		}
		for i, n := range g.Nodes {
			nodes[n] = copies[0].Nodes[i]
		}
		copies = copies[1:]
	}
	for _, e := range w.plan.Edits {
		w.edits = append(w.edits, moved(e, values, nodes))
	}
}

func moved(e Edit, values map[*graph.Value]*graph.Value, nodes map[*graph.Node]*graph.Node) Edit {
	switch e := e.(type) {
	case Widen:
		return Widen{values[e.Value]}
	case KeepFP32:
		return KeepFP32{nodes[e.Node]}
	case Clamp:
		return Clamp{values[e.Const], e.Lo, e.Hi}
	case SetConst:
		return SetConst{values[e.Const], e.From, e.To}
	case SetAttr:
		return SetAttr{nodes[e.Node], e.Name, e.Value}
	}
	return e
}

// settle plans until no function that is still called needs another body.
func (w *worker) settle() (*builder, *changes, error) {
	for {
		b := newBuilder(w.plan, w.m, w.opaque)
		if err := b.pin(w.edits); err != nil {
			return nil, nil, err
		}
		b.solve()
		ch := b.changes()
		calls := w.calls(ch)
		if len(calls) == 0 {
			return b, ch, nil
		}
		for _, n := range calls {
			w.inline(n)
		}
	}
}
