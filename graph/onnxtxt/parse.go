package onnxtxt

import (
	"fmt"

	"github.com/amplint/amplint/graph"
)

// Parse reads a text model. The name stands for the text in errors, which are "name:line:col:" and
// a message.
func Parse(name string, src []byte) (*graph.Model, error) {
	m, _, err := ParseSource(name, src)
	return m, err
}

// ParseSource reads a text model as [Parse] does and also returns where its nodes stand.
func ParseSource(name string, src []byte) (*graph.Model, *Source, error) {
	return parseIn(name, src, "")
}

// Encode translates a text model to the bytes of a ModelProto.
func Encode(name string, src []byte) ([]byte, error) {
	ast, err := parseText(text{name, string(src)})
	if err != nil {
		return nil, err
	}
	return ast.encode(), nil
}

func parseIn(name string, src []byte, dir string) (*graph.Model, *Source, error) {
	t := text{name, string(src)}
	ast, err := parseText(t)
	if err != nil {
		return nil, nil, err
	}
	m, err := graph.Decode(ast.encode(), dir)
	if err != nil { // cycles and the like, which are a matter of the whole graph
		return nil, nil, t.errorf(ast.graph.pos, "%s", err)
	}
	return m, newSource(t, ast, m), nil
}

func parseText(t text) (*modelAST, error) {
	p := &parser{text: t}
	m := p.model()
	if p.err == nil {
		resolve(p, m)
	}
	if p.err != nil {
		return nil, p.err
	}
	return m, nil
}

func (p *parser) model() *modelAST {
	m := &modelAST{has: map[string]bool{}}
	if p.matches('<') {
		p.header(func(key string, pos int) { p.modelKey(m, key, pos) })
	}
	m.graph = p.graph()
	for p.err == nil && p.peek() != 0 {
		m.functions = append(m.functions, p.function())
	}
	if p.err == nil && p.pos < len(p.src) { // a zero byte reads as the end
		p.expected("a function or the end of the text")
	}
	return m
}

// header reads "key: value, …>"; value reads what belongs to a key.
func (p *parser) header(value func(key string, pos int)) {
	if p.peek() == '>' {
		p.expected("a key such as ir_version or opset_import")
	}
	p.list('>', "after an entry of the header", func() {
		p.skip()
		pos := p.pos
		key := p.ident("a key such as ir_version or opset_import")
		p.match(':', "after "+key)
		value(key, pos)
	})
}

func (p *parser) modelKey(m *modelAST, key string, pos int) {
	m.has[key] = true
	switch key {
	case "ir_version":
		m.irVersion = p.int64("the IR version, an integer")
	case "model_version":
		m.version = p.int64("the model version, an integer")
	case "opset_import":
		m.opsets = p.opsets(m.opsets)
	case "producer_name":
		m.producer = p.str("the producer's name in quotes")
	case "producer_version":
		m.producerVer = p.str("the producer's version in quotes")
	case "domain":
		m.domain = p.str("the domain in quotes")
	case "doc_string":
		m.doc = p.str("the description in quotes")
	case "metadata_props":
		m.meta = p.entries(m.meta)
	default:
		p.fail(pos, "a model has no %s: its keys are ir_version, opset_import, producer_name, producer_version, domain, model_version, doc_string and metadata_props", key)
	}
}

func (p *parser) opsets(list []graph.Opset) []graph.Opset {
	p.match('[', `before the opsets, as in ["" : 17]`)
	p.list(']', "after an opset", func() {
		domain := p.str("a domain in quotes")
		p.match(':', fmt.Sprintf("between the domain %q and its version", domain))
		list = append(list, graph.Opset{Domain: domain, Version: p.int64("an opset version")})
	})
	return list
}

// entries reads ["key" : "value", …], as metadata and external data are written.
func (p *parser) entries(list []graph.Entry) []graph.Entry {
	p.match('[', `before the entries, as in ["key" : "value"]`)
	p.list(']', "after an entry", func() {
		key := p.str("a key in quotes")
		p.match(':', fmt.Sprintf("between the key %q and its value", key))
		list = append(list, graph.Entry{Key: key, Value: p.str("a value in quotes")})
	})
	return list
}

func (p *parser) function() *functionAST {
	f := &functionAST{}
	if p.matches('<') {
		p.header(func(key string, pos int) { p.functionKey(f, key, pos) })
	}
	p.skip()
	f.pos = p.pos
	f.name = p.id("the name of a function")
	if p.matches('<') {
		p.functionAttrs(f)
	}
	f.body = &graphAST{pos: f.pos, name: f.name}
	f.inputs = p.infos("of function " + f.name)
	p.arrow("between the inputs and the outputs of function " + f.name)
	f.outputs = p.infos("of function " + f.name)
	for _, list := range [][]infoAST{f.inputs, f.outputs} {
		for _, vi := range list {
			if vi.typed { // the format keeps names and types apart
				f.body.infos = append(f.body.infos, vi)
			}
		}
	}
	if p.matches('<') {
		p.list('>', "after a type declaration", func() { f.body.infos = append(f.body.infos, p.info()) })
	}
	f.body.nodes = p.nodes()
	return f
}

func (p *parser) functionKey(f *functionAST, key string, pos int) {
	switch key {
	case "opset_import":
		f.opsets = p.opsets(f.opsets)
	case "domain":
		f.domain = p.str("the domain in quotes")
	case "overload":
		f.overload = p.str("the overload's name in quotes")
	case "doc_string":
		f.doc = p.str("the description in quotes")
	default:
		p.fail(pos, "a function has no %s: its keys are domain, opset_import, overload and doc_string", key)
	}
}

// functionAttrs reads the attribute parameters, with or without a default.
func (p *parser) functionAttrs(f *functionAST) {
	if p.peek() == '>' {
		p.expected("an attribute parameter")
	}
	p.list('>', "after an attribute parameter of function "+f.name, func() {
		p.skip()
		pos := p.pos
		name := p.id("an attribute parameter")
		if c := p.peek(); c == ':' || c == '=' {
			f.defaults = append(f.defaults, p.attrOf(name, pos))
			return
		}
		f.attrs = append(f.attrs, name)
	})
}
