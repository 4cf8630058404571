package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
)

// pair is a node of the first model and what became of it in the second; one of the two is nil where
// the other model has no such node.
type pair struct{ a, b *graph.Node }

// pairs finds the nodes of two models that are the same, by key and operator, then by operator and
// output, then by key alone.
func pairs(a, b *graph.Model) []pair {
	m := &matcher{of: map[*graph.Node]*graph.Node{}, taken: map[*graph.Node]bool{}}
	left, right := nodes(a), nodes(b)
	m.match(left, right, func(n *graph.Node) string { return n.Key() + "\x00" + n.OpName() })
	m.match(left, right, func(n *graph.Node) string { return scope(n) + "\x00" + n.OpName() + "\x00" + stem(n) })
	m.match(left, right, (*graph.Node).Key)
	var list []pair
	for _, n := range left {
		list = append(list, pair{n, m.of[n]})
	}
	for _, n := range right {
		if !m.taken[n] {
			list = append(list, pair{nil, n})
		}
	}
	return list
}

func nodes(m *graph.Model) []*graph.Node { return slices.Collect(m.Nodes()) }

func scope(n *graph.Node) string { return strings.Join(n.Graph.Path(), "/") }

// stem is the first output without the type that a rewriter appends to it.
func stem(n *graph.Node) string {
	if n.Out(0) == nil || n.OpName() == "Cast" {
		return n.LocalKey()
	}
	name := n.Out(0).Name
	for _, suffix := range []string{"_float16", "_bfloat16", "_float"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

type matcher struct {
	of    map[*graph.Node]*graph.Node
	taken map[*graph.Node]bool
}

// match pairs nodes that are still alone and have the same name, in graph order.
func (m *matcher) match(left, right []*graph.Node, name func(*graph.Node) string) {
	free := map[string][]*graph.Node{}
	for _, n := range right {
		if !m.taken[n] {
			free[name(n)] = append(free[name(n)], n)
		}
	}
	for _, n := range left {
		if k := name(n); m.of[n] == nil && len(free[k]) > 0 {
			m.of[n], m.taken[free[k][0]] = free[k][0], true
			free[k] = free[k][1:]
		}
	}
}

// nodes lists the nodes that differ.
func (r *Result) nodes(list []pair) {
	for _, p := range list {
		switch {
		case p.b == nil:
			r.Nodes = append(r.Nodes, Node{Change: Removed, Key: p.a.Key(), Op: p.a.OpName()})
		case p.a == nil:
			r.Nodes = append(r.Nodes, Node{Change: Added, Key: p.b.Key(), Op: p.b.OpName()})
		default:
			if d := details(p.a, p.b); len(d) > 0 && !(isConstant(p.a) && isConstant(p.b)) {
				r.Nodes = append(r.Nodes, Node{Changed, p.b.Key(), p.b.OpName(), d})
			}
		}
	}
}

// details tells how two nodes differ.
func details(a, b *graph.Node) (list []string) {
	if a.OpName() != b.OpName() {
		list = append(list, fmt.Sprintf("%s is now %s", a.OpName(), b.OpName()))
	}
	list = append(list, edges("input", a.Inputs, b.Inputs)...)
	list = append(list, edges("output", a.Outputs, b.Outputs)...)
	for _, x := range a.Attrs {
		y := b.Attr(x.Name)
		if y == nil {
			list = append(list, x.Name+" is gone")
		} else if p, q := attrText(x), attrText(y); p != q {
			list = append(list, fmt.Sprintf("%s is now %s, not %s", x.Name, q, p))
		}
	}
	for _, y := range b.Attrs {
		if a.Attr(y.Name) == nil {
			list = append(list, fmt.Sprintf("%s is now %s", y.Name, attrText(y)))
		}
	}
	return list
}

func edges(what string, a, b []*graph.Value) (list []string) {
	for i := range max(len(a), len(b)) {
		if x, y := name(a, i), name(b, i); x != y {
			list = append(list, fmt.Sprintf("%s %d is now %q, not %q", what, i, y, x))
		}
	}
	return list
}

func name(list []*graph.Value, i int) string {
	if i >= len(list) || list[i] == nil {
		return ""
	}
	return list[i].Name
}

// attrText prints the value of an attribute; graphs are compared node by node elsewhere.
func attrText(a *graph.Attr) string {
	switch a.Type {
	case graph.AttrFloat:
		return fmt.Sprintf("%.9g", a.F)
	case graph.AttrInt:
		return fmt.Sprint(a.I)
	case graph.AttrString:
		return fmt.Sprintf("%q", a.S)
	case graph.AttrFloats:
		return fmt.Sprint(a.Floats)
	case graph.AttrInts:
		return fmt.Sprint(a.Ints)
	case graph.AttrStrings:
		return fmt.Sprintf("%q", a.Strings)
	case graph.AttrTensor:
		return tensorText(a.Tensor)
	case graph.AttrTypeProto, graph.AttrTypeProtos:
		return fmt.Sprint(a.Types)
	}
	return a.Ref
}

// maxShown is how many elements of a tensor attribute are printed and compared.
const maxShown = 8

func tensorText(t *graph.Tensor) string {
	if t == nil {
		return ""
	}
	text := t.Type().String()
	if t.Len() > maxShown {
		return text + fmt.Sprintf(" (sum %x)", sumOf(t)[:8])
	}
	x, err := t.Float64s()
	if err != nil {
		return text
	}
	return text + fmt.Sprintf(" %.9g", x)
}
