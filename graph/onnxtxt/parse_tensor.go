package onnxtxt

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// tensor reads the elements behind the type and name of a tensor: {…} or the entries of external
// data in brackets.
func (p *parser) tensor(vi infoAST) *tensorAST {
	t := &tensorAST{pos: vi.pos, name: vi.name, elem: vi.typ.elem}
	if vi.typ.kind != graph.KindTensor {
		p.fail(vi.pos, "only tensors have elements in the text, not values of another type")
		return t
	}
	n := p.dims(t, vi)
	if p.peek() == '[' {
		t.external = p.entries(nil)
		return t
	}
	p.match('{', "before the elements of a tensor")
	p.elements(t, n)
	return t
}

// dims takes the dimensions of a tensor from its type and returns the number of elements.
func (p *parser) dims(t *tensorAST, vi infoAST) int64 {
	if !vi.typ.ranked {
		p.fail(vi.pos, "a tensor with elements needs its shape: %s[] is of unknown rank", vi.typ.elem)
	}
	n := int64(1)
	for _, d := range vi.typ.shape {
		if !d.known || d.n < 0 {
			p.fail(vi.pos, "the dimensions of a tensor with elements are numbers, 0 or more")
			return 0
		}
		t.dims = append(t.dims, d.n)
		if n *= d.n; d.n > math.MaxInt32 || n > math.MaxInt32 {
			p.fail(vi.pos, "a tensor of that many elements does not fit into a text")
			return 0
		}
	}
	return n
}

// elements reads the numbers and checks that the shape holds as many.
func (p *parser) elements(t *tensorAST, n int64) {
	start := p.pos
	var count int64
	var small []int64 // of types below 8 bits
	p.list('}', "after an element", func() {
		count++
		switch {
		case t.elem == graph.String:
			t.strings = append(t.strings, p.str("a string"))
		case t.elem.Bits() < 8:
			small = append(small, p.bounded(t.elem, -128, 255))
		default:
			p.element(t)
		}
	})
	if p.err != nil {
		return
	}
	if t.elem == graph.Complex64 || t.elem == graph.Complex128 {
		n *= 2
	}
	if small != nil || t.elem.Bits() < 8 && t.elem != graph.String {
		p.pack(t, start, small, n)
		return
	}
	if count != n {
		p.fail(start, "the shape holds %d elements, the list has %d", n, count)
	}
}

// element reads one element and appends its bytes.
func (p *parser) element(t *tensorAST) {
	switch t.elem {
	case graph.Float, graph.Complex64:
		t.raw = binary.LittleEndian.AppendUint32(t.raw, float32Bits(p.toFloat(p.number("a number"), 32)))
	case graph.Double, graph.Complex128:
		t.raw = binary.LittleEndian.AppendUint64(t.raw, float64Bits(p.toFloat(p.number("a number"), 64)))
	case graph.Uint64:
		t.raw = binary.LittleEndian.AppendUint64(t.raw, p.toUint(p.number("an integer"), "an integer from 0 up"))
	default:
		lo, hi := limits(t.elem)
		v := p.bounded(t.elem, lo, hi)
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(v))
		t.raw = append(t.raw, b[:t.elem.Bits()/8]...)
	}
}

// limits returns the least and the greatest integer that stands for an element.
func limits(e graph.ElemType) (lo, hi int64) {
	bits := e.Bits()
	switch e {
	case graph.Bool:
		return 0, 1
	case graph.Int64:
		return math.MinInt64, math.MaxInt64
	case graph.Int8, graph.Int16, graph.Int32:
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	return 0, 1<<bits - 1
}

func (p *parser) bounded(e graph.ElemType, lo, hi int64) int64 {
	n := p.number("an integer")
	if n.float && e.IsFloat() && p.err == nil {
		p.fail(n.pos, "elements of %s are integer bit patterns, not numbers such as %s%s", e, n.text, pattern(e, n.text))
		return 0
	}
	v := p.toInt(n, "an integer")
	if p.err == nil && (v < lo || v > hi) {
		p.fail(n.pos, "%d is no element of %s: they go from %d to %d", v, e, lo, hi)
	}
	return v
}

// pack stores elements below 8 bits. The reference takes the numbers for packed bytes; as many
// numbers as elements are taken for what they say.
func (p *parser) pack(t *tensorAST, start int, list []int64, n int64) {
	bits := int64(t.elem.Bits())
	per := 8 / bits
	t.raw = make([]byte, (n+per-1)/per)
	switch int64(len(list)) {
	case int64(len(t.raw)):
		for i, v := range list {
			t.raw[i] = byte(v)
		}
	case n:
		for i, v := range list {
			if v < -1<<(bits-1) || v >= 1<<bits {
				p.fail(start, "%d is no element of %s", v, t.elem)
			}
			t.raw[int64(i)/per] |= byte(v&(1<<bits-1)) << (int64(i) % per * bits)
		}
	default:
		p.fail(start, "the shape holds %d elements in %d bytes, the list has %d numbers", n, len(t.raw), len(list))
	}
}

// sparse reads the values and the indices behind the type of a sparse tensor.
func (p *parser) sparse(vi infoAST) *sparseAST {
	var dims tensorAST
	p.dims(&dims, vi)
	s := &sparseAST{dims: dims.dims}
	s.values = p.part("the values of a sparse tensor, as in float[2] {1, 2}")
	s.values.name = vi.name
	s.indices = p.part("the indices of a sparse tensor, as in int64[2] {0, 4}")
	if p.err == nil && (s.values.elem != vi.typ.elem || s.indices.elem != graph.Int64) {
		p.fail(vi.pos, "the values of this sparse tensor are of type %s and its indices of int64", vi.typ.elem)
	}
	return s
}

func (p *parser) part(what string) *tensorAST {
	if !p.nextIsType() {
		p.expected(what)
	}
	p.skip()
	return p.tensor(infoAST{pos: p.pos, typ: p.typ(), typed: true})
}

// pattern tells, for an error, which bit pattern a number has in a small float format.
func pattern(e graph.ElemType, text string) string {
	f, err := numfmt.Parse(e.String())
	x, bad := strconv.ParseFloat(text, 64)
	if err != nil || bad != nil {
		return ""
	}
	return fmt.Sprintf(", whose pattern is %d", f.Encode(x))
}
