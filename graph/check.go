package graph

import (
	"errors"
	"fmt"
)

// maxProblems is how many problems an error of [Model.Check] lists.
const maxProblems = 5

// Check tells whether the model is valid, as onnx.checker does and a little more: names that are
// defined twice, hidden or not at all, nodes out of order, domains that are not imported, operators
// that do not take the inputs, types and attributes they are given, tensors of the wrong size. It
// is meant for models that were edited. Types should have been inferred before; unknown ones are
// passed over.
func (m *Model) Check() error {
	list := m.Problems()
	if more := len(list) - maxProblems; more > 0 {
		list = append(list[:maxProblems:maxProblems], fmt.Errorf("%d more problems", more))
	}
	return errors.Join(list...)
}

// Problems returns all that [Model.Check] finds.
func (m *Model) Problems() []error {
	c := &checker{m: m, functions: map[string]bool{}}
	for _, f := range m.Functions {
		c.functions[functionKey(f.Domain, f.Name, f.Overload)] = true
	}
	c.header()
	c.graph(m.Graph, nil, "")
	for _, f := range m.Functions {
		where := fmt.Sprintf("function %s: ", f.Name)
		c.opsets(f.Opsets, where)
		c.graph(f.Body, nil, where)
	}
	c.calls()
	return c.errs
}

// calls checks the types inside the instances of functions, which their bodies do not have.
func (c *checker) calls() {
	for g := range c.m.Graphs() {
		if !g.inCall() {
			continue
		}
		for _, n := range g.Nodes {
			if n.Call == nil {
				c.types(n, fmt.Sprintf("node %q (%s): ", n.Key(), n.OpName()))
			}
		}
	}
}

type checker struct {
	m         *Model
	functions map[string]bool // by functionKey
	errs      []error
}

func (c *checker) errorf(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf(format, args...))
}

// header checks the model's own fields.
func (c *checker) header() {
	m := c.m
	switch {
	case m.IRVersion <= 0:
		c.errorf("IR version %d", m.IRVersion)
	case m.IRVersion < 3 && len(m.Opsets) > 0:
		c.errorf("IR version %d has no opset imports", m.IRVersion)
	case m.IRVersion >= 3 && len(m.Opsets) == 0:
		c.errorf("IR version %d needs an opset import", m.IRVersion)
	case m.IRVersion < 8 && len(m.Functions) > 0:
		c.errorf("IR version %d has no functions", m.IRVersion)
	}
	c.opsets(m.Opsets, "")
	seen := map[string]bool{}
	for _, e := range m.Meta {
		if seen[e.Key] {
			c.errorf("metadata %q stands twice", e.Key)
		}
		seen[e.Key] = true
	}
}

// opsets checks imports. Some exporters import a domain twice, which does not harm as long as the
// versions agree.
func (c *checker) opsets(list []Opset, where string) {
	for _, o := range list {
		switch first := opsetOf(list, o.Domain); {
		case o.Version < 1:
			c.errorf("%sdomain %q is imported in version %d", where, o.Domain, o.Version)
		case first != o.Version:
			c.errorf("%sdomain %q is imported in versions %d and %d", where, o.Domain, first, o.Version)
		}
	}
}

// scope is the names that are defined so far, with those around it.
type scope struct {
	values map[string]*Value
	outer  *scope
}

func (s *scope) find(name string) *Value {
	for ; s != nil; s = s.outer {
		if v := s.values[name]; v != nil {
			return v
		}
	}
	return nil
}

// graph checks one graph and those below it; where ends in ": " unless it is empty.
func (c *checker) graph(g *Graph, outer *scope, where string) {
	s := &scope{map[string]*Value{}, outer}
	if g.Name == "" && g.Kind != FunctionBody {
		c.errorf("%sthe graph has no name", where)
	}
	for i, v := range g.Inputs {
		c.define(s, v, fmt.Sprintf("%sinput %d", where, i))
	}
	c.inits(g, s, where)
	for _, n := range g.Nodes {
		c.node(n, s, fmt.Sprintf("%snode %q (%s): ", where, n.LocalKey(), n.OpName()))
	}
	for i, v := range g.Outputs {
		if v != nil && s.find(v.Name) != v {
			c.errorf("%soutput %d: nothing defines %q", where, i, v.Name)
		}
	}
}

