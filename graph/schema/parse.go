package schema

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// fields is the number of tab-separated fields of a line.
const fields = 8

// parseOp reads one line of a schema file. The strings of the result are parts of the line.
func parseOp(line string) (*Op, error) {
	part := strings.Split(line, "\t")
	if len(part) != fields {
		return nil, fmt.Errorf("operator line has %d fields, not %d", len(part), fields)
	}
	since, err := strconv.ParseInt(part[2], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("version of %s: %w", part[1], err)
	}
	op := &Op{Domain: part[0], Name: part[1], Since: since,
		Deprecated: strings.Contains(part[3], "d"), Function: strings.Contains(part[3], "f")}
	if err := op.parseLists(part[4], part[5], part[6], part[7]); err != nil {
		return nil, fmt.Errorf("%s %s: %w", op.Name, part[2], err)
	}
	return op, nil
}

// parseLists reads the four lists; parameters refer to constraints, which therefore come first.
func (o *Op) parseLists(inputs, outputs, constraints, attrs string) (err error) {
	param := func(text string) (Param, error) { return parseParam(o, text) }
	if o.Constraints, err = list(constraints, parseConstraint); err != nil {
		return err
	}
	if o.Inputs, err = list(inputs, param); err != nil {
		return err
	}
	if o.Outputs, err = list(outputs, param); err != nil {
		return err
	}
	o.Attrs, err = list(attrs, parseAttr)
	return err
}

// list reads the items of one field.
func list[T any](text string, item func(string) (T, error)) ([]T, error) {
	if text == "" {
		return nil, nil
	}
	out := make([]T, 0, strings.Count(text, " ")+1)
	for word := range strings.SplitSeq(text, " ") {
		value, err := item(word)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", word, err)
		}
		out = append(out, value)
	}
	return out, nil
}

func parseConstraint(text string) (Constraint, error) {
	name, set, _ := strings.Cut(text, "=")
	types, err := parseTypes(set)
	return Constraint{name, types}, err
}

// parseTypes reads groups such as f,h;seq:f.
func parseTypes(set string) ([]Type, error) {
	types := make([]Type, 0, strings.Count(set, ",")+strings.Count(set, ";")+1)
	for group := range strings.SplitSeq(set, ";") {
		kind, codes, named := strings.Cut(group, ":")
		if !named {
			kind, codes = "", group
		}
		t, err := parseKind(kind)
		if err != nil {
			return nil, err
		}
		for code := range strings.SplitSeq(codes, ",") {
			if t.Elem = elemOf(code); t.Elem == 0 {
				return nil, fmt.Errorf("unknown element %q", code)
			}
			types = append(types, t)
		}
	}
	return types, nil
}

// parseKind returns a type that lacks its element.
func parseKind(code string) (Type, error) {
	name, key, _ := strings.Cut(code, ".")
	kinds := [...]string{Tensor: "", Sequence: "seq", OptionalTensor: "opt", OptionalSequence: "optseq",
		SparseTensor: "sparse", Map: "map", SequenceOfMaps: "seqmap"}
	for kind := Tensor; int(kind) < len(kinds); kind++ {
		if kinds[kind] != name {
			continue
		}
		keyed := kind == Map || kind == SequenceOfMaps
		t := Type{Kind: kind, Key: elemOf(key)}
		if keyed != (t.Key != 0) {
			break
		}
		return t, nil
	}
	return Type{}, fmt.Errorf("unknown kind %q", code)
}

// parseParam reads name:type and the mark of how often it occurs. The constraints of op are read already.
func parseParam(op *Op, text string) (Param, error) {
	name, rest, _ := strings.Cut(text, ":")
	p := Param{Name: name, MinArity: 1}
	rest, err := p.occurs(rest)
	if err != nil {
		return p, err
	}
	if set, concrete := strings.CutPrefix(rest, "="); concrete {
		if p.Types, err = parseTypes(set); err == nil {
			p.Type = p.Types[0].String()
		}
		return p, err
	}
	p.Type, p.Types = rest, op.Constraint(rest)
	if p.Types == nil {
		return p, fmt.Errorf("unknown type variable %q", rest)
	}
	return p, nil
}

// occurs takes the mark off the end of text and returns what stands before it.
func (p *Param) occurs(text string) (string, error) {
	if rest, ok := strings.CutSuffix(text, "?"); ok {
		p.Option, p.MinArity = Optional, 0
		return rest, nil
	}
	mark := strings.IndexAny(text, "*~")
	if mark < 0 {
		return text, nil
	}
	p.Option, p.Heterogeneous = Variadic, text[mark] == '~'
	var err error
	p.MinArity, err = strconv.Atoi(text[mark+1:])
	return text[:mark], err
}

func parseAttr(text string) (Attr, error) {
	name, rest, _ := strings.Cut(text, ":")
	if rest == "" {
		return Attr{}, fmt.Errorf("attribute without a type")
	}
	number := strings.IndexByte(attrCodes, rest[0])
	if number <= 0 {
		return Attr{}, fmt.Errorf("unknown attribute type %q", rest[:1])
	}
	a := Attr{Name: name, Type: AttrType(number), Required: rest[1:] == "!"}
	value, given := strings.CutPrefix(rest[1:], "=")
	if !given {
		return a, nil
	}
	a.HasDefault = true
	return a, a.Default.parse(a.Type, value)
}

// parse reads a default; only numbers and strings have any.
func (v *Value) parse(t AttrType, text string) (err error) {
	switch t {
	case AttrInt:
		v.Int, err = parseInt(text)
	case AttrFloat:
		v.Float, err = parseFloat(text)
	case AttrString:
		v.Str, err = url.PathUnescape(text)
	case AttrInts:
		v.Ints, err = values(text, parseInt)
	case AttrFloats:
		v.Floats, err = values(text, parseFloat)
	case AttrStrings:
		v.Strings, err = values(text, url.PathUnescape)
	default:
		err = fmt.Errorf("an attribute of type %d has no default", t)
	}
	return err
}

func parseInt(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }

func parseFloat(text string) (float32, error) {
	value, err := strconv.ParseFloat(text, 32)
	return float32(value), err
}

// values reads the items of a list's default.
func values[T any](text string, item func(string) (T, error)) ([]T, error) {
	return list(strings.ReplaceAll(text, ",", " "), item)
}
