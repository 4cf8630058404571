package config

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/amplint/amplint/rangeprop"
)

// Range is a range that the user gives for an input, or for an initializer that may move.
type Range struct {
	Name  string
	Range rangeprop.Range
}

// Dim is what the user gives for a symbolic dimension: the numbers it may be.
type Dim struct {
	Name   string
	Lo, Hi int64
}

// ParseRange reads NAME=LO,HI. Names may hold an equals sign, numbers cannot.
func ParseRange(s string) (Range, error) {
	i := strings.LastIndexByte(s, '=')
	if i < 1 {
		return Range{}, fmt.Errorf("range %q is not NAME=LO,HI", s)
	}
	r, err := parseBounds(s[i+1:])
	if err != nil {
		return Range{}, fmt.Errorf("range of %q: %w", s[:i], err)
	}
	return Range{s[:i], r}, nil
}

// parseBounds reads "LO,HI", with or without brackets as in "[-8, 8]".
func parseBounds(s string) (rangeprop.Range, error) {
	inner := strings.TrimSpace(s)
	if strings.HasPrefix(inner, "[") && strings.HasSuffix(inner, "]") {
		inner = inner[1 : len(inner)-1]
	}
	lo, hi, ok := strings.Cut(inner, ",")
	if !ok {
		return rangeprop.Range{}, fmt.Errorf("%q is not LO,HI", s)
	}
	var r rangeprop.Range
	var err error
	if r.Lo, err = parseBound(lo); err == nil {
		r.Hi, err = parseBound(hi)
	}
	if err != nil {
		return r, err
	}
	return r, checkBounds(r)
}

// parseBound reads a number or an infinity, in quotes or not (JSON has no infinities).
func parseBound(s string) (float64, error) {
	t := strings.Trim(strings.TrimSpace(s), `"'`)
	switch strings.TrimLeft(strings.ToLower(t), "+-") {
	case "inf", "infinity", ".inf":
		if strings.HasPrefix(t, "-") {
			return math.Inf(-1), nil
		}
		return math.Inf(1), nil
	}
	x, err := strconv.ParseFloat(t, 64)
	if err != nil && !math.IsInf(x, 0) { // 1e999 is read as an infinity
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return x, nil
}

func checkBounds(r rangeprop.Range) error {
	if math.IsNaN(r.Lo) || math.IsNaN(r.Hi) {
		return fmt.Errorf("NaN is no bound")
	}
	if r.Lo > r.Hi {
		return fmt.Errorf("the lower bound %g is above the upper bound %g", r.Lo, r.Hi)
	}
	return nil
}

// ParseMeta reads the range that a model carries for an input in its metadata: bounds as on the
// command line, or a JSON object with lo and hi, or with min and max as onnxsim writes it. There a
// bound may be null, for none, or a nested list of the bounds of elements.
func ParseMeta(s string) (rangeprop.Range, error) {
	if !strings.HasPrefix(strings.TrimSpace(s), "{") {
		return parseBounds(s)
	}
	var o map[string]any
	if err := json.Unmarshal([]byte(s), &o); err != nil {
		return rangeprop.Range{}, err
	}
	for _, keys := range [][2]string{{"lo", "hi"}, {"min", "max"}} {
		lo, hasLo := o[keys[0]]
		hi, hasHi := o[keys[1]]
		if !hasLo || !hasHi {
			continue
		}
		var r rangeprop.Range
		var err error
		if r.Lo, err = extreme(lo, math.Inf(-1), math.Min); err == nil {
			r.Hi, err = extreme(hi, math.Inf(1), math.Max)
		}
		if err != nil {
			return r, err
		}
		return r, checkBounds(r)
	}
	return rangeprop.Range{}, fmt.Errorf("%q has neither lo and hi nor min and max", s)
}

// extreme returns the outermost of the bounds that a JSON value holds, none for null.
func extreme(v any, none float64, outer func(a, b float64) float64) (float64, error) {
	switch v := v.(type) {
	case nil:
		return none, nil
	case float64:
		return v, nil
	case string:
		return parseBound(v)
	case []any:
		if len(v) == 0 {
			return 0, fmt.Errorf("an empty list of bounds")
		}
		out := -none
		for _, e := range v {
			x, err := extreme(e, none, outer)
			if err != nil {
				return 0, err
			}
			out = outer(out, x)
		}
		return out, nil
	}
	return 0, fmt.Errorf("%v is not a number", v)
}

// ParseDim reads NAME=LO..HI or NAME=N.
func ParseDim(s string) (Dim, error) {
	i := strings.LastIndexByte(s, '=')
	if i < 1 {
		return Dim{}, fmt.Errorf("dimension %q is not NAME=LO..HI", s)
	}
	return parseDim(s[:i], s[i+1:])
}

func parseDim(name, s string) (Dim, error) {
	lo, hi, ok := strings.Cut(s, "..")
	if !ok {
		hi = lo
	}
	d := Dim{Name: name}
	var err error
	if d.Lo, err = strconv.ParseInt(strings.TrimSpace(lo), 10, 64); err == nil {
		d.Hi, err = strconv.ParseInt(strings.TrimSpace(hi), 10, 64)
	}
	if err != nil || d.Lo < 0 || d.Lo > d.Hi {
		return d, fmt.Errorf("dimension %q: %q is not LO..HI", name, s)
	}
	return d, nil
}
