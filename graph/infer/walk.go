package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
)

// walk is the state of one run.
type walk struct {
	*symbols
	m        *graph.Model
	opt      Options
	ops      map[string]operator
	folders  map[string]folder
	info     *Info
	declared map[*graph.Value]graph.Type // what the file says
	small    map[*graph.Value]*data      // elements of small tensors, symbolic ones too
	unknown  map[string]int
	counted  map[*graph.Node]bool
	noted    map[string]bool
	stale    map[*graph.Value]bool // values that are something else than the file says
	steps    int                   // nodes walked
	budget   int64                 // elements that may still be folded
	lenient  int                   // branches around that may never run
}

// Bounds of the work that a hostile model can cause: bodies of loops are walked more than once.
const (
	maxSteps  = 1 << 22
	maxBudget = 1 << 22
	maxNotes  = 100
	maxStale  = 5 // of them on values that the file declares wrongly: a converter that leaves one behind leaves many
)

func newWalk(m *graph.Model, opt Options) *walk {
	if opt.MaxFold <= 0 {
		opt.MaxFold = 1 << 16
	}
	return &walk{symbols: newSymbols(opt.Dims), m: m, opt: opt, ops: operators(), folders: folders(),
		info: &Info{}, declared: map[*graph.Value]graph.Type{}, small: map[*graph.Value]*data{},
		unknown: map[string]int{}, counted: map[*graph.Node]bool{}, noted: map[string]bool{},
		stale: map[*graph.Value]bool{}, budget: maxBudget}
}

func (w *walk) run() error {
	for g := range w.m.Graphs() {
		declared := declarations(g)
		for _, v := range g.Values {
			w.forget(v, declared)
		}
	}
	if err := w.inputs(); err != nil {
		return err
	}
	return w.graph(w.m.Graph)
}

// declarations returns what the file says of the values of a scope. It is read anew from the entries of input,
// output and value_info, since an earlier run has refined the types of the values.
func declarations(g *graph.Graph) map[string]graph.Type {
	types := map[string]graph.Type{}
	for _, list := range [][]*graph.ValueInfo{g.InputInfos(), g.OutputInfos(), g.ValueInfos()} {
		for _, vi := range list {
			if old, ok := types[vi.Name]; !ok || old.Kind == graph.KindUnknown {
				types[vi.Name] = vi.Type
			}
		}
	}
	return types
}

// forget takes back what an earlier run may have found. Of a value that nothing declares the element type stays:
// an edit gave it, and where the operator is unknown nobody else knows it.
func (w *walk) forget(v *graph.Value, declared map[string]graph.Type) {
	t, ok := declared[v.Name]
	if !ok && v.Init == nil {
		t = withoutShape(v.Type)
	}
	w.declared[v] = t
	if v.Init == nil && !isConstant(v) {
		v.Const = nil
	}
}

func withoutShape(t graph.Type) graph.Type {
	if t.Shape = nil; t.Of != nil {
		of := withoutShape(*t.Of)
		t.Of = &of
	}
	return t
}

func isConstant(v *graph.Value) bool {
	return v.Producer != nil && v.Producer.Op == "Constant" && v.Producer.Domain == ""
}

// inputs sets what is known of the main graph's inputs.
func (w *walk) inputs() error {
	for _, v := range w.m.Graph.Inputs {
		s := w.opt.Shapes[v.Name]
		if t := w.opt.Values[v.Name]; t != nil {
			s = graph.ShapeOf(t.Dims...)
			v.Const = t
		}
		if s == nil {
			continue
		}
		if err := w.bind(v, s); err != nil {
			return &InputError{v.Name, err}
		}
	}
	return nil
}

// InputError says that what is given for an input does not fit its declaration.
type InputError struct {
	Name string
	Err  error
}

func (e *InputError) Error() string { return fmt.Sprintf("input %q: %v", e.Name, e.Err) }
func (e *InputError) Unwrap() error { return e.Err }

