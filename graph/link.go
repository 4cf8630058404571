package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// link turns names into edges: it defines the values of every scope, finds what each input means,
// sorts the nodes, and instantiates the functions at their calls.
func (m *Model) link() error {
	l := &linker{m: m, functions: map[string]*Function{}}
	for _, f := range m.Functions {
		key := functionKey(f.Domain, f.Name, f.Overload)
		if l.functions[key] != nil {
			return fmt.Errorf("two functions are named %s", f.Name)
		}
		l.functions[key] = f
	}
	for _, f := range m.Functions { // templates: edges, but no instances of what they call
		if err := l.template(f); err != nil {
			return fmt.Errorf("function %s: %w", f.Name, err)
		}
	}
	if err := l.graph(m.Graph); err != nil {
		return err
	}
	for g := range m.Graphs() {
		g.addUses()
	}
	for _, f := range m.Functions {
		f.Body.walk(func(g *Graph) bool { g.addUses(); return true })
	}
	return nil
}

type linker struct {
	m         *Model
	functions map[string]*Function
	calls     []string // functions being instantiated, outermost first
	made      int      // nodes of instances so far
	bare      bool     // linking a template
}

func functionKey(domain, name, overload string) string {
	if domain == "ai.onnx" {
		domain = ""
	}
	return domain + "\x00" + name + "\x00" + overload
}

// graph links one scope and the scopes below it.
func (l *linker) graph(g *Graph) error {
	if err := g.define(); err != nil {
		return err
	}
	for _, n := range g.Nodes {
		for _, s := range n.Subgraphs() {
			s.Owner, s.Attr = n, attrOf(n, s)
		}
		if err := l.node(n); err != nil {
			return n.wrap(err)
		}
	}
	if err := g.resolveOutputs(); err != nil {
		return err
	}
	return g.sortNodes()
}

func attrOf(n *Node, s *Graph) string {
	for _, a := range n.Attrs {
		if a.Graph == s {
			return a.Name
		}
		for i, b := range a.Graphs {
			if b == s {
				return fmt.Sprintf("%s[%d]", a.Name, i)
			}
		}
	}
	return ""
}

func (n *Node) wrap(err error) error {
	return fmt.Errorf("node %q (%s): %w", n.LocalKey(), printable(n.OpName()), err)
}

func (l *linker) node(n *Node) error {
	n.Inputs = make([]*Value, len(n.inNames))
	for i, name := range n.inNames {
		if name == "" {
			continue
		}
		v := n.Graph.Find(name)
		if v == nil && !n.Graph.isAbsent(name) {
			return fmt.Errorf("input %d: nothing defines %q", i, name)
		}
		n.Inputs[i] = v
	}
	n.inNames, n.outNames = nil, nil
	for _, s := range n.Subgraphs() {
		if err := l.graph(s); err != nil {
			return fmt.Errorf("%s: %w", s.Attr, err)
		}
	}
	n.setConstant()
	if f := l.functions[functionKey(n.Domain, n.Op, n.Overload)]; f != nil && !l.bare {
		return l.call(n, f)
	}
	return nil
}

// isAbsent tells whether the name is a function input that the call leaves out.
func (g *Graph) isAbsent(name string) bool {
	for s := g; s != nil; s = s.Outer() {
		if s.Kind == CallGraph {
			_, ok := s.absent[name]
			return ok
		}
	}
	return false
}

// define makes the values of the scope. Two definitions of one name are an error that names both
// places: what a reader of the name means would be anyone's guess.
func (g *Graph) define() error {
	for i, vi := range g.inInfos {
		if _, ok := g.absent[vi.Name]; ok {
			continue
		}
		v := &Value{Name: vi.Name, Graph: g, Input: true, Type: vi.Type, infos: []*ValueInfo{vi}}
		if old := g.add(v); old != nil {
			return old.twice(fmt.Sprintf("input %d", i))
		}
		g.Inputs = append(g.Inputs, v)
	}
	if err := g.defineInits(); err != nil {
		return err
	}
	for _, n := range g.Nodes {
		n.Outputs = make([]*Value, len(n.outNames))
		for i, name := range n.outNames {
			if name == "" {
				continue
			}
			n.Outputs[i] = &Value{Name: name, Graph: g, Producer: n, Index: i}
			if old := g.add(n.Outputs[i]); old != nil {
				return old.twice(n.place())
			}
		}
	}
	g.declare()
	return nil
}

// printable quotes an operator that is no word: damaged files hold line breaks and worse there.
func printable(op string) string {
	if strings.ContainsFunc(op, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return strconv.Quote(op)
	}
	return op
}

