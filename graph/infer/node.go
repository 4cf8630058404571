package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/schema"
)

// infer sets the outputs' types and folds.
func (c *ctx) infer() error {
	if c.n.Call != nil {
		return c.call()
	}
	f := c.ops[c.n.OpName()]
	if f == nil {
		c.countUnknown()
		return c.bodies()
	}
	if ok, err := c.check(); err != nil || !ok {
		return err
	}
	if err := f(c); err != nil {
		return err
	}
	c.fold()
	return nil
}

// bodies walks the subgraphs of an operator that says nothing about their inputs, with what they declare.
func (c *ctx) bodies() error {
	for _, g := range c.n.Subgraphs() {
		for _, v := range g.Inputs {
			c.enter(v, c.declared[v])
		}
		if err := c.maybe(g); err != nil {
			return err
		}
	}
	return nil
}

func (c *ctx) countUnknown() {
	if !c.counted[c.n] {
		c.counted[c.n] = true
		c.unknown[c.n.OpName()]++
	}
}

// check refuses what the standard's own checker refuses, so that operators may rely on it: attributes of a wrong
// type, required ones that are missing, and missing inputs. It is false, without an error, where a function body
// reads an input that its call leaves out.
func (c *ctx) check() (bool, error) {
	if c.op == nil || c.op.Vendor {
		return true, nil
	}
	for _, a := range c.n.Attrs {
		if want, ok := c.op.Attr(a.Name); ok && int32(want.Type) != int32(a.Type) {
			return false, c.errorf("attribute %q has a wrong type", a.Name)
		}
	}
	for _, a := range c.op.Attrs {
		if a.Required && c.n.Attr(a.Name) == nil {
			return false, c.errorf("attribute %q is missing", a.Name)
		}
	}
	for i, p := range c.op.Inputs {
		if p.Option == schema.Single && !c.has(i) {
			if c.inCall() {
				return false, nil
			}
			return false, c.errorf("input %d (%s) is missing", i, p.Name)
		}
	}
	return true, nil
}

// inCall tells whether the node is part of a function's instance.
func (c *ctx) inCall() bool {
	for g := c.n.Graph; g != nil; g = g.Outer() {
		if g.Kind == graph.CallGraph {
			return true
		}
	}
	return false
}

// giveUp leaves the outputs with what the schema tells.
func (c *ctx) giveUp() {
	*c = *c.walk.context(c.n)
}

// publish writes types and constants into the outputs.
func (c *ctx) publish() {
	for i, v := range c.n.Outputs {
		if v == nil {
			continue
		}
		v.Type = c.refine(v, c.out[i])
		if c.data[i] != nil {
			c.keep(v, c.data[i])
		}
		if c.folded != nil && c.folded[i] != nil {
			v.Const = c.folded[i]
		}
	}
}

// refine completes an inferred type by the declared one. Where they contradict, inference wins: exporters and
// optimisers leave stale declarations behind, and onnxruntime ignores them too.
func (c *ctx) refine(v *graph.Value, t graph.Type) graph.Type {
	decl := c.declared[v]
	if t.Kind == graph.KindUnknown {
		return c.resolve(decl)
	}
	if decl.Kind == graph.KindUnknown {
		return c.complete(t)
	}
	merged, ok := c.merge(t, decl)
	if !ok {
		c.contradicted(v, decl, t)
	}
	return c.complete(merged)
}

// merge is false where the types contradict each other.
func (w *walk) merge(t, decl graph.Type) (graph.Type, bool) {
	if t.Kind != decl.Kind {
		return t, false
	}
	ok := true
	switch {
	case t.Elem == graph.Undefined:
		t.Elem = decl.Elem
	case decl.Elem != graph.Undefined && decl.Elem != t.Elem:
		ok = false
	}
	if t.Of != nil && decl.Of != nil {
		of, same := w.merge(*t.Of, *decl.Of)
		t.Of, ok = &of, ok && same
	} else if t.Of == nil {
		t.Of = decl.Of
	}
	s, same := w.mergeShape(t.Shape, decl.Shape)
	t.Shape = s
	return t, ok && same
}

func (w *walk) mergeShape(s, decl graph.Shape) (graph.Shape, bool) {
	switch {
	case decl == nil:
		return s, true
	case s == nil:
		return w.resolve(graph.Type{Shape: decl}).Shape, true
	case len(s) != len(decl):
		return s, false
	}
	s, ok := slices.Clone(s), true
	for i, d := range decl {
		if d.Known() && s[i].Known() && s[i] != d {
			ok = false
			continue
		}
		if d.Known() || named(d) && !s[i].Known() && !named(s[i]) {
			s[i] = w.resolveDim(d)
		}
	}
	return s, ok
}

// complete names the dimensions that are still unknown.
func (w *walk) complete(t graph.Type) graph.Type {
	for _, d := range t.Shape {
		if d.Sym == "" && d.N < 0 {
			return w.resolve(t)
		}
	}
	return t
}
