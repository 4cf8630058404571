package rangeprop_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// A section of a file in testdata/operators is a line "-- name opsets domains --" and a graph. A domain
// "x=lo..hi" holds the ranges that are drawn for an input; "x=const" makes it a constant of the
// default domain in every draw, "x=const:lo..hi" of that one; the word fp32 keeps
// the model from being held in lower formats.
type section struct {
	name    string
	opset   string
	domains map[string]domain
	fp32    bool // the schema pins the operands to float: nothing is held low
	text    string
}

type domain struct {
	rangeprop.Range
	constant, given bool
}

func sections(t testing.TB) []section {
	t.Helper()
	files, err := filepath.Glob("testdata/operators/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no operators", err)
	}
	var list []section
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq("\n"+string(raw), "\n-- ") {
			if head, text, ok := strings.Cut(part, " --\n"); ok {
				list = append(list, headed(t, head, text)...)
			}
		}
	}
	return list
}

// headed reads the head of a section, which stands for one section in each of its opsets.
func headed(t testing.TB, head, text string) []section {
	words := strings.Fields(head)
	s := section{domains: map[string]domain{}, text: text}
	var opsets []string
	for _, w := range words {
		name, span, given := strings.Cut(w, "=")
		if _, err := strconv.Atoi(strings.Split(w, ",")[0]); err == nil {
			opsets = strings.Split(w, ",")
			continue
		}
		if w == "fp32" {
			s.fp32 = true
			continue
		}
		if !given {
			s.name = strings.TrimSpace(s.name + " " + w)
			continue
		}
		s.domains[name] = domainOf(t, span)
	}
	var list []section
	for _, o := range opsets {
		s.opset = o
		list = append(list, s)
	}
	return list
}

func domainOf(t testing.TB, span string) (d domain) {
	if span, d.constant = strings.CutPrefix(span, "const"); d.constant {
		span = strings.TrimPrefix(span, ":")
	}
	if d.given = span != ""; !d.given {
		return d
	}
	lo, hi, _ := strings.Cut(span, "..")
	var err1, err2 error
	d.Lo, err1 = strconv.ParseFloat(lo, 64)
	d.Hi, err2 = strconv.ParseFloat(hi, 64)
	if err1 != nil || err2 != nil {
		t.Fatalf("domain %q", span)
	}
	return d
}

