package analyze

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/config"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/rangeprop"
)

const inputsText = `<ir_version: 8, opset_import: ["" : 17], metadata_props: [
  "amplint.range.x" : "[-8,8]", "onnxsim.range.x" : "[-9,9]", "onnxsim.range.y" : "-1,1", "amplint.range.gone" : "0,1"]>
g (float[N, 2] x, float[2] y, int64[1] axes, bool[2] m) => (float[N, 2] z)
<float[2] w = {1, 2}>
{
  z = Add(x, w)
}`

func parse(t *testing.T, text string) *graph.Model {
	t.Helper()
	m, err := onnxtxt.Parse("m.onnxtxt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// npz writes an archive of arrays: name, numpy type, shape and elements.
func npz(t *testing.T, dir string, arrays ...[4]string) string {
	t.Helper()
	f, err := os.CreateTemp(dir, "*.npz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for _, a := range arrays {
		w, err := z.Create(a[0] + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", a[1], a[2])
		fmt.Fprintf(w, "\x93NUMPY\x01\x00%s%s%s", binary.LittleEndian.AppendUint16(nil, uint16(len(head))), head, a[3])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// got lists what was gathered, one range a line.
func got(in *inputs) string {
	var list []string
	for name, r := range in.ranges {
		list = append(list, fmt.Sprintf("%s [%g, %g] %v", name, r.Range.Lo, r.Range.Hi, r.Basis))
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

func f16(x ...uint16) string {
	b, _ := binary.Append(nil, binary.LittleEndian, x)
	return string(b)
}

// TestPrecedence shows which source wins for an input.
func TestPrecedence(t *testing.T) {
	data := npz(t, t.TempDir(), [4]string{"x", "<f2", "2, 2", f16(0x3c00, 0xc000, 0, 0)}, [4]string{"axes", "<i8", "1,", "\x01\x00\x00\x00\x00\x00\x00\x00"})
	said := &config.Config{Ranges: map[string]config.Bounds{"x": {Lo: -5, Hi: 5}}}
	flag := []config.Range{{Name: "x", Range: rangeprop.Range{Lo: 0, Hi: 1}}}
	for _, c := range []struct {
		name string
		opt  Options
		want string
	}{
		{"metadata", Options{}, "x [-8, 8] declared\ny [-1, 1] declared"},
		{"data", Options{Data: []string{data}}, "axes [1, 1] observed\nx [-2, 1] observed\ny [-1, 1] declared"},
		{"data of the config", Options{Config: &config.Config{Data: config.Paths{data}}}, "axes [1, 1] observed\nx [-2, 1] observed\ny [-1, 1] declared"},
		{"config", Options{Data: []string{data}, Config: said}, "axes [1, 1] observed\nx [-5, 5] declared\ny [-1, 1] declared"},
		{"flag", Options{Data: []string{data}, Config: said, Ranges: flag}, "axes [1, 1] observed\nx [0, 1] declared\ny [-1, 1] declared"},
		{"initializer", Options{Ranges: []config.Range{{Name: "w", Range: rangeprop.Range{Lo: -3, Hi: 3}}}}, "w [-3, 3] declared\nx [-8, 8] declared\ny [-1, 1] declared"},
	} {
		in, err := gather(parse(t, inputsText), &c.opt)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff(c.want, got(in)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if !slices.ContainsFunc(in.notes, func(n string) bool { return strings.Contains(n, `"gone" is no input`) }) {
			t.Errorf("%s: notes %q", c.name, in.notes)
		}
	}
}

// TestByValue shows what small inputs that are no floats are known by, and that a range given for
// one takes its value away.
func TestByValue(t *testing.T) {
	dir := t.TempDir()
	one := [4]string{"axes", "<i4", "1,", "\x01\x00\x00\x00"}
	mask := [4]string{"m", "|b1", "2,", "\x01\x00"}
	npz(t, dir, one, mask, [4]string{"x", "<f2", "3, 2", strings.Repeat("\x00\x3c", 6)})
	npz(t, dir, one, [4]string{"m", "|b1", "2,", "\x01\x01"}, [4]string{"x", "<f2", "4, 2", strings.Repeat("\x00\x40", 8)})
	in, err := gather(parse(t, inputsText), &Options{Data: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	axes := in.values["axes"]
	if axes == nil || axes.Elem != graph.Int64 {
		t.Fatalf("axes is %v", axes)
	}
	if x, err := axes.Int64s(); err != nil || !slices.Equal(x, []int64{1}) {
		t.Errorf("axes is %v, %v", x, err)
	}
	if in.values["m"] != nil || in.values["x"] != nil {
		t.Errorf("known by value though it differs, or is a float: %v", in.values)
	}
	if got, want := in.shapes["x"].String(), "[N,2]"; got != want {
		t.Errorf("shape %s, want %s", got, want)
	}
	in, err = gather(parse(t, inputsText), &Options{Data: []string{dir}, Ranges: []config.Range{{Name: "axes", Range: rangeprop.Range{Lo: 0, Hi: 1}}}})
	if err != nil || in.values["axes"] != nil {
		t.Errorf("axes still has a value, error %v", err)
	}
}

func TestGatherErrors(t *testing.T) {
	for _, c := range []struct {
		name, text string
		opt        Options
		err        string
	}{
		{"unknown input", inputsText, Options{Ranges: []config.Range{{Name: "q", Range: rangeprop.Range{}}}}, `"q" is no input of m.onnxtxt; its inputs are x, y, axes, m`},
		{"inner value", inputsText, Options{Ranges: []config.Range{{Name: "z", Range: rangeprop.Range{}}}}, `"z" is no input`},
		{"missing data", inputsText, Options{Data: []string{filepath.Join(t.TempDir(), "no.npz")}}, "no.npz"},
		{"metadata", strings.Replace(inputsText, "[-8,8]", "[8,-8]", 1), Options{}, "metadata amplint.range.x: the lower bound"},
	} {
		m := parse(t, c.text)
		m.Path = "m.onnxtxt"
		if _, err := gather(m, &c.opt); !failsWith(err, c.err) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
	if _, err := gather(parse(t, inputsText), &Options{Lenient: true, Ranges: []config.Range{{Name: "q", Range: rangeprop.Range{}}}}); err != nil {
		t.Errorf("lenient: %v", err)
	}
}

// failsWith tells whether err is nil for an empty want, and mentions it else.
func failsWith(err error, want string) bool {
	if want == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), want)
}
