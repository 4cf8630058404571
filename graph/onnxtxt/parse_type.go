package onnxtxt

import "github.com/amplint/amplint/graph"

// containers are the words that begin a type other than a tensor's.
func container(word string) graph.Kind {
	switch word {
	case "seq":
		return graph.KindSequence
	case "map":
		return graph.KindMap
	case "optional":
		return graph.KindOptional
	case "sparse_tensor":
		return graph.KindSparse
	case "opaque":
		return graph.KindOpaque
	}
	return graph.KindUnknown
}

// isTypeWord tells whether a word begins a type; a value of such a name needs quotes.
func isTypeWord(word string) bool {
	_, ok := graph.ParseElem(word)
	return ok || container(word) != graph.KindUnknown
}

func (p *parser) nextIsType() bool { return isTypeWord(p.peekIdent()) }

func (p *parser) typ() (t typeAST) {
	if !p.enter() {
		return t
	}
	defer p.leave()
	p.skip()
	pos := p.pos
	word := p.ident("a type such as float[2, N] or seq(float)")
	if e, ok := graph.ParseElem(word); ok {
		t.kind, t.elem = graph.KindTensor, e
		p.shape(&t)
		return t
	}
	t.kind = container(word)
	if t.kind == graph.KindUnknown {
		p.fail(pos, "%q is no type: expected an element type such as float or float16, or seq, map, optional, sparse_tensor, opaque", word)
		return t
	}
	p.match('(', "after "+word)
	p.content(&t)
	p.match(')', "at the end of "+word)
	return t
}

// content reads what stands in the parentheses of a container.
func (p *parser) content(t *typeAST) {
	switch t.kind {
	case graph.KindSparse:
		t.elem = p.elem("the element type of a sparse tensor")
		p.shape(t)
	case graph.KindMap:
		t.elem = p.elem("the type of a map's keys")
		p.match(',', "after the type of a map's keys")
		of := p.typ()
		t.of = &of
	case graph.KindOpaque:
		p.opaque(t)
	default:
		of := p.typ()
		t.of = &of
	}
}

func (p *parser) elem(what string) graph.ElemType {
	p.skip()
	pos := p.pos
	word := p.ident(what)
	e, ok := graph.ParseElem(word)
	if !ok {
		p.fail(pos, "expected %s, found %q", what, word)
	}
	return e
}

// shape reads the dimensions. Without brackets the type is a scalar, with empty ones its rank is
// unknown.
func (p *parser) shape(t *typeAST) {
	if !p.matches('[') {
		t.ranked = true
		return
	}
	if p.matches(']') {
		return
	}
	t.ranked = true
	p.list(']', "after a dimension", func() { t.shape = append(t.shape, p.dim()) })
}

func (p *parser) dim() dimAST {
	if p.matches('?') {
		return dimAST{}
	}
	if p.peek() == '"' || p.peekIdent() != "" {
		return dimAST{sym: p.id("a dimension")}
	}
	return dimAST{n: p.int64("a dimension: a number, a symbol or ?"), known: true}
}

// opaque reads nothing, a name, or a domain and a name.
func (p *parser) opaque(t *typeAST) {
	if p.peek() == ')' {
		return
	}
	t.name = p.ident("the name of an opaque type")
	for p.matches('.') {
		t.name += "." + p.ident("the rest of a domain")
	}
	if p.matches(',') {
		t.domain, t.name = t.name, p.ident("the name of an opaque type")
	}
}
