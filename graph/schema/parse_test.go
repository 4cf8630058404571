package schema

import (
	"slices"
	"strings"
	"testing"
)

func TestParseTypes(t *testing.T) {
	for set, want := range map[string]string{
		"f":                 "tensor(float)",
		"h,b;seq:d":         "tensor(float16) tensor(bfloat16) seq(tensor(double))",
		"opt:i4;optseq:u2":  "optional(tensor(int4)) optional(seq(tensor(uint2)))",
		"sparse:e4m3fn":     "sparse_tensor(float8e4m3fn)",
		"map.i64:f":         "map(int64, float)",
		"seqmap.str:f,bool": "seq(map(string, float)) seq(map(string, bool))",
	} {
		types, err := parseTypes(set)
		var names []string
		for _, typ := range types {
			names = append(names, typ.String())
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%s: %s, %v", set, got, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	good := "\tOp\t001\t\tX:T\tY:=f*2\tT=f,h\taxis:i=1"
	if _, err := parseOp(good); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct{ line, want string }{
		{"", "fields"},
		{good + "\t", "fields"},
		{strings.Replace(good, "001", "x", 1), "version of Op"},
		{strings.Replace(good, "X:T", "X:U", 1), `unknown type variable "U"`},
		{strings.Replace(good, "X:T", "X", 1), "unknown type variable"},
		{strings.Replace(good, "f*2", "f*", 1), "invalid syntax"},
		{strings.Replace(good, "=f*2", "=q", 1), `unknown element "q"`},
		{strings.Replace(good, "=f*2", "=", 1), "unknown element"},
		{strings.Replace(good, "T=f,h", "T=seq.i64:f", 1), `unknown kind "seq.i64"`},
		{strings.Replace(good, "T=f,h", "T=map:f", 1), `unknown kind "map"`},
		{strings.Replace(good, "axis:i", "axis", 1), "without a type"},
		{strings.Replace(good, "axis:i", "axis:?", 1), "unknown attribute type"},
		{strings.Replace(good, "axis:i=1", "axis:i=one", 1), "invalid syntax"},
		{strings.Replace(good, "axis:i=1", "axis:t=1", 1), "no default"},
	} {
		if _, err := parseOp(bad.line); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%q: error %v, want %q", bad.line, err, bad.want)
		}
	}
}

func TestParseDefaults(t *testing.T) {
	a, err := parseAttr("text:S=a%20b,%2C")
	if err != nil || !slices.Equal(a.Default.Strings, []string{"a b", ","}) {
		t.Errorf("strings: %+v, %v", a, err)
	}
	if a, err = parseAttr("text:s="); err != nil || !a.HasDefault || a.Default.Str != "" {
		t.Errorf("empty string: %+v, %v", a, err)
	}
	if a, err = parseAttr("values:F=0.5,-1e-05"); err != nil || !slices.Equal(a.Default.Floats, []float32{0.5, -1e-5}) {
		t.Errorf("floats: %+v, %v", a, err)
	}
	if a, err = parseAttr("axis:i"); err != nil || a.HasDefault || a.Required {
		t.Errorf("no default: %+v, %v", a, err)
	}
}

func TestElemNames(t *testing.T) {
	for elem, want := range map[int32]string{1: "float", 10: "float16", 16: "bfloat16", 23: "float4e2m1",
		26: "int2", 28: "float6e3m2", 0: "undefined", -1: "undefined", 99: "undefined"} {
		if got := ElemName(elem); got != want {
			t.Errorf("element %d is %s, want %s", elem, got, want)
		}
	}
	if got := (Type{}).String(); got != "undefined" {
		t.Errorf("the zero type is %s", got)
	}
}
