package rangeprop_test

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
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

// knobs say how the models of a folder are tried; each is read from a variable of the environment.
type knobs struct {
	runs, climbs int           // AMPLINT_RUNS, AMPLINT_CLIMBS: inputs of each kind, steps of a search
	scale        float64       // AMPLINT_SCALE: factor of the ranges of float inputs; 0 makes them a point
	as           numfmt.Format // AMPLINT_AS: the format that every float is held in
	stored       string        // AMPLINT_STORED: fp16, bf16, or mixed: what the model is rewritten to
	special      bool          // AMPLINT_SPECIAL: float inputs hold NaN and infinities, too
	slack        float64       // AMPLINT_SLACK: the relative error that is let pass
	least        float64       // AMPLINT_LEAST: the least magnitude of a float, or 0, that is drawn
}

func knobsOf(t *testing.T) knobs {
	number := func(name string, otherwise float64) float64 {
		s := os.Getenv(name)
		if s == "" {
			return otherwise
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return x
	}
	k := knobs{runs: int(number("AMPLINT_RUNS", 50)), climbs: int(number("AMPLINT_CLIMBS", 8)), scale: number("AMPLINT_SCALE", 1),
		stored: os.Getenv("AMPLINT_STORED"), special: number("AMPLINT_SPECIAL", 0) != 0, slack: number("AMPLINT_SLACK", slack), least: number("AMPLINT_LEAST", 1e-9)}
	switch as := os.Getenv("AMPLINT_AS"); as {
	case "fp16":
		k.as = numfmt.FP16
	case "bf16":
		k.as = numfmt.BF16
	case "":
	default:
		t.Fatalf("AMPLINT_AS: %q is neither fp16 nor bf16", as)
	}
	return k
}

// TestModelFolder runs every model below the folder that AMPLINT_MODELS names, the small ones first:
// AMPLINT_RUNS random inputs and as many adversarial ones, within the hull of the sample beside it
// (NAME.npz, NAME.json, inputs.npz or test_data_set_*) or what its inputs tell. No value of the graph,
// of its branches, loops and functions may break what is said of it. Floats that are so small that the
// squares of squares vanish are left out: a norm without an ε keeps the bound that it has in real numbers.
func TestModelFolder(t *testing.T) {
	dir := os.Getenv("AMPLINT_MODELS")
	if dir == "" {
		t.Skip("AMPLINT_MODELS names no folder")
	}
	k := knobsOf(t)
	for _, path := range modelFiles(t, dir) {
		name, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(name, ".onnx"), func(t *testing.T) { probeModel(t, path, k) })
	}
}

// modelFiles lists the models below a folder by their size.
func modelFiles(t *testing.T, dir string) []string {
	size := map[string]int64{}
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".onnx" {
			return err
		}
		st, err := d.Info()
		if err == nil {
			list, size[path] = append(list, path), st.Size()
		}
		return err
	})
	if err != nil || len(list) == 0 {
		t.Fatalf("no models: %v", err)
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(size[a], size[b]) })
	return list
}

// trial is a model with its bounds, held against runs.
type trial struct {
	knobs
	t        *testing.T
	m        *graph.Model
	res      *rangeprop.Result
	slots    []slot
	rng      *rand.Rand
	what     string // the kind of the input that is run
	seen     map[*graph.Value]bool
	broken   map[*graph.Value]bool
	elements int
	floats   []*graph.Value // float results, in the order they were met
}

func newTrial(t *testing.T, m *graph.Model, k knobs) *trial {
	return &trial{knobs: k, t: t, m: m, rng: rand.New(rand.NewSource(4)), seen: map[*graph.Value]bool{}, broken: map[*graph.Value]bool{}}
}

