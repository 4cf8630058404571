package rewrite

import (
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
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestPlans runs every archive of testdata: its comment holds the plan, one edit or option a line
// (see planOf), "model" the model and "want" the result. UPDATE=1 writes "want" and "notes" anew.
func TestPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no archives", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { testPlan(t, file) })
	}
}

func testPlan(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := parsed(t, section(a, "model"))
	before := printed(t, m)
	p := planOf(t, string(a.Comment), m)
	out, sum, err := p.Apply(m)
	if err != nil {
		t.Fatal(err)
	}
	got := printed(t, out)
	notes := strings.Join(append(slices.Clone(sum.Notes), ""), "\n")
	if os.Getenv("UPDATE") != "" {
		update(t, file, a, got, notes)
	} else if diff := cmp.Diff(section(a, "want"), got) + cmp.Diff(section(a, "notes"), notes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(before, printed(t, m)); diff != "" {
		t.Errorf("the model itself was changed:\n%s", diff)
	}
	if sum.Changed == (got == before) {
		t.Errorf("changed: %v", sum.Changed)
	}
	checkTypes(t, out)
	again := parsed(t, got)
	edits := len(p.Edits)
	if p = planOf(t, string(a.Comment), again); len(p.Edits) != edits {
		return // a call that an edit names has been replaced by its body
	}
	p.Edits = slices.DeleteFunc(p.Edits, onlyOnce)
	if _, sum, err = p.Apply(again); err != nil || sum.Changed {
		out, _, _ := p.Apply(again)
		t.Errorf("the plan changes its own result: %v\n%s", err, cmp.Diff(got, printed(t, out)))
	}
}

// onlyOnce tells whether an edit changes its own result.
func onlyOnce(e Edit) bool {
	switch e.(type) {
	case SetAttr, Rescale, RescaleSquare, Rebalance, Replace:
		return true
	}
	return false
}

func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func update(t *testing.T, file string, a *txtar.Archive, want, notes string) {
	t.Helper()
	a.Files = []txtar.File{{Name: "model", Data: []byte(section(a, "model"))}, {Name: "want", Data: []byte(want)}}
	if notes != "" {
		a.Files = append(a.Files, txtar.File{Name: "notes", Data: []byte(notes)})
	}
	if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

func parsed(t *testing.T, text string) *graph.Model {
	t.Helper()
	m, err := onnxtxt.Parse("model", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := infer.Run(m, infer.Options{}); err != nil {
		t.Fatal(err)
	}
	return m
}

func printed(t *testing.T, m *graph.Model) string {
	t.Helper()
	var b strings.Builder
	if err := onnxtxt.Print(&b, m, onnxtxt.PrintOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// planOf reads lines such as "target bf16", "repair", "weights", "widen x", "keep node", "tobf16 x", "rescale product scale -3", "rescale-square node -3", "rebalance first second -3", "replace y Op inputs", "unquantize q", "quantize node 0 0.5", "clamp mask -65504
// 65504", "setconst eps 0 1e-6", "setattr node epsilon 1e-4", "narrow-double", "leave node", "choose Op", "unsafe x y" and
// "free x y"; x, y and node are keys. Other lines are prose.
func planOf(t *testing.T, text string, m *graph.Model) *Plan {
	p := &Plan{Target: numfmt.FP16}
	for _, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		num := func(i int) float64 {
			x, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				t.Fatal(line, err)
			}
			return x
		}
		switch f[0] {
		case "target":
			p.Target, _ = numfmt.Parse(f[1])
		case "repair":
			p.Strategy = Repair
		case "weights":
			p.Strategy = Weights
		case "narrow-double":
			p.NarrowDouble = true
		case "free":
			p.KeepIO = func(v *graph.Value) bool { return !slices.Contains(f[1:], v.Name) }
		case "unsafe":
			p.Unsafe = func(v *graph.Value) bool { return slices.Contains(f[1:], v.Key()) }
		case "widen":
			for _, v := range values(m, f[1]) {
				p.Edits = append(p.Edits, Widen{v})
			}
		case "keep":
			for _, n := range nodes(m, f[1]) {
				p.Edits = append(p.Edits, KeepFP32{n})
			}
		case "quantize":
			for _, n := range nodes(m, f[1]) {
				p.Edits = append(p.Edits, Quantize{n, int(num(2)), num(3)})
			}
		case "leave":
			p.Leave = func(n *graph.Node) bool { return slices.Contains(f[1:], n.Key()) }
		case "choose":
			p.Chosen = true
			p.Leave = func(n *graph.Node) bool { return len(n.Subgraphs()) == 0 && n.Op != f[1] }
		case "tobf16":
			for _, v := range values(m, f[1]) {
				p.Edits = append(p.Edits, ToBF16{v})
			}
		case "rescale", "rescale-square", "rebalance", "replace":
			p.Edits = append(p.Edits, structural(m, f, num)...)
		case "unquantize":
			for _, v := range values(m, f[1]) {
				p.Edits = append(p.Edits, Unquantize{v})
			}
		case "clamp":
			for _, v := range values(m, f[1]) {
				p.Edits = append(p.Edits, Clamp{v, num(2), num(3)})
			}
		case "setconst":
			for _, v := range values(m, f[1]) {
				p.Edits = append(p.Edits, SetConst{v, num(2), num(3)})
			}
		case "setattr":
			for _, n := range nodes(m, f[1]) {
				p.Edits = append(p.Edits, SetFloat(n, f[2], float32(num(3))))
			}
		}
	}
	return p
}

// structural makes the edits that change which nodes there are, see planOf.
func structural(m *graph.Model, f []string, num func(int) float64) (list []Edit) {
	switch f[0] {
	case "rescale":
		for _, n := range nodes(m, f[1]) {
			list = append(list, Rescale{n, nodes(m, f[2])[0], int(num(3))})
		}
	case "rescale-square":
		for _, n := range nodes(m, f[1]) {
			list = append(list, RescaleSquare{n, int(num(2))})
		}
	case "rebalance":
		for _, n := range nodes(m, f[1]) {
			list = append(list, Rebalance{n, nodes(m, f[2])[0], int(num(3))})
		}
	case "replace":
		for _, v := range values(m, f[1]) {
			e := Replace{Value: v, Op: f[2], Attrs: []*graph.Attr{intAttr("axis", -1)}}
			for _, in := range f[3:] {
				e.Inputs = append(e.Inputs, values(m, in)...)
			}
			list = append(list, e)
		}
	}
	return list
}

func values(m *graph.Model, key string) (list []*graph.Value) {
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if v.Key() == key {
				list = append(list, v)
			}
		}
	}
	return list
}

func nodes(m *graph.Model, key string) (list []*graph.Node) {
	for n := range m.Nodes() {
		if n.Key() == key {
			list = append(list, n)
		}
	}
	return list
}

// checkTypes infers the result anew and holds every node against the standard.
func checkTypes(t *testing.T, m *graph.Model) {
	t.Helper()
	for g := range m.Graphs() { // only what the file would say counts
		for _, v := range g.Values {
			if !v.Declared() && v.Init == nil {
				v.Type = graph.Type{}
			}
		}
	}
	info, err := infer.Run(m, infer.Options{})
	if err != nil {
		t.Error(err)
		return
	}
	for _, note := range info.Notes {
		t.Error(note)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
}