func (c *checker) define(s *scope, v *Value, place string) {
	switch {
	case v.Name == "":
		c.errorf("%s has no name", place)
	case s.values[v.Name] != nil:
		c.errorf("%s defines %q, which %s defines already", place, v.Name, s.values[v.Name].place())
	}
	s.values[v.Name] = v
}

func (c *checker) inits(g *Graph, s *scope, where string) {
	for i, v := range g.inits {
		place := fmt.Sprintf("%sinitializer %d", where, i)
		if !v.Input {
			c.define(s, v, place)
			if c.m.IRVersion < 4 && g.Kind == MainGraph {
				c.errorf("%s %q is no input, as IR version %d demands", place, v.Name, c.m.IRVersion)
			}
		}
		if err := v.Init.verify(); err != nil {
			c.errorf("%s: %w", place, err)
		}
	}
	for i, sp := range g.sparse {
		if v := g.byName[sp.Values.Name]; v != nil && !v.Input {
			c.define(s, v, fmt.Sprintf("%ssparse initializer %d", where, i))
		}
	}
}

func (c *checker) node(n *Node, s *scope, where string) {
	if len(n.Inputs) == 0 && len(n.Outputs) == 0 {
		c.errorf("%sneither inputs nor outputs", where)
	}
	for i, v := range n.Inputs {
		if v == nil {
			continue
		}
		switch got := s.find(v.Name); {
		case got == nil:
			c.errorf("%sinput %d: nothing before it defines %q", where, i, v.Name)
		case got != v:
			c.errorf("%sinput %d is %q of an outer scope, which another value of that name hides", where, i, v.Name)
		}
	}
	c.operator(n, where)
	for _, a := range n.Attrs {
		c.attr(n, a, s, where)
	}
	for i, v := range n.Outputs {
		if v == nil {
			continue
		}
		if got := s.find(v.Name); got != nil && s.values[v.Name] == nil {
			c.errorf("%soutput %d defines %q, which an outer scope defines already", where, i, v.Name)
		}
		c.define(s, v, fmt.Sprintf("%soutput %d", where, i))
	}
}

func (c *checker) attr(n *Node, a *Attr, s *scope, where string) {
	for _, g := range a.graphs() {
		c.graph(g, s, where+a.Name+": ")
	}
	for _, t := range append(some(a.Tensor), a.Tensors...) {
		if err := t.verify(); err != nil {
			c.errorf("%sattribute %q: %w", where, a.Name, err)
		}
	}
	if a.Ref != "" && n.Graph.root().Kind != FunctionBody {
		c.errorf("%sattribute %q refers to %q outside of a function", where, a.Name, a.Ref)
	}
}

// root returns the outermost graph around g.
func (g *Graph) root() *Graph {
	for g.Outer() != nil {
		g = g.Outer()
	}
	return g
}

// inCall tells whether the graph is, or lies in, the instance of a function.
func (g *Graph) inCall() bool {
	for ; g != nil; g = g.Outer() {
		if g.Kind == CallGraph {
			return true
		}
	}
	return false
}

// verify checks that the elements are there, without reading raw ones.
func (t *Tensor) verify() error {
	n, err := elements(t.Dims)
	switch {
	case err != nil:
		return t.wrap(err)
	case t.Elem == Undefined:
		return t.wrap(errors.New("it has no element type"))
	case t.from != nil:
		if _, ok := t.Elem.Format(); !ok {
			return t.wrap(fmt.Errorf("no conversion to %s", t.Elem))
		}
		return t.from.verify()
	case t.Elem == String:
		_, err := t.Strings()
		return err
	case t.External != nil:
		return t.verifyExternal(rawLen(t.Elem, n))
	case t.raw.Off != 0 || t.Elem.Bits() == 0:
		return nil // reading the model compared the sizes; types to come are left alone
	}
	return t.Raw(func([]byte) error { return nil })
}

func (t *Tensor) verifyExternal(want int64) error {
	p, err := t.ExternalPlace()
	if err != nil {
		return t.wrap(err)
	}
	f, err := t.openExternal(p, want)
	if err != nil {
		return t.wrap(err)
	}
	return f.Close()
}
