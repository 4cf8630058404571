package rules

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
)

// column is a way in which the models of the pages are looked at.
type column struct {
	name  string
	input func(t *testing.T, m *graph.Model) *Input // nil where the model cannot be looked at so
}

// columns are the formats and modes of the table: a float model as if narrowed, a model that holds
// the format already, and float32 itself.
var columns = []column{
	{"as fp16", narrowedTo(numfmt.FP16)},
	{"as bf16", narrowedTo(numfmt.BF16)},
	{"holds fp16", stored(numfmt.FP16)},
	{"holds bf16", stored(numfmt.BF16)},
	{"holds fp8", holdsEight},
	{"fp32", narrowedTo(numfmt.FP32)},
}

// narrowedTo judges a float model as if its values were held in a format.
func narrowedTo(f numfmt.Format) func(*testing.T, *graph.Model) *Input {
	return func(t *testing.T, m *graph.Model) *Input {
		if holdsLow(m) {
			return nil
		}
		in := prepare(t, m, false)
		in.Target = f
		in.Hold = func(v *graph.Value) (numfmt.Format, bool) { return f, v.Type.Float() }
		if f == numfmt.FP32 {
			in.Tolls = nil
		}
		return in
	}
}

// stored judges a model that holds a 16-bit format, narrowing a float model first.
func stored(f numfmt.Format) func(*testing.T, *graph.Model) *Input {
	return func(t *testing.T, m *graph.Model) *Input {
		if holdsEightBits(m) {
			return nil
		}
		if !holdsLow(m) {
			prepare(t, m, false) // sets the types that a plan goes by
			plan := rewrite.Plan{Target: f}
			low, _, err := plan.Apply(m)
			if err != nil {
				return nil
			}
			m = low
		} else if !holds(m, f) {
			return nil
		}
		in := prepare(t, m, true)
		in.Target = f
		return in
	}
}

func holdsEight(t *testing.T, m *graph.Model) *Input {
	if !holdsEightBits(m) {
		return nil
	}
	return prepare(t, m, false)
}

func holdsEightBits(m *graph.Model) bool {
	return holds(m, numfmt.E4M3FN) || holds(m, numfmt.E5M2)
}

func holds(m *graph.Model, f numfmt.Format) bool {
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if h, ok := held(v); ok && h == f {
				return true
			}
		}
	}
	return false
}

// TestCoverage prints what each rule says of the bad models of its page in each format and mode:
// the gravest severity, - where it says nothing, and nothing where no model is of that kind. Every
// rule must say something somewhere, and of float models in fp16 what it says of them as they are.
func TestCoverage(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-22s", "rule")
	for _, c := range columns {
		fmt.Fprintf(&b, "%-11s", c.name)
	}
	for _, r := range All() {
		text, ok := Page(r.Name)
		if !ok {
			continue // told by another test
		}
		fmt.Fprintf(&b, "\n%-22s", r.Name)
		said := 0
		for _, c := range columns {
			cell := gravest(t, r, text, c)
			if cell != "" && cell != "-" {
				said++
			}
			fmt.Fprintf(&b, "%-11s", cell)
		}
		if said == 0 {
			t.Errorf("%s says nothing of any bad model of its page", r.Name)
		}
	}
	t.Log("\n" + b.String())
}

// gravest returns the gravest that a rule says of the bad models of its page.
func gravest(t *testing.T, r Rule, text string, c column) string {
	t.Helper()
	worst := ""
	for _, example := range fence.FindAllStringSubmatch(text, -1) {
		if example[1] != "Bad" {
			continue
		}
		m, err := onnxtxt.Parse("bad", []byte(example[4]))
		if err != nil {
			t.Fatal(err)
		}
		in := c.input(t, m)
		if in == nil {
			continue
		}
		if worst == "" {
			worst = "-"
		}
		for _, f := range judged(in) {
			if f.Rule == r.Name && (worst == "-" || f.Severity > severityOf(worst)) {
				worst = f.Severity.String()
			}
		}
	}
	return worst
}

func severityOf(name string) Severity {
	for s := Note; s <= Error; s++ {
		if s.String() == name {
			return s
		}
	}
	return Note
}
