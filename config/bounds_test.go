package config

import (
	"math"
	"strings"
	"testing"

	"github.com/amplint/amplint/rangeprop"
)

var inf = math.Inf(1)

func TestParseRange(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Range
		err  string
	}{
		{"x=-8,8", Range{"x", rangeprop.Range{Lo: -8, Hi: 8}}, ""},
		{"a=b=0,1e-5", Range{"a=b", rangeprop.Range{Lo: 0, Hi: 1e-5}}, ""},
		{"x=-inf,+Inf", Range{"x", rangeprop.Range{Lo: -inf, Hi: inf}}, ""},
		{"x= [ -1 , 2 ] ", Range{"x", rangeprop.Range{Lo: -1, Hi: 2}}, ""},
		{"x=-1e999,0", Range{"x", rangeprop.Range{Lo: -inf, Hi: 0}}, ""},
		{"x", Range{}, "not NAME=LO,HI"},
		{"=0,1", Range{}, "not NAME=LO,HI"},
		{"x=1", Range{}, `range of "x": "1" is not LO,HI`},
		{"x=1,0", Range{}, "lower bound 1 is above the upper bound 0"},
		{"x=nan,1", Range{}, "NaN is no bound"},
		{"x=a,1", Range{}, `"a" is not a number`},
	} {
		got, err := ParseRange(c.in)
		if !failsWith(err, c.err) || err == nil && got != c.want {
			t.Errorf("%s: %v, %v", c.in, got, err)
		}
	}
}

// failsWith tells whether err is nil for an empty want, and mentions it else.
func failsWith(err error, want string) bool {
	if want == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), want)
}

func TestParseDim(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Dim
		err  string
	}{
		{"N=1..4096", Dim{"N", 1, 4096}, ""},
		{"a=b=8", Dim{"a=b", 8, 8}, ""},
		{"N=4..1", Dim{}, "not LO..HI"},
		{"N=-1..1", Dim{}, "not LO..HI"},
		{"N=x", Dim{}, "not LO..HI"},
		{"N", Dim{}, "not NAME=LO..HI"},
	} {
		got, err := ParseDim(c.in)
		if !failsWith(err, c.err) || err == nil && got != c.want {
			t.Errorf("%s: %v, %v", c.in, got, err)
		}
	}
}

func TestParseMeta(t *testing.T) {
	for in, want := range map[string]rangeprop.Range{
		"[-8,8]":                   {Lo: -8, Hi: 8},
		"-8, 8":                    {Lo: -8, Hi: 8},
		`["-inf", 3]`:              {Lo: -inf, Hi: 3},
		`{"lo": -1, "hi": 2.5}`:    {Lo: -1, Hi: 2.5},
		`{"min": 0, "max": "inf"}`: {Lo: 0, Hi: inf},
		`{"min": null, "max": 1}`:  {Lo: -inf, Hi: 1},
		`{"min": [[[0.5]], [[-1]]], "max": [[[2]], [[null]]]}`: {Lo: -1, Hi: inf},
	} {
		got, err := ParseMeta(in)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "{", `{"lo": 1}`, "[1,2,3]", `{"min": [], "max": 1}`, `{"min": true, "max": 1}`, `{"min": 2, "max": 1}`} {
		if got, err := ParseMeta(in); err == nil {
			t.Errorf("%q: no error, got %v", in, got)
		}
	}
}
