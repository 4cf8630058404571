package onnxtxt

import "github.com/amplint/amplint/graph"

func (p *parser) graph() *graphAST {
	p.skip()
	g := &graphAST{pos: p.pos}
	if !p.enter() {
		return g
	}
	defer p.leave()
	g.name = p.id("the name of a graph")
	p.inputs(g)
	p.arrow("between the inputs and the outputs of graph " + g.name)
	g.outputs = p.infos("of graph " + g.name)
	if p.matches('<') {
		p.list('>', "after an initializer or a type declaration", func() { p.declaration(g) })
	}
	g.nodes = p.nodes()
	return g
}

// inputs reads the inputs, each of which may have a default. Branches may leave out the list.
func (p *parser) inputs(g *graphAST) {
	if !p.matches('(') {
		return
	}
	p.list(')', "after an input of graph "+g.name, func() {
		vi := p.info()
		g.inputs = append(g.inputs, vi)
		if p.matches('=') {
			p.initializer(g, vi)
		}
	})
}

// declaration reads an initializer, which has a value, or else an entry of value_info.
func (p *parser) declaration(g *graphAST) {
	vi := p.info()
	if p.matches('=') {
		p.initializer(g, vi)
		return
	}
	g.infos = append(g.infos, vi)
}

func (p *parser) initializer(g *graphAST, vi infoAST) {
	if !vi.typed {
		p.fail(vi.pos, "an initializer needs its type: write it before the name, as in float[2] %s = {1, 2}", vi.name)
		return
	}
	if vi.typ.kind == graph.KindSparse {
		g.sparse = append(g.sparse, p.sparse(vi))
		return
	}
	g.inits = append(g.inits, p.tensor(vi))
}

func (p *parser) infos(where string) (list []infoAST) {
	p.match('(', "before the inputs or outputs "+where)
	p.list(')', "after an input or output "+where, func() { list = append(list, p.info()) })
	return list
}

// info reads "type name" or "name".
func (p *parser) info() (vi infoAST) {
	if p.nextIsType() {
		vi.typ, vi.typed = p.typ(), true
	}
	p.skip()
	vi.pos = p.pos
	what := "a type or a name"
	if vi.typed {
		what = "a name after the type"
	}
	vi.name = p.id(what)
	return vi
}

func (p *parser) nodes() (list []*nodeAST) {
	p.match('{', "before the nodes")
	for p.err == nil && !p.matches('}') {
		list = append(list, p.node())
	}
	return list
}

// node reads "[name] outputs = domain.Op:overload <attributes> (inputs)".
func (p *parser) node() *nodeAST {
	n := &nodeAST{}
	p.skip()
	start := p.pos
	if p.matches('[') {
		n.named = true
		if p.peek() != ']' {
			n.name = p.id("the name of a node")
		}
		p.match(']', "after the name of a node")
		p.skip()
	}
	n.pos = start
	n.outputs = p.ids()
	if p.peek() != '=' && len(n.outputs) == 0 {
		p.expected("the outputs of a node or '}'")
	}
	p.match('=', "after the outputs of a node")
	p.operator(n)
	n.attrs = p.attrs()
	p.match('(', "before the inputs of "+n.op)
	n.inputs = p.ids()
	p.match(')', "after the inputs of "+n.op)
	p.attrsBehind(n)
	return n
}

func (p *parser) attrsBehind(n *nodeAST) {
	if p.peek() != '<' {
		return
	}
	if len(n.attrs) > 0 {
		p.fail(p.pos, "the attributes of %s stand before its inputs already", n.op)
		return
	}
	n.attrs = p.attrs()
}

// operator reads the domain, whose parts are joined by dots, the operator and the overload.
func (p *parser) operator(n *nodeAST) {
	n.op = p.id("an operator")
	for p.matches('.') {
		if n.domain != "" {
			n.domain += "."
		}
		n.domain += n.op
		n.op = p.id("an operator after the domain " + n.domain)
	}
	if p.matches(':') {
		n.overload = p.id("the overload of " + n.op)
	}
}

// ids reads the inputs or outputs of a node. Left-out ones are "" or nothing before a comma; a
// comma at the end adds none.
func (p *parser) ids() (list []idAST) {
	for p.err == nil {
		c := p.peek()
		id := idAST{pos: p.pos}
		switch {
		case c == '"':
			id.name = p.str("a name")
		case p.peekIdent() != "":
			id.name = p.ident("a name")
		case c != ',':
			return list
		}
		list = append(list, id)
		if !p.matches(',') {
			return list
		}
	}
	return list
}
