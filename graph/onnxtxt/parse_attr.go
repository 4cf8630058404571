package onnxtxt

import (
	"fmt"

	"github.com/amplint/amplint/graph"
)

// attrNames are the names of attribute types in the syntax, numbered as [graph.AttrType].
var attrNames = [...]string{"", "float", "int", "string", "tensor", "graph", "floats", "ints", "strings", "tensors",
	"graphs", "sparse_tensor", "sparse_tensors", "type_proto", "type_protos"}

// singles and lists of the attribute types, in the same order.
var (
	singles = [...]graph.AttrType{graph.AttrFloat, graph.AttrInt, graph.AttrString, graph.AttrTensor, graph.AttrGraph, graph.AttrSparseTensor, graph.AttrTypeProto}
	plurals = [...]graph.AttrType{graph.AttrFloats, graph.AttrInts, graph.AttrStrings, graph.AttrTensors, graph.AttrGraphs, graph.AttrSparseTensors, graph.AttrTypeProtos}
)

// single returns the type of the members of a list type, plural the reverse; both return 0 for
// types of the other sort.
func single(t graph.AttrType) graph.AttrType {
	for i, l := range plurals {
		if l == t {
			return singles[i]
		}
	}
	return graph.AttrUndefined
}

func plural(t graph.AttrType) graph.AttrType {
	for i, s := range singles {
		if s == t {
			return plurals[i]
		}
	}
	return graph.AttrUndefined
}

// attrs reads "<name = value, …>" where it stands.
func (p *parser) attrs() (list []*attrAST) {
	if !p.matches('<') {
		return nil
	}
	if p.peek() == '>' {
		p.expected("an attribute")
	}
	p.list('>', "after an attribute", func() {
		p.skip()
		pos := p.pos
		a := p.attrOf(p.id("the name of an attribute"), pos)
		for _, b := range list {
			if b.name == a.name {
				p.fail(pos, "attribute %q is given twice", a.name)
			}
		}
		list = append(list, a)
	})
	return list
}

// attrOf reads "[: type] = value" behind the name of an attribute.
func (p *parser) attrOf(name string, pos int) *attrAST {
	a := &attrAST{name: name, pos: pos}
	if p.matches(':') {
		a.typ = p.attrType(name)
	}
	p.match('=', fmt.Sprintf("between attribute %q and its value", name))
	if p.peek() == '[' {
		p.attrList(a)
		return a
	}
	p.value(a, a.typ)
	return a
}

func (p *parser) attrType(name string) graph.AttrType {
	p.skip()
	pos := p.pos
	word := p.ident(fmt.Sprintf("the type of attribute %q", name))
	for i, n := range attrNames {
		if i > 0 && n == word {
			return graph.AttrType(i)
		}
	}
	p.fail(pos, "%q is no type of an attribute: they are float, int, string, tensor, graph, type_proto, sparse_tensor, and these with an s for lists", word)
	return 0
}

// attrList reads a list. Its type comes from the annotation or from the first member; an integer
// among floats is a float.
func (p *parser) attrList(a *attrAST) {
	pos := p.pos
	p.pos++
	want := single(a.typ)
	if a.typ != 0 && want == 0 {
		p.fail(pos, "attribute %q is a single %s, not a list", a.name, attrNames[a.typ])
		return
	}
	if p.peek() == ']' && a.typ == 0 {
		p.fail(p.pos, "an empty list needs a type, as in %s: ints = []", a.name)
		return
	}
	if a.typ == 0 {
		want = p.listType()
	}
	member := &attrAST{name: a.name}
	p.list(']', "after a member of the list", func() {
		p.value(member, want)
		if want = member.typ; member.ref != "" {
			p.fail(pos, "a list cannot hold the reference @%s; refer to a whole list instead", member.ref)
		}
	})
	if a.typ == 0 {
		a.typ = plural(want)
	}
	a.f, a.i, a.s, a.tensors, a.graphs, a.sparse, a.types = member.f, member.i, member.s, member.tensors, member.graphs, member.sparse, member.types
}

// listType looks ahead: a list of numbers is one of floats if any of them is.
func (p *parser) listType() graph.AttrType {
	ahead := *p
	for ahead.err == nil {
		c := ahead.peek()
		if c != '-' && !isDigit(c) && !isSpecial(ahead.peekIdent()) {
			return graph.AttrUndefined
		}
		if ahead.number("a number").float {
			return graph.AttrFloat
		}
		if !ahead.matches(',') {
			return graph.AttrInt
		}
	}
	return graph.AttrUndefined // the error comes up again where it counts
}