func (n *Node) place() string {
	return fmt.Sprintf("node %d (%s %q)", n.Index, printable(n.OpName()), n.Name)
}

func (g *Graph) defineInits() error {
	for i, v := range g.inits {
		if in := g.byName[v.Name]; in != nil && in.Input && in.Init == nil {
			in.Init, in.Const, g.inits[i] = v.Init, v.Init, in // IR below 4 lists initializers as inputs too
			continue
		}
		v.Const = v.Init
		if old := g.add(v); old != nil {
			return old.twice(fmt.Sprintf("initializer %d", i))
		}
	}
	for i, s := range g.sparse {
		v := &Value{Name: s.Values.Name, Graph: g, Sparse: s, Type: TensorOf(s.Values.Elem, ShapeOf(s.Dims...))}
		if in := g.byName[v.Name]; in != nil && in.Input {
			in.Sparse = s
			continue
		}
		if old := g.add(v); old != nil {
			return old.twice(fmt.Sprintf("sparse initializer %d", i))
		}
	}
	return nil
}

// add enters a value into its scope, or returns the one that has its name already.
func (g *Graph) add(v *Value) *Value {
	if old := g.byName[v.Name]; old != nil {
		return old
	}
	g.byName[v.Name] = v
	g.Values = append(g.Values, v)
	return nil
}

// twice is the error of a second definition.
func (v *Value) twice(place string) error {
	return fmt.Errorf("value %q is defined twice: by %s and by %s", v.Name, v.place(), place)
}

func (v *Value) place() string {
	switch {
	case v.Producer != nil:
		return v.Producer.place()
	case v.Input:
		return "an input"
	}
	return "an initializer"
}

// declare takes the types of value_info where nothing more certain is known.
func (g *Graph) declare() {
	for _, list := range [][]*ValueInfo{g.outInfos, g.infos} {
		for _, vi := range list {
			v := g.byName[vi.Name]
			if v == nil {
				continue
			}
			v.infos = append(v.infos, vi)
			if v.Type.Kind == KindUnknown {
				v.Type = vi.Type
			}
		}
	}
}

func (g *Graph) resolveOutputs() error {
	for i, vi := range g.outInfos {
		v := g.Find(vi.Name)
		if v == nil {
			if g.isAbsent(vi.Name) || (g.Kind == FunctionBody || g.Kind == CallGraph) && vi.Name == "" {
				g.Outputs = append(g.Outputs, nil)
				continue
			}
			return fmt.Errorf("output %d: nothing defines %q", i, vi.Name)
		}
		v.Output = v.Output || v.Graph == g
		g.Outputs = append(g.Outputs, v)
	}
	return nil
}

// addUses notes the readers of values. It runs once all scopes are sorted, so that uses stand in
// graph order.
func (g *Graph) addUses() {
	for _, n := range g.Nodes {
		for i, v := range n.Inputs {
			if v != nil {
				v.Uses = append(v.Uses, Use{n, i})
			}
		}
	}
}

// template links a function body without instantiating what it calls.
func (l *linker) template(f *Function) error {
	l.bare = true
	defer func() { l.bare = false }()
	f.proto = f.Body.cloneNames(nil)
	return l.graph(f.Body)
}

// maxInstances bounds the nodes that function calls expand to; calls of calls grow exponentially.
const maxInstances = 1 << 17

// call instantiates a function at its call.
func (l *linker) call(n *Node, f *Function) error {
	key := OpName(f.Domain, f.Name) + f.Overload
	if slices.Contains(l.calls, key) {
		return fmt.Errorf("function %s calls itself: %s", f.Name, strings.Join(append(l.calls, key), " > "))
	}
	if l.made += 1 + f.proto.size(); l.made > maxInstances {
		return fmt.Errorf("function calls expand to more than %d nodes", maxInstances)
	}
	l.calls = append(l.calls, key)
	defer func() { l.calls = l.calls[:len(l.calls)-1] }()
	g := f.proto.cloneNames(f.arguments(n))
	g.Kind, g.Owner, g.opsets, g.absent = CallGraph, n, f.Opsets, f.absentInputs(n)
	n.Call = g
	return l.graph(g)
}

// size counts the nodes of a graph and of the graphs in attributes below it.
func (g *Graph) size() int {
	total := len(g.Nodes)
	for _, n := range g.Nodes {
		for _, a := range n.Attrs {
			for _, s := range a.graphs() {
				total += s.size()
			}
		}
	}
	return total
}
