package onnxtxt

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestErrorsTeachAndHaveAPlace(t *testing.T) {
	deep := strings.Repeat("seq(", 100)
	graphs := strings.Repeat("y = If(x) <b = g () => (y) {", 100)
	for _, c := range []struct{ src, want string }{
		{"", "1:1: expected the name of a graph, found the end of the text"},
		{"g (float x) -> (y) {}", `1:13: expected "=>" between the inputs and the outputs of graph g, found '-'`},
		{"// note\ng () => () {}", `1:1: expected the name of a graph, found "//" (a comment starts with #)`},
		{"<ir: 8> g () => () {}", "1:2: a model has no ir: its keys are ir_version"},
		{"<ir_version: \"8\"> g () => () {}", "1:14: expected the IR version, an integer, found a string"},
		{"<ir_version: 8.5> g () => () {}", "1:14: expected the IR version, an integer, found the float 8.5"},
		{"<ir_version = 8> g () => () {}", "1:13: expected ':' after ir_version, found '='"},
		{"<opset_import: [17]> g () => () {}", "1:17: expected a domain in quotes, found \"17\""},
		{"g (flaot[2] x) => () {}", "1:9: expected ',' or ')' after an input of graph g, found '['"},
		{"g (seq[2] x) => () {}", "1:7: expected '(' after seq, found '['"},
		{"g () => () <seq(int) x> {}", `1:17: "int" is no type: expected an element type`},
		{"g (float[2 x) => () {}", "1:12: expected ',' or ']' after a dimension, found \"x\""},
		{"g () => () <w = {1}> {}", "1:13: an initializer needs its type"},
		{"g () => () <float[] w = {1}> {}", "1:21: a tensor with elements needs its shape: float[] is of unknown rank"},
		{"g () => () <float[N] w = {1}> {}", "1:22: the dimensions of a tensor with elements are numbers"},
		{"g () => () <float[99999,99999] w = {1}> {}", "1:32: a tensor of that many elements"},
		{"g () => () <float[2] w = {1}> {}", "1:27: the shape holds 2 elements, the list has 1"},
		{"g () => () <float w = {}> {}", "1:24: the shape holds 1 elements, the list has 0"},
		{"g () => () <float w = {1 2}> {}", "1:26: expected ',' or '}' after an element, found \"2\""},
		{"g () => () <float w = {.5}> {}", "1:24: a number starts with a digit: write 0.5, not .5"},
		{"g () => () <float w = {+5}> {}", "1:24: a positive number has no sign"},
		{"g () => () <float w = {1e}> {}", "1:26: expected the digits of an exponent, found '}'"},
		{"g () => () <float w = {1e39}> {}", "1:24: 1e39 is out of the range of a 32-bit float"},
		{"g () => () <float16 w = {1.0}> {}", "1:26: elements of float16 are integer bit patterns, not numbers such as 1.0, whose pattern is 15360"},
		{"g () => () <int8 w = {1.0}> {}", "1:23: expected an integer, found the float 1.0"},
		{"g () => () <int8 w = {200}> {}", "1:23: 200 is no element of int8: they go from -128 to 127"},
		{"g () => () <uint64 w = {-1}> {}", "1:25: expected an integer from 0 up, found -1"},
		{"g () => () <int64 w = {9223372036854775808}> {}", "1:24: 9223372036854775808 does not fit in int64"},
		{"g () => () <int4[4] w = {1,2,3}> {}", "1:26: the shape holds 4 elements in 2 bytes, the list has 3 numbers"},
		{"g () => () <int4[4] w = ...> {}", `1:25: expected '{' before the elements of a tensor, found "..." (what`},
		{"g () => () <int4[4] w = {1,2,3,99}> {}", "1:26: 99 is no element of int4"},
		{"g () => () <seq(float) w = {1}> {}", "1:24: only tensors have elements in the text"},
		{"g () => () {\n y = \n}", "3:1: expected an operator, found '}'"},
		{"g () => () {\n y Relu(x)\n}", "2:4: expected '=' after the outputs of a node, found \"Relu\""},
		{"g () => () {\n ;\n}", "2:2: expected the outputs of a node or '}', found ';'"},
		{"g (x) => () { y = Relu<a>(x) }", "1:25: expected '=' between attribute \"a\" and its value, found '>'"},
		{"g (x) => () { y = Relu<a=>(x) }", "1:26: expected a value: a number"},
		{"g (x) => () { y = Relu<a=[]>(x) }", "1:27: an empty list needs a type, as in a: ints = []"},
		{"g (x) => () { y = Relu<a:int=[1]>(x) }", "1:30: attribute \"a\" is a single int, not a list"},
		{"g (x) => () { y = Relu<a:number=1>(x) }", "1:26: \"number\" is no type of an attribute"},
		{"g (x) => () { y = Relu<a:int=1.5>(x) }", "1:30: attribute \"a\" takes a value of type int, found one of type float"},
		{"g (x) => () { y = Relu<a=[1,\"b\"]>(x) }", "1:29: attribute \"a\" takes a value of type int, found one of type string"},
		{"g (x) => () { y = Relu<a=1, a=2>(x) }", "1:29: attribute \"a\" is given twice"},
		{"g (x) => () { y = Relu<a=1>(x)<b=2> }", "1:31: the attributes of Relu stand before its inputs already"},
		{"g (x) => () { y = Relu<a=[@b]>(x) }", "1:26: a list cannot hold the reference @b"},
		{"g (x) => () { y = Relu(z) }", `1:24: nothing defines the input "z"`},
		{"g (x) => (z) { y = Relu(x) }", `1:11: nothing defines the output "z"`},
		{"g (x) => () {\n y = Relu(x)\n y = Relu(x) }", `3:2: value "y" is defined twice, first in line 2`},
		{"g (float x = {1}) => () <float x = {2}> {}", `1:32: value "x" is defined twice, first in line 1`},
		{"g (x) => (y) { y = Relu(z)\n z = Relu(y) }", `1:1: graph "g" has a cycle`},
		{"g () => () { y = Constant<s = \"abc>() }", "1:31: the string that begins here has no closing quote"},
		{"g () => () {} <name: \"x\"> f (a) => (a) {}", "1:16: a function has no name: its keys are domain"},
		{"g () => () {} f (a) => (b) {}", `1:25: nothing defines the output "b"`},
		{"g () => () {} \x00", "1:15: expected a function or the end of the text, found '\\x00'"},
		{"g (" + deep, "1:240: nested more than 60 deep"},
		{"g (x) => () {" + graphs, "nested more than 60 deep"},
		{"g () => () <sparse_tensor(float[9]) s = float[1] {1} int32[1] {0}> {}", "1:37: the values of this sparse tensor are of type float"},
	} {
		_, err := Parse("t", []byte(c.src))
		if err == nil || !strings.HasPrefix(err.Error(), "t:") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q gives\n  %v\nwant\n  t:%s", c.src, err, c.want)
		}
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.onnxtxt")
	if err := os.WriteFile(path, []byte("g (float x) => (float y) { y = Relu(x) }"), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err != nil || m.Path != path || m.Dir != filepath.Dir(path) || len(m.Graph.Nodes) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	if _, err := Open(path + "x"); err == nil {
		t.Error("a missing file opens")
	}
	if !IsText(path) || IsText("m.onnx") {
		t.Error("the extension is not told apart")
	}
}

// FuzzParse holds that no text makes the parser panic or give an error without a place, and that
// what it reads can be written and read again.
func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Add(chain)
	f.Add("g () => () <int4[4] w = {1,2}> {}")
	f.Fuzz(func(t *testing.T, src string) {
		m, err := Parse("t", []byte(src))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "t:") {
				t.Errorf("error without a place: %v", err)
			}
			return
		}
		var out bytes.Buffer
		if err := Print(&out, m, PrintOptions{}); err != nil {
			return // elements that lie in a file
		}
		if _, err := Parse("t", out.Bytes()); err != nil {
			t.Errorf("%v\nin what was printed of %q:\n%s", err, src, out.String())
		}
	})
}
