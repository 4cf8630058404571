package onnxtxt

import (
	"strconv"
	"strings"

	"github.com/amplint/amplint/graph"
)

// quote writes a string; only the quote and the backslash are escaped.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func ident(s string) string {
	if isIdent(s) {
		return s
	}
	return quote(s)
}

// name writes the name of a value or a node. Where a type may stand as well, a name such as
// "float" would be taken for one.
func name(s string) string {
	if isTypeWord(s) {
		return quote(s)
	}
	return ident(s)
}

// graphID also quotes what as a value of an attribute would be a number.
func graphID(s string) string {
	if isSpecial(s) {
		return quote(s)
	}
	return name(s)
}

func valueName(v *graph.Value) string {
	if v == nil {
		return `""`
	}
	return name(v.Name)
}

func operator(n *graph.Node) string {
	s := ident(n.Op)
	switch {
	case n.Domain == "":
	case isDotted(n.Domain):
		s = n.Domain + "." + s
	default:
		s = quote(n.Domain) + "." + s
	}
	if n.Overload != "" {
		s += ":" + ident(n.Overload)
	}
	return s
}

func isDotted(domain string) bool {
	for _, part := range strings.Split(domain, ".") {
		if !isIdent(part) {
			return false
		}
	}
	return true
}

// typeText writes a type; ok is false where a part of it is not known and nothing can be written.
func typeText(t graph.Type) (s string, ok bool) {
	switch t.Kind {
	case graph.KindTensor, graph.KindSparse:
		if _, ok := graph.ParseElem(t.Elem.String()); !ok {
			return "", false
		}
		s = t.Elem.String() + shapeText(t.Shape)
		if t.Kind == graph.KindSparse {
			s = "sparse_tensor(" + s + ")"
		}
		return s, true
	case graph.KindOpaque:
		return "opaque()", true
	}
	if t.Of == nil {
		return "", false
	}
	of, ok := typeText(*t.Of)
	switch t.Kind {
	case graph.KindSequence:
		return "seq(" + of + ")", ok
	case graph.KindOptional:
		return "optional(" + of + ")", ok
	case graph.KindMap:
		return "map(" + t.Elem.String() + ", " + of + ")", ok
	}
	return "", false
}

func shapeText(s graph.Shape) string {
	if s == nil {
		return "[]"
	}
	if len(s) == 0 {
		return ""
	}
	dims := make([]string, len(s))
	for i, d := range s {
		switch {
		case d.Sym != "":
			dims[i] = ident(d.Sym)
		case d.N >= 0:
			dims[i] = strconv.FormatInt(d.N, 10)
		default:
			dims[i] = "?"
		}
	}
	return "[" + strings.Join(dims, ",") + "]"
}
