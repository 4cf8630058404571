package rewrite

import (
	"errors"
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
	// Weights stores large constants low and computes in FP32.
	Weights
)

// ErrUnable is wrapped by errors that say why a plan cannot be carried out on a sound model.
var ErrUnable = errors.New("not possible")

// Plan is a wanted change of a model. The zero KeepIO keeps the types of all inputs and outputs.
type Plan struct {
	// Target is FP16 or BF16. FP32 widens every FP16, BF16 and FP8 value instead. E4M3FN and E5M2 make
	// nothing low but what [Quantize] edits name.
	Target   numfmt.Format
	Strategy Strategy
	Edits    []Edit
	// KeepIO tells whether an input or output of the model keeps its type.
	KeepIO func(v *graph.Value) bool
	// NarrowDouble makes DOUBLE values low too; else they stay as they are.
	NarrowDouble bool
	// Leave tells which nodes stay in the types they have, with all inside them. It may be nil.
	Leave func(n *graph.Node) bool
	// Chosen makes the nodes that are not left low even where the casts cost more than it gains.
	Chosen bool
	// Unsafe tells which values the low format cannot hold. Where an edit makes the maker of such a
	// value compute in FP32, the value is widened as by [Widen]: cast down it would be lost again.
	// It may be nil.
	Unsafe func(v *graph.Value) bool
}

func (p *Plan) keeps(v *graph.Value) bool { return p.KeepIO == nil || p.KeepIO(v) }

// Summary says what applying a plan did.
type Summary struct {
	Changed    bool
	Casts      int   // Cast nodes added
	Removed    int   // Cast nodes that had no effect, or whose result is a constant
	Retargeted int   // nodes that make another type than before: Cast, ConstantOfShape …
	Low, FP32  int   // nodes with float results, by the format of the first
	Converted  int64 // bytes of constants, as they were, that are stored in another format
	Inlined    []string
	Notes      []string // what could not be done, or was done beyond the formats
	Formats    []Format // of the nodes with float results, in graph order
}

// Format is what a plan decided for a node: the type of its first float result as it was and as it
// is to be, and for one that is FP32, or that was to be, the reason.
type Format struct {
	Key, Op, Value string
	Before, After  graph.ElemType
	Why            string
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
	w := &worker{plan: p, m: m.Clone(), sum: &Summary{}, opaque: map[*graph.Node]bool{}, last: map[anchor]*graph.Node{},
		origin: map[*graph.Value]*graph.Value{}, leave: map[*graph.Node]bool{}}
	if err := w.relocate(m); err != nil {
		return nil, nil, err
	}
	switch {
	case p.Strategy == Weights:
		return w.weights(m)
	case p.Target.Bits() == 8:
		return w.quantize(m)
	}
	edited := w.restructure()
	edited = w.unquantize() || edited
	raised := w.raiseOpset()
	b, ch := w.settle()
	b.explain(w.sum)
	b.count(w.sum)
	did, err := w.contents(b)
	if err != nil {
		return nil, nil, err
	}
	edited = edited || did
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

// weights is Apply for the strategy Weights.
func (w *worker) weights(m *graph.Model) (*graph.Model, *Summary, error) {
	changed, err := w.storeLow()
	if err != nil {
		return nil, nil, err
	}
	b := newBuilder(&Plan{Target: w.plan.Target, Strategy: Repair}, m, nil)
	b.pin(nil)
	b.solve()
	b.count(w.sum)
	if w.sum.Changed = changed; !changed {
		return m.Clone(), w.sum, nil
	}
	if w.plan.Target == numfmt.BF16 {
		if err := w.opsetOf(bfloatCast, "casts no bfloat16"); err != nil {
			return nil, nil, err
		}
	}
	return w.m, w.sum, nil
}

func (p *Plan) check() error {
	for _, e := range p.Edits {
		if c, ok := e.(Clamp); ok && !(c.Lo <= c.Hi) {
			return fmt.Errorf("cannot %s: the limits are not in order", c.Describe())
		}
	}
	switch {
	case (p.Target == numfmt.E4M3FN || p.Target == numfmt.E5M2) && p.Strategy == Mixed:
		return nil
	case p.Target == numfmt.FP16, p.Target == numfmt.BF16, p.Target == numfmt.FP32 && p.Strategy != Weights:
		return nil
	}
	return fmt.Errorf("cannot rewrite a model to %s: want fp16, bf16, fp32, fp8e4m3fn or fp8e5m2", p.Target)
}

// Hold returns a function that tells in which low format a value is held once the plan is carried
// out; false where it stays in FP32 or holds no floats. Constants that both formats read count as low.
func (p *Plan) Hold(m *graph.Model) (func(*graph.Value) (numfmt.Format, bool), error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	b := newBuilder(p, m, nil)
	b.unsafe = p.Unsafe
	b.pin(p.Edits)
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
	origin map[*graph.Value]*graph.Value // the original's values by those of the copy
	last   map[anchor]*graph.Node        // the last cast inserted there
	yields map[*graph.Value]bool         // outputs of any graph, before anything was changed
	leave  map[*graph.Node]bool          // nodes that stay as they are
	sum    *Summary
}

// settle plans until no function that is still called needs another body.
func (w *worker) settle() (*builder, *changes) {
	for {
		b := newBuilder(w.plan, w.m, w.opaque)
		if w.plan.Unsafe != nil {
			b.unsafe = func(v *graph.Value) bool { o := w.origin[v]; return o != nil && w.plan.Unsafe(o) }
		}
		b.leave(w.leave)
		b.pin(w.edits)
		b.solve()
		ch := b.changes()
		calls := w.calls(ch)
		if len(calls) == 0 {
			return b, ch
		}
		for _, n := range calls {
			w.inline(n)
		}
	}
}