func (s section) model(t testing.TB) *graph.Model {
	t.Helper()
	head := fmt.Sprintf("<ir_version: 10, opset_import: [\"\" : %s, \"com.microsoft\" : 1, \"ai.onnx.ml\" : 4, "+
		"\"ai.onnx.preview.training\" : 1, \"ai.onnx.preview\" : 1]>\n", s.opset)
	m, err := onnxtxt.Parse(s.name, []byte(head+s.text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// draw is one abstract value for each input of a model, and a wider one.
type draw struct {
	rng       *rand.Rand
	given     map[string]rangeprop.Given
	wide      map[string]rangeprop.Given
	constants map[string]*refeval.Tensor
	as        numfmt.Format
}

// ends are where the ranges of float inputs end, by magnitude.
var ends = [][]float64{
	{-3, -2, -1, -0.5, 0, 0.25, 1, 2, 5}, {-3, -2, -1, -0.5, 0, 0.25, 1, 2, 5}, {-100, -20, -8, 0, 1, 8, 90, 300},
	{-1e-3, -1e-5, 0, 1e-7, 1e-4}, {-6e4, -1, 0, 1, 6e4}, {-1e20, -1, 0, 1e20}, {-3e38, 0, 1, 3e38}, {-1e-30, 0, 1e-38, 1e-30},
}

// span draws a range inside of what a type and the domain hold.
func (d *draw) span(e graph.ElemType, in domain) rangeprop.Range {
	var a, b float64
	whole := elementRange(e)
	switch list := ends[d.rng.Intn(len(ends))]; {
	case in.given:
		u, v := d.rng.Float64(), d.rng.Float64()
		a, b = in.Lo+(in.Hi-in.Lo)*u, in.Lo+(in.Hi-in.Lo)*v
		if k := d.rng.Intn(4); k < 2 {
			a = in.Lo
		} else if k == 2 {
			b = in.Hi
		}
	case e.IsFloat():
		a, b = list[d.rng.Intn(len(list))], list[d.rng.Intn(len(list))]
	case d.rng.Intn(3) == 0:
		all := []float64{whole.Lo, whole.Hi, 0}
		a, b = all[d.rng.Intn(3)], all[d.rng.Intn(3)]
	default:
		a, b = float64(d.rng.Intn(40)-20), float64(d.rng.Intn(40)-20)
	}
	if !e.IsFloat() {
		a, b = math.Round(a), math.Round(b)
	}
	a, b = max(min(a, whole.Hi), whole.Lo), max(min(b, whole.Hi), whole.Lo)
	return rangeprop.Range{Lo: d.stored(e, min(a, b)), Hi: d.stored(e, max(a, b))}
}

// stored is a number as a type holds it. Inputs that will be held low are so from the start: operands
// that the schema pins to float are not rounded.
func (d *draw) stored(e graph.ElemType, x float64) float64 {
	if e == graph.Float && d.as != numfmt.Invalid {
		return d.as.RoundSat(x)
	}
	if f, ok := e.Format(); ok {
		return f.RoundSat(x)
	}
	if e == graph.Float8E8M0 {
		return math.Exp2(math.Round(math.Log2(max(x, 1e-38))))
	}
	return x
}

// elementRange is what a type holds; the numbers of 64 bits that float64 holds.
func elementRange(e graph.ElemType) rangeprop.Range {
	if f, ok := e.Format(); ok {
		return rangeprop.Range{Lo: -f.Max(), Hi: f.Max()}
	}
	bits := float64(min(e.Bits(), 54))
	switch e {
	case graph.Bool:
		return rangeprop.Range{Lo: 0, Hi: 1}
	case graph.String:
		return rangeprop.Range{Lo: 0, Hi: float64(len(words) - 1)}
	case graph.Uint8, graph.Uint16, graph.Uint32, graph.Uint64, graph.Uint4, graph.Uint2:
		return rangeprop.Range{Lo: 0, Hi: math.Exp2(bits) - 1}
	case graph.Int8, graph.Int16, graph.Int32, graph.Int64, graph.Int4, graph.Int2:
		return rangeprop.Range{Lo: -math.Exp2(bits - 1), Hi: math.Exp2(bits-1) - 1}
	}
	return rangeprop.Range{Lo: -6, Hi: 6}
}

// tensor draws elements inside of a range and at its corners, special ones where they are given.
func (d *draw) tensor(v *graph.Value, g rangeprop.Given) *refeval.Tensor {
	x, n := emptyTensor(v.Type.Elem), 1
	for _, s := range v.Type.Shape {
		size := 2
		if s.Known() {
			size = int(s.N)
		}
		x.Dims, n = append(x.Dims, size), n*size
	}
	kind, same := d.rng.Intn(7), d.rng.Float64()
	for range n {
		d.add(x, d.element(v.Type.Elem, g, kind, same))
	}
	return x
}

// emptyTensor has a list of elements although there are none.
func emptyTensor(e graph.ElemType) *refeval.Tensor {
	x := &refeval.Tensor{Elem: e}
	switch {
	case e == graph.Double:
		x.D = []float64{}
	case e.IsFloat():
		x.F = []float32{}
	case e != graph.String:
		x.I = []int64{}
	}
	return x
}

func (d *draw) element(e graph.ElemType, g rangeprop.Given, kind int, same float64) float64 {
	r, u := g.Range, d.rng.Float64()
	if g.NaN && d.rng.Intn(9) == 0 {
		return math.NaN()
	}
	if g.Inf && d.rng.Intn(9) == 0 {
		return math.Inf(1 - 2*d.rng.Intn(2))
	}
	r = rangeprop.Range{Lo: max(r.Lo, elementRange(e).Lo), Hi: min(r.Hi, elementRange(e).Hi)}
	a := r.Lo*(1-u) + r.Hi*u
	switch kind {
	case 0, 1:
		a = []float64{r.Lo, r.Hi}[d.rng.Intn(2)]
	case 2:
		a = []float64{r.Lo, r.Hi}[int(2*same)]
	case 3:
		a = r.Lo*(1-same) + r.Hi*same
	case 4:
		a = []float64{r.Lo, 0, r.Hi, a}[d.rng.Intn(4)]
	case 5:
		a *= 1e-4
	}
	if !e.IsFloat() {
		a = math.Round(a)
	}
	return d.stored(e, min(max(a, r.Lo), r.Hi))
}

// words are the strings of inputs, by their number: the first four are numbers.
var words = []string{"1.5", "nan", "-inf", "7", "", "a", "b", "A b c"}

// add appends an element.
func (d *draw) add(x *refeval.Tensor, a float64) {
	switch e := x.Elem; {
	case e == graph.Double:
		x.D = append(x.D, a)
	case e.IsFloat():
		x.F = append(x.F, float32(a))
	case e == graph.String:
		x.S = append(x.S, words[int(a)%len(words)])
	default:
		x.I = append(x.I, int64(a))
	}
}

// numbers returns the elements of a tensor; ok is false where it holds none.
func numbers(x *refeval.Tensor) (list []float64, ok bool) {
	switch e := x.Elem; {
	case e == graph.Double:
		return x.D, true
	case e.IsFloat():
		for _, f := range x.F {
			list = append(list, float64(f))
		}
		return list, true
	case e == graph.Uint64:
		for _, i := range x.I {
			list = append(list, float64(uint64(i)))
		}
		return list, true
	case e.IsInt() || e == graph.Bool:
		for _, i := range x.I {
			list = append(list, float64(i))
		}
		return list, true
	}
	return nil, false
}

// inputs draws the abstract values.
func (s section) inputs(d *draw, m *graph.Model) {
	d.given, d.wide, d.constants = map[string]rangeprop.Given{}, map[string]rangeprop.Given{}, map[string]*refeval.Tensor{}
	for _, v := range m.Graph.Inputs {
		in := s.domains[v.Name]
		a, b := d.span(v.Type.Elem, in), d.span(v.Type.Elem, in)
		g := rangeprop.Given{Range: a, Basis: rangeprop.Declared}
		w := rangeprop.Given{Range: rangeprop.Range{Lo: min(a.Lo, b.Lo), Hi: max(a.Hi, b.Hi)}, Basis: rangeprop.Declared}
		all := rangeprop.Range{Lo: math.Inf(-1), Hi: math.Inf(1)}
		switch k := d.rng.Intn(12); {
		case !v.Type.Elem.IsFloat() || in.given || v.Type.Elem.Bits() < 16:
		case k == 0:
			w.NaN, w.Inf, w.Range = true, true, all
		case k == 1:
			g.NaN, g.Inf, g.Range = true, true, all
			w = g
		}
		if in.constant || v.Type.Kind == graph.KindTensor && d.rng.Intn(5) == 0 {
			g.NaN, g.Inf = g.NaN && !in.constant, g.Inf && !in.constant
			d.constants[v.Name] = d.tensor(v, g)
			continue
		}
		d.given[v.Name], d.wide[v.Name] = g, w
	}
}

// analyze bounds the model.
func (d *draw) analyze(m *graph.Model, given map[string]rangeprop.Given) (*rangeprop.Result, error) {
	values := map[string]*graph.Tensor{}
	for name, x := range d.constants {
		values[name] = x.ToGraph(name)
	}
	info, err := infer.Run(m, infer.Options{Values: values})
	if err != nil {
		return nil, err
	}
	return rangeprop.Analyze(m, info, rangeprop.Options{Ranges: given, Hold: floatsIn(d.as)})
}

// floatsIn holds every float in a format, nothing where that is [numfmt.Invalid].
func floatsIn(f numfmt.Format) func(*graph.Value) numfmt.Format {
	if f == numfmt.Invalid {
		return nil
	}
	return func(v *graph.Value) numfmt.Format {
		if v.Type.Elem == graph.Float {
			return f
		}
		return numfmt.Invalid
	}
}

// slack is the relative error that is let pass: what the last place of a result may be off.
const slack = 1e-6

// sound runs the model at points of the abstract values and returns what contradicts the bounds.
func (d *draw) sound(m *graph.Model, res *rangeprop.Result, points int) string {
	why := ""
	run, err := refeval.New(m, refeval.Options{As: d.as, Threads: 1, Observe: func(v *graph.Value, x *refeval.Tensor) {
		if list, ok := numbers(x); ok && why == "" && v.Producer != nil && (v.Const == nil || d.as == numfmt.Invalid) {
			if b := res.Val(v).Breaks(x.Dims, list, slack); b != "" {
				why = fmt.Sprintf("%s %s: %s", v.Producer.Op, v.Key(), b)
			}
		}
	}})
	if err != nil {
		return err.Error()
	}
	for range points {
		in, show := map[string]*refeval.Value{}, ""
		for _, v := range m.Graph.Inputs {
			x := d.constants[v.Name]
			if x == nil {
				x = d.tensor(v, d.given[v.Name])
			}
			in[v.Name] = refeval.TensorValue(x)
			list, _ := numbers(x)
			show += fmt.Sprintf("\n  %s = %v", v.Name, list)
			if g, ok := d.given[v.Name]; ok {
				show += fmt.Sprintf(" in %v", g.Range)
			}
		}
		if _, err := run.Run(context.Background(), in); err != nil {
			return err.Error() + show
		}
		if why != "" {
			return why + show
		}
	}
	return ""
}

// narrower compares the bounds of an input with those of a wider one: none may become narrower.
func narrower(m *graph.Model, narrow, wide *rangeprop.Result) string {
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if v.Producer == nil || v.Const != nil {
				continue
			}
			a, b := narrow.Val(v), wide.Val(v)
			n, w := a.Hull(), b.Hull()
			if n.Lo == n.Hi && math.IsInf(n.Lo, 0) && a.NaN() { // nothing but NaN
				continue
			}
			if e := 2e-2 * (1e-6 + min(n.MaxAbs(), 1e30)); n.Lo < w.Lo-e || n.Hi > w.Hi+e || a.NaN() && !b.NaN() {
				return fmt.Sprintf("%s %s: %v (NaN %v), and with wider inputs %v (NaN %v)", v.Producer.Op, v.Key(), n, a.NaN(), w, b.NaN())
			}
		}
	}
	return ""
}

// draws is how many abstract values each operator is tried on; AMPLINT_DRAWS sets another number.
func draws() int {
	if n, err := strconv.Atoi(os.Getenv("AMPLINT_DRAWS")); err == nil {
		return n
	}
	return 6
}

// TestOperators bounds each operator on random abstract values, runs it with the evaluator at points
// inside and at corners, and widens the inputs.
func TestOperators(t *testing.T) {
	for _, s := range sections(t) {
		t.Run(s.name+" "+s.opset, func(t *testing.T) {
			m := s.model(t)
			h := fnv.New64a()
			h.Write([]byte(s.name))
			for k := range draws() {
				d := &draw{rng: rand.New(rand.NewSource(int64(h.Sum64()) + int64(k)))}
				d.as = []numfmt.Format{numfmt.Invalid, numfmt.Invalid, numfmt.FP16, numfmt.BF16}[k%4]
				if s.fp32 {
					d.as = numfmt.Invalid
				}
				s.inputs(d, m)
				if why := s.try(d, m); why != "" {
					t.Fatalf("draw %d as %v: %s%s", k, d.as, why, d.abstract())
				}
			}
		})
	}
}

func (s section) try(d *draw, m *graph.Model) string {
	res, err := d.analyze(m, d.given)
	if err != nil {
		return err.Error()
	}
	if why := d.sound(m, res, 8); why != "" {
		return why
	}
	wide, err := d.analyze(m, d.wide)
	if err != nil {
		return err.Error()
	}
	return narrower(m, res, wide)
}

// abstract prints the ranges of a draw.
func (d *draw) abstract() string {
	s := ""
	for _, name := range slices.Sorted(maps.Keys(d.given)) {
		s += fmt.Sprintf("\n  %s: %v, wider %v", name, d.given[name], d.wide[name])
	}
	return s
}
