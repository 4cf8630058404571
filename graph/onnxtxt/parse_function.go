package onnxtxt

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
