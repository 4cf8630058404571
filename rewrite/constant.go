package rewrite

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
)

// limits is a Clamp of a constant.
type limits struct{ lo, hi float64 }

// convert stores a constant in another type, or adds a copy of it in a second one.
func (w *worker) convert(c *constPoint, l *limits) error {
	t := tensorOf(c.v)
	w.sum.Converted += t.RawLen()
	if l != nil && !isWide(c.elem) {
		var err error
		if t, err = clamped(t, l); err != nil {
			return fmt.Errorf("clamping constant %q: %w", c.v.Key(), err)
		}
	}
	t = converted(t, c.elem)
	if !c.copyTo {
		store(c.v, t)
		return nil
	}
	v := w.second(c, t)
	for _, p := range c.places {
		p.set(v)
	}
	return nil
}

// tensorOf returns the tensor of an initializer or of a Constant node.
func tensorOf(v *graph.Value) *graph.Tensor {
	if v.Producer != nil {
		return v.Const
	}
	return v.Init
}

// store gives a constant another tensor.
func store(v *graph.Value, t *graph.Tensor) {
	n := v.Producer
	if n == nil {
		v.SetInit(t)
		return
	}
	for _, a := range append([]*graph.Attr(nil), n.Attrs...) {
		if a.Name != "value" {
			n.RemoveAttr(a.Name)
		}
	}
	n.SetAttr(&graph.Attr{Name: "value", Type: graph.AttrTensor, Tensor: t})
	v.Const = t
	v.Declare(t.Type())
}

// second adds the copy of a constant: an initializer, or a Constant node behind the first.
func (w *worker) second(c *constPoint, t *graph.Tensor) *graph.Value {
	name := w.m.Unique(c.v.Name + "_" + c.elem.String())
	g, first := c.v.Graph, c.v.Producer
	if first == nil {
		v := g.NewValue(name, t.Type())
		v.SetInit(t)
		return v
	}
	n := g.NewNode("Constant", "", "")
	if first.Name != "" {
		n.Name = w.m.Unique(first.Name + "_" + c.elem.String())
	}
	n.SetAttr(&graph.Attr{Name: "value", Type: graph.AttrTensor, Tensor: t})
	v := n.AddOutput(name, t.Type())
	v.Const = t
	g.InsertAfter(first, n)
	return v
}

// clamped returns the tensor with its elements limited. It is held in memory: masks are small.
func clamped(t *graph.Tensor, l *limits) (*graph.Tensor, error) {
	return mapped(t, func(x float64) float64 { return min(max(x, l.lo), l.hi) })
}

// mapped returns the tensor with a function applied to each element, in its own type.
func mapped(t *graph.Tensor, f func(float64) float64) (*graph.Tensor, error) {
	x, err := t.Float64s()
	if err != nil {
		return nil, err
	}
	wide := make([]float32, len(x))
	for i, v := range x {
		if !math.IsNaN(v) {
			v = f(v)
		}
		wide[i] = float32(v)
	}
	return converted(graph.FloatTensor(t.Name, t.Dims, wide...), t.Elem), nil
}

// clamps collects the Clamp edits by constant.
func (w *worker) clamps(b *builder) map[*graph.Value]*limits {
	list := map[*graph.Value]*limits{}
	for _, e := range w.edits {
		if c, ok := e.(Clamp); ok {
			for _, v := range b.sources(c.Const) {
				list[v] = &limits{c.Lo, c.Hi}
			}
		}
	}
	return list
}

// sources returns the constants that a value is, or is made of where folding found it constant.
func (b *builder) sources(v *graph.Value) (list []*graph.Value) {
	v = b.canon(v)
	switch {
	case b.constant(v), filled(v):
		return []*graph.Value{v}
	case v.Producer == nil || v.Const == nil || roleOf(v.Producer) != move:
		return nil
	}
	for _, in := range v.Producer.Inputs {
		if b.elem(in) != graph.Undefined {
			list = append(list, b.sources(in)...)
		}
	}
	return list
}

// filled tells whether the value is made by ConstantOfShape.
func filled(v *graph.Value) bool {
	return v.Producer != nil && v.Producer.OpName() == "ConstantOfShape"
}

func clampFill(n *graph.Node, l *limits) {
	if a := n.Attr("value"); a != nil && a.Tensor != nil {
		if t, err := clamped(a.Tensor, l); err == nil {
			n.SetAttr(&graph.Attr{Name: "value", Type: graph.AttrTensor, Tensor: t})
		}
	}
}

// contents carries out the edits that change numbers and attributes, and tells whether any did.
func (w *worker) contents(b *builder) (changed bool, err error) {
	for _, e := range w.edits {
		if insideCall(scopeOf(e)) {
			w.sum.note("no effect: %s: the function it is in cannot be inlined", e.Describe())
			continue
		}
		did := false
		switch e := e.(type) {
		case Clamp:
			did, err = w.clampLow(b, e)
		case SetConst:
			did, err = w.setConst(b, e)
		case SetAttr:
			did = e.apply()
		}
		if err != nil {
			return false, fmt.Errorf("cannot %s: %w", e.Describe(), err)
		}
		changed = changed || did
	}
	return changed, nil
}

// scopeOf returns the graph whose contents an edit changes, nil for edits of formats.
func scopeOf(e Edit) *graph.Graph {
	switch e := e.(type) {
	case Clamp:
		return e.Const.Graph
	case SetConst:
		return e.Const.Graph
	case SetAttr:
		return e.Node.Graph
	}
	return nil
}

// clampLow clamps constants that are low already; the others are clamped when they become so.
func (w *worker) clampLow(b *builder, e Clamp) (changed bool, err error) {
	list := b.sources(e.Const)
	if len(list) == 0 {
		w.sum.note("no effect: %s: it is no constant", e.Describe())
	}
	for _, v := range list {
		if isWide(b.elem(v)) {
			continue
		}
		did, err := edited(v, func(x float64) float64 { return min(max(x, e.Lo), e.Hi) })
		if err != nil {
			return false, err
		}
		changed = changed || did
	}
	return changed, nil
}

func (w *worker) setConst(b *builder, e SetConst) (changed bool, err error) {
	list := b.sources(e.Const)
	if len(list) == 0 {
		w.sum.note("no effect: %s: it is no constant", e.Describe())
	}
	for _, v := range list {
		did, err := edited(v, func(x float64) float64 {
			if x == e.From {
				return e.To
			}
			return x
		})
		if err != nil {
			return false, err
		}
		changed = changed || did
	}
	return changed, nil
}

// edited applies a function to the elements of a constant and tells whether any changed.
func edited(v *graph.Value, f func(float64) float64) (bool, error) {
	t := tensorOf(v)
	if filled(v) {
		if t = nil; v.Producer.Attr("value") != nil {
			t = v.Producer.Attr("value").Tensor
		}
	}
	if t == nil || !t.Elem.IsFloat() {
		return false, nil
	}
	changed := false
	k, err := mapped(t, func(x float64) float64 {
		y := f(x)
		changed = changed || x != y
		return y
	})
	if err != nil || !changed {
		return false, err
	}
	if filled(v) {
		v.Producer.SetAttr(&graph.Attr{Name: "value", Type: graph.AttrTensor, Tensor: k})
	} else {
		store(v, k)
	}
	return true, nil
}

func (e SetAttr) apply() bool {
	a, old := e.Value, e.Node.Attr(e.Name)
	if old != nil && old.Type == a.Type && old.F == a.F && old.I == a.I && old.S == a.S {
		return false
	}
	a.Name = e.Name
	e.Node.SetAttr(&a)
	return true
}
