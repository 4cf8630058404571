package onnxtxt

// resolve finds names that nothing defines or two places define. The graph package finds them as
// well, but knows no lines.
func resolve(p *parser, m *modelAST) {
	(&scope{p: p}).graph(m.graph)
	for _, f := range m.functions {
		s := &scope{p: p, names: map[string]int{}}
		for _, vi := range f.inputs {
			s.define(vi.pos, vi.name)
		}
		s.body(f.body)
		s.outputs(f.outputs)
	}
}

// scope holds the names of one graph and where they are defined.
type scope struct {
	p     *parser
	outer *scope
	names map[string]int
}

func (s *scope) graph(g *graphAST) {
	s.names = map[string]int{}
	inputs := map[string]bool{}
	for _, vi := range g.inputs {
		s.define(vi.pos, vi.name)
		inputs[vi.name] = true
	}
	given := func(t *tensorAST) {
		if !inputs[t.name] { // else it is the default of an input
			s.define(t.pos, t.name)
		}
		inputs[t.name] = false
	}
	for _, t := range g.inits {
		given(t)
	}
	for _, t := range g.sparse {
		given(t.values)
	}
	s.body(g)
	s.outputs(g.outputs)
}

func (s *scope) body(g *graphAST) {
	for _, n := range g.nodes {
		for _, id := range n.outputs {
			s.define(id.pos, id.name)
		}
	}
	for _, n := range g.nodes {
		for _, id := range n.inputs {
			s.use(id.pos, id.name, "input ")
		}
		for _, a := range n.attrs {
			for _, sub := range a.graphs {
				(&scope{p: s.p, outer: s}).graph(sub)
			}
		}
	}
}

func (s *scope) outputs(list []infoAST) {
	for _, vi := range list {
		s.use(vi.pos, vi.name, "output ")
	}
}

func (s *scope) define(pos int, name string) {
	if name == "" {
		return
	}
	if old, ok := s.names[name]; ok && s.p.err == nil {
		line, _ := s.p.place(old)
		s.p.fail(pos, "value %q is defined twice, first in line %d", name, line)
	}
	s.names[name] = pos
}

func (s *scope) use(pos int, name, what string) {
	if name == "" {
		return
	}
	for o := s; o != nil; o = o.outer {
		if _, ok := o.names[name]; ok {
			return
		}
	}
	s.p.fail(pos, "nothing defines the %s%q", what, name)
}
