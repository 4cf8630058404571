package onnxtxt

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/amplint/amplint/graph"
)

func (p *printer) failf(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// tensorValue writes a tensor as the value of an attribute. The equals sign, which initializers
// have anyway, tells external data from a type. The reference reads only identifiers as names here;
// another name, which means nothing to anyone, is not worth a text it refuses.
func (p *printer) tensorValue(t *graph.Tensor) {
	if t == nil {
		p.failf("a tensor attribute without a tensor cannot be written")
		return
	}
	as := t.Name
	if !isIdent(as) {
		as = ""
	}
	p.tensorHead(t, as)
	if p.isExternal(t) {
		p.s(" =")
	}
	p.s(" ")
	p.tensorData(t)
}

// tensorHead writes the type and the name.
func (p *printer) tensorHead(t *graph.Tensor, as string) {
	s, ok := typeText(t.Type())
	if !ok {
		p.failf("tensor %q of type %s cannot be written", t.Name, t.Elem)
	}
	p.s(s)
	if as != "" {
		p.s(" ", name(as))
	}
}

func (p *printer) isExternal(t *graph.Tensor) bool { return t.External != nil || p.elided(t) }

func (p *printer) elided(t *graph.Tensor) bool {
	return p.opt.MaxElements > 0 && t.Len() > p.opt.MaxElements
}

func (p *printer) tensorData(t *graph.Tensor) {
	switch {
	case t.External != nil:
		p.entries(t.External)
	case p.elided(t):
		p.entries(elision(t))
	case t.Elem == graph.String:
		s, err := t.Strings()
		p.fail(err)
		p.list(len(s), "{", ", ", "}", func(i int) { p.s(quote(s[i])) })
	default:
		p.elements(t)
	}
}

func (p *printer) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// elements streams the elements: a tensor need not fit in memory to be written.
func (p *printer) elements(t *graph.Tensor) {
	first := true
	size := elementSize(t.Elem)
	p.s("{")
	err := t.Raw(func(chunk []byte) error {
		for ; len(chunk) >= size; chunk = chunk[size:] {
			if !first {
				p.s(", ")
			}
			first = false
			p.s(elementText(t.Elem, chunk))
		}
		return nil
	})
	p.fail(err)
	p.s("}")
}

// elementSize returns the bytes of one number of the text: half a complex number, a whole byte of
// packed elements.
func elementSize(e graph.ElemType) int {
	switch e {
	case graph.Complex64, graph.Complex128:
		return e.Bits() / 16
	}
	return max(1, e.Bits()/8)
}

func elementText(e graph.ElemType, b []byte) string {
	switch e {
	case graph.Float, graph.Complex64:
		return numberText(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 32)
	case graph.Double, graph.Complex128:
		return numberText(math.Float64frombits(binary.LittleEndian.Uint64(b)), 64)
	case graph.Int8:
		return strconv.Itoa(int(int8(b[0])))
	case graph.Int16:
		return strconv.Itoa(int(int16(binary.LittleEndian.Uint16(b))))
	case graph.Int32:
		return strconv.Itoa(int(int32(binary.LittleEndian.Uint32(b))))
	case graph.Int64:
		return strconv.FormatInt(int64(binary.LittleEndian.Uint64(b)), 10)
	}
	switch elementSize(e) {
	case 2:
		return strconv.Itoa(int(binary.LittleEndian.Uint16(b)))
	case 4:
		return strconv.FormatUint(uint64(binary.LittleEndian.Uint32(b)), 10)
	case 8:
		return strconv.FormatUint(binary.LittleEndian.Uint64(b), 10)
	}
	return strconv.Itoa(int(b[0]))
}

// elision stands for the elements of a long tensor.
func elision(t *graph.Tensor) []graph.Entry {
	list := []graph.Entry{{Key: "location", Value: "elided"}}
	if lo, hi, ok := extremes(t); ok {
		list = append(list, graph.Entry{Key: "min", Value: numberText(lo, 32)}, graph.Entry{Key: "max", Value: numberText(hi, 32)})
	}
	return list
}

// extremes returns the least and the greatest number of a float tensor; NaN counts for neither.
func extremes(t *graph.Tensor) (lo, hi float64, ok bool) {
	if !t.Elem.IsFloat() {
		return 0, 0, false
	}
	lo, hi = math.Inf(1), math.Inf(-1)
	err := t.Floats(func(chunk []float32) error {
		for _, f := range chunk {
			if x := float64(f); x < lo {
				lo = x
			}
			if x := float64(f); x > hi {
				hi = x
			}
		}
		return nil
	})
	return lo, hi, err == nil && lo <= hi
}

func (p *printer) sparse(s *graph.SparseInit, as string) {
	t := graph.Type{Kind: graph.KindSparse, Elem: s.Values.Elem, Shape: graph.ShapeOf(s.Dims...)}
	head, ok := typeText(t)
	if !ok {
		p.failf("sparse tensor %q of type %s cannot be written", as, s.Values.Elem)
	}
	p.s(head)
	if as != "" {
		p.s(" ", name(as))
	}
	p.s(" =")
	for _, part := range []*graph.Tensor{s.Values, s.Indices} {
		p.s(" ")
		p.tensorHead(part, "")
		p.s(" ")
		p.tensorData(part)
	}
}