// bind gives the symbols of an input's declared shape the sizes of a given one.
func (w *walk) bind(v *graph.Value, s graph.Shape) error {
	old := w.declared[v].Shape
	if old != nil && len(old) != len(s) {
		return fmt.Errorf("is declared as %s and given as %s", old, s)
	}
	for i, d := range old {
		if name, ok := w.parse(d.Sym).atom(); ok && d.Sym != "" && s[i].Known() {
			w.fixed[name] = s[i].N
			delete(w.text, name)
		}
		if d.Known() && s[i].Known() && d != s[i] {
			return fmt.Errorf("is declared as %s and given as %s", old, s)
		}
	}
	t := w.declared[v]
	t.Shape = slices.Clone(s)
	w.declared[v] = t
	return nil
}

// graph walks one scope. Types of a subgraph's inputs are set by its node beforehand.
func (w *walk) graph(g *graph.Graph) error {
	for _, v := range g.Values {
		switch {
		case v.Producer != nil:
		case v.Input && g.Kind == graph.MainGraph:
			v.Type = w.resolve(w.declared[v])
		case v.Init != nil && !v.Input:
			v.Type = v.Init.Type()
		}
	}
	for _, n := range g.Nodes {
		if err := w.node(n); err != nil {
			return err
		}
	}
	return nil
}

// resolve replaces the dimensions that a declaration leaves open by fresh symbols, and fixed symbols by numbers.
func (w *walk) resolve(t graph.Type) graph.Type {
	if t.Of != nil {
		of := w.resolve(*t.Of)
		t.Of = &of
	}
	if t.Shape == nil {
		return t
	}
	s := make(graph.Shape, len(t.Shape))
	for i, d := range t.Shape {
		s[i] = w.resolveDim(d)
	}
	t.Shape = s
	return t
}

func (w *walk) resolveDim(d graph.Dim) graph.Dim {
	switch {
	case d.Sym == "" && d.N >= 0:
		return d
	case d.Sym == "" || madeUp.MatchString(d.Sym):
		return w.fresh()
	}
	return w.dim(w.num(d))
}

// node walks one node. A panic is a broken invariant of this package; it must not take down a run over files that
// nobody vouches for.
func (w *walk) node(n *graph.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = nested{fmt.Errorf("node %q (%s): internal error: %v", n.Key(), n.OpName(), r)}
		}
	}()
	if w.steps++; w.steps > maxSteps {
		return nested{fmt.Errorf("node %q (%s): the model's loops nest too deep to be analysed", n.Key(), n.OpName())}
	}
	for _, v := range n.Outputs {
		if v != nil {
			delete(w.small, v)
			if !isConstant(v) {
				v.Const = nil
			}
		}
	}
	c := w.context(n)
	if err := c.infer(); err != nil {
		if w.lenient == 0 || isNested(err) {
			return c.wrap(err)
		}
		w.note("%v", c.wrap(err))
		c.giveUp()
	}
	c.publish()
	return nil
}

// nested marks an error that already names its node.
type nested struct{ error }

func isNested(err error) bool {
	_, ok := err.(nested)
	return ok
}

func (c *ctx) wrap(err error) error {
	if isNested(err) {
		return err
	}
	return nested{fmt.Errorf("node %q (%s): %w", c.n.Key(), c.n.OpName(), err)}
}

// note keeps a remark once.
func (w *walk) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(w.info.Notes) < maxNotes && !w.noted[text] {
		w.noted[text] = true
		w.info.Notes = append(w.info.Notes, text)
	}
}

// contradicted notes that a value is not what the file says.
func (w *walk) contradicted(v *graph.Value, decl, t graph.Type) {
	if w.stale[v] {
		return
	}
	if w.stale[v] = true; len(w.stale) <= maxStale {
		w.note("value %q is declared as %s and is %s", v.Key(), decl, t)
	}
}

// finish completes the report.
func (w *walk) finish() *Info {
	switch n := len(w.stale) - maxStale; {
	case n == 1:
		w.note("another value is declared otherwise than it is")
	case n > 1:
		w.note("%d more values are declared otherwise than they are", n)
	}
	for op, count := range w.unknown {
		w.info.Unknown = append(w.info.Unknown, OpCount{op, count})
	}
	slices.SortFunc(w.info.Unknown, func(a, b OpCount) int { return strings.Compare(a.Op, b.Op) })
	w.info.syms = w.symbols
	return w.info
}