func probeModel(t *testing.T, path string, k knobs) {
	m, err := graph.Open(path)
	if err != nil {
		t.Skipf("cannot be read: %v", err)
	}
	defer m.Close()
	p := newTrial(t, m, k)
	if k.stored != "" {
		if p.m, err = lowered(m, k.stored, p.rng); err != nil {
			t.Skip(err)
		}
	}
	if err := p.settle(path); err != nil {
		t.Skip(err)
	}
	run, err := p.runner(p.observe)
	if err != nil {
		t.Fatal(err)
	}
	for i := range k.runs {
		p.what = fmt.Sprintf("random input %d", i)
		p.run(run, p.random())
		p.progress(i + 1)
	}
	n := p.adversarial(run)
	t.Logf("%d random and %d adversarial inputs, %d values, %d elements, %d broken", k.runs, n, len(p.seen), p.elements, len(p.broken))
	if t.Failed() && k.stored != "" {
		var text strings.Builder
		if err := onnxtxt.Print(&text, p.m, onnxtxt.PrintOptions{MaxElements: 16}); err == nil {
			t.Logf("as %s:\n%s", k.stored, text.String())
		}
	}
}

// progress tells how far a model is.
func (p *trial) progress(n int) {
	if n%10 == 0 && p.elements > 1<<24 {
		p.t.Logf("%s, %d so far: %d values, %d elements", p.what, n, len(p.seen), p.elements)
	}
}

// settle finds what the inputs take, and bounds the model. Integers that are out of place as indices
// or shapes end a run: then they keep the values of the sample, or become smaller.
func (p *trial) settle(path string) error {
	var failed error
	for _, how := range []taken{{ids: 127}, {ids: 9}, {ids: 1}, {byValue: true}, {byValue: true, open: 6}, {ids: 1, open: 16}} {
		slots, err := slotsOf(p, path, how)
		if err != nil {
			return err
		}
		p.slots = slots
		if failed = p.bound(); failed != nil {
			continue
		}
		run, err := p.runner(nil)
		if err != nil {
			return err
		}
		for range 6 {
			if _, failed = run.Run(context.Background(), p.random()); failed != nil {
				break
			}
		}
		if failed == nil {
			return nil
		}
	}
	return fmt.Errorf("no input can be run: %w", failed)
}

// bound analyses the model over the slots.
func (p *trial) bound() error {
	values, given := map[string]*graph.Tensor{}, map[string]rangeprop.Given{}
	for _, s := range p.slots {
		if s.fixed != nil {
			values[s.v.Name] = s.fixed
			continue
		}
		g := rangeprop.Given{Range: s.r, NaN: s.nan, Inf: s.inf, Basis: rangeprop.Declared}
		if p.special && s.elem.IsFloat() {
			g.NaN, g.Inf, g.Range = true, true, rangeprop.Range{Lo: math.Inf(-1), Hi: math.Inf(1)}
		}
		given[s.v.Name] = g
	}
	info, err := infer.Run(p.m, infer.Options{Values: values})
	if err != nil {
		return err
	}
	p.res, err = rangeprop.Analyze(p.m, info, rangeprop.Options{Ranges: given, Hold: floatsIn(p.as)})
	return err
}

func (p *trial) runner(observe func(*graph.Value, *refeval.Tensor), goal ...*graph.Value) (*refeval.Runner, error) {
	return refeval.New(p.m, refeval.Options{As: p.as, Threads: 1, Observe: observe, Goal: goal})
}

// run shows all values of a run to observe. Some inputs cannot be run: an index may be computed.
func (p *trial) run(r *refeval.Runner, in map[string]*refeval.Value) {
	if _, err := r.Run(context.Background(), in); err != nil {
		p.t.Logf("%s: %v", p.what, err)
	}
}

// observe holds a tensor against the bounds of its value. Constants are the same in every run.
func (p *trial) observe(v *graph.Value, x *refeval.Tensor) {
	if p.broken[v] || v.Const != nil && (p.seen[v] || p.as != numfmt.Invalid) {
		return
	}
	list, ok := numbers(x)
	if !ok {
		return
	}
	if !p.seen[v] && x.Elem.IsFloat() && v.Const == nil && v.Producer != nil {
		p.floats = append(p.floats, v)
	}
	p.seen[v] = true
	p.elements += len(list)
	if v.Producer == nil && v.Const == nil && v.Graph.Kind == graph.MainGraph {
		return // it was drawn from its range
	}
	if why := p.res.Val(v).Breaks(x.Dims, list, p.slack); why != "" {
		p.broken[v] = true
		op := "input"
		if v.Producer != nil {
			op = v.Producer.OpName()
		}
		p.t.Errorf("%s of %s, %s: %s", v.Key(), op, p.what, why)
	}
}
