package onnxtxt

import "github.com/amplint/amplint/graph"

// value reads one value and adds it to the attribute. want is the type it must have, 0 for any.
func (p *parser) value(a *attrAST, want graph.AttrType) {
	p.skip()
	pos := p.pos
	p.anyValue(a, want)
	if p.err != nil || want == 0 || a.typ == want || a.ref != "" {
		return
	}
	p.fail(pos, "attribute %q takes a value of type %s, found one of type %s", a.name, attrNames[want], attrNames[a.typ])
}

func (p *parser) anyValue(a *attrAST, want graph.AttrType) {
	c := p.peek()
	switch word := p.peekIdent(); {
	case isTypeWord(word):
		p.typedValue(a)
	case isSpecial(word):
		p.numberValue(a, want)
	case word != "":
		a.typ = graph.AttrGraph
		a.graphs = append(a.graphs, p.graph())
	case c == '@':
		p.pos++
		a.ref = p.id("the name of an attribute of the function after @")
	case c == '"':
		p.quoted(a)
	case c == '-' || c == '.' || c == '+' || isDigit(c):
		p.numberValue(a, want)
	default:
		p.expected("a value: a number, a string, a tensor, a type, a graph or a reference such as @alpha")
	}
}

func (p *parser) numberValue(a *attrAST, want graph.AttrType) {
	n := p.number("a number")
	if n.float || want == graph.AttrFloat {
		a.typ = graph.AttrFloat
		a.f = append(a.f, float32From(p.toFloat(n, 32)))
		return
	}
	a.typ = graph.AttrInt
	a.i = append(a.i, p.toInt(n, "an integer"))
}

// quoted reads a string, or a graph whose name is quoted.
func (p *parser) quoted(a *attrAST) {
	start := p.pos
	s := p.str("a string")
	if c := p.peek(); c == '(' || c == '=' {
		p.pos = start
		a.typ = graph.AttrGraph
		a.graphs = append(a.graphs, p.graph())
		return
	}
	a.typ = graph.AttrString
	a.s = append(a.s, s)
}

// typedValue reads a tensor, which goes on behind its type, or a type.
func (p *parser) typedValue(a *attrAST) {
	p.skip()
	vi := infoAST{pos: p.pos, typ: p.typ(), typed: true}
	if c := p.peek(); c != '{' && c != '=' && c != '"' && p.peekIdent() == "" {
		a.typ = graph.AttrTypeProto
		a.types = append(a.types, vi.typ)
		return
	}
	if p.peek() == '"' || p.peekIdent() != "" {
		vi.name = p.id("the name of a tensor")
	}
	p.matches('=')
	if vi.typ.kind == graph.KindSparse {
		a.typ = graph.AttrSparseTensor
		a.sparse = append(a.sparse, p.sparse(vi))
		return
	}
	a.typ = graph.AttrTensor
	a.tensors = append(a.tensors, p.tensor(vi))
}
