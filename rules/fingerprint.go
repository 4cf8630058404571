package rules

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/walk"
)

// A fingerprint outlives a new export of the model: names do not count, nor what was added
// elsewhere, nor who else reads a value. It is made of the operators that a node is computed by,
// some steps back, and, since layers repeat themselves, of how many nodes before it are computed
// alike.

// stepsBack is how far a node's origin counts. Further back lies what other changes touch.
const stepsBack = 4

// prints are the structures of all nodes of a model.
type prints struct {
	known map[step]string
	alike map[*graph.Node]int // nodes before it with the same structure
}

// step is a node with the number of steps that are looked back from it.
type step struct {
	n    *graph.Node
	back int
}

// newPrints counts the nodes that are alike. Order within a graph is that of its file.
func newPrints(m *graph.Model) *prints {
	p := &prints{known: map[step]string{}, alike: map[*graph.Node]int{}}
	count := map[string]int{}
	for n := range m.Nodes() {
		s := p.structure(n, stepsBack)
		p.alike[n] = count[s]
		count[s]++
	}
	return p
}

// hashed joins texts to a number of 64 bits.
func hashed(texts ...string) string {
	h := fnv.New64a()
	for _, s := range texts {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// symmetric lists the operators whose operands exporters give in either order.
var symmetric = map[string]bool{"Add": true, "Mul": true, "Max": true, "Min": true, "Sum": true, "And": true, "Or": true, "Equal": true}

// structure hashes the operators that a node is computed by, some steps back.
func (p *prints) structure(n *graph.Node, back int) string {
	at := step{n, back}
	if s, ok := p.known[at]; ok {
		return s
	}
	list := []string{n.OpName()}
	for i, v := range n.Inputs {
		if v != nil && slices.Index(n.Inputs, v) < i { // a square is no product
			list = append(list, "the same")
			continue
		}
		list = append(list, p.operand(v, back))
	}
	if symmetric[n.OpName()] {
		slices.Sort(list[1:])
	}
	s := hashed(list...)
	p.known[at] = s
	return s
}

// operand describes what a node reads. Of a constant the number counts where there is but one:
// weights change with every training.
func (p *prints) operand(v *graph.Value, back int) string {
	if v == nil {
		return ""
	}
	if t := walk.Constant(v); t != nil {
		if t.Len() != 1 {
			return fmt.Sprintf("constant %s %d", t.Elem, len(t.Dims))
		}
		if x, ok := walk.Scalar(v); ok {
			return "constant " + strconv.FormatFloat(x, 'g', 5, 64)
		}
		return "constant " + t.Elem.String()
	}
	v = walk.Plain(v)
	m := walk.Maker(v)
	switch {
	case m == nil:
		return "input " + elemOf(v)
	case back == 0:
		return m.OpName()
	}
	return p.structure(m, back-1)
}

func elemOf(v *graph.Value) string {
	if v == nil {
		return ""
	}
	return v.Type.Elem.String()
}

// fingerprint identifies a finding by its rule, its kind and its place.
func (p *Pass) fingerprint(f *Finding) string {
	list := []string{f.Rule, f.Kind.String()}
	if f.Node == nil {
		return hashed(append(list, givenTo(f.Value)...)...)
	}
	if p.prints == nil {
		p.prints = newPrints(p.Model)
	}
	for g := f.Node.Graph; g.Owner != nil; g = g.Owner.Graph {
		list = append(list, g.Owner.OpName(), g.Attr)
	}
	list = append(list, p.prints.structure(f.Node, stepsBack), strconv.Itoa(p.prints.alike[f.Node]))
	return hashed(append(list, roleOf(f.Node, f.Value))...)
}

// roleOf tells what a value is to a node: one of its results, or of its operands.
func roleOf(n *graph.Node, v *graph.Value) string {
	switch {
	case v == nil:
		return ""
	case v.Producer == n:
		return "result " + strconv.Itoa(v.Index)
	case symmetric[n.OpName()]:
		return "operand"
	}
	return "operand " + strconv.Itoa(slices.Index(n.Inputs, v))
}

// givenTo describes an input of the model by its type and by what reads it.
func givenTo(v *graph.Value) []string {
	if v == nil {
		return nil
	}
	var ops []string
	uses, _ := walk.Flow(v)
	for _, u := range uses {
		ops = append(ops, fmt.Sprint(u.Node.OpName(), u.Index))
	}
	slices.Sort(ops)
	return append([]string{v.Type.Elem.String(), strconv.Itoa(len(v.Type.Shape))}, slices.Compact(ops)...)
}
