package pattern

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
)

// finder holds what is known of the values while a model is read.
type finder struct {
	set    *Set
	ids    map[*graph.Value]*graph.Value // the first value computed in the same way
	lows   map[*graph.Tensor]float64
	prods  map[*graph.Value]*product
	roots  map[factor]*graph.Value // values that are a root of another
	depth  int
	scalar map[*graph.Tensor]*float64
	zero   map[*graph.Value]bool // what vanishes has found
	needs  []*graph.Value        // what has to be at least 0 for one value to be below another, see spans

	through map[*graph.Value]*graph.Value // where long ways through nodes that change no number end
}

// longWay is from how many nodes on it is kept where a way through them ends: values of a chain each begin one.
const longWay = 8

// number gives every value its representative: the first value that is computed by the same
// operator, with the same attributes, from the same values. The other branch of an If holds none,
// nor does what follows a node for its bodies: those are not computed when theirs are.
func (f *finder) number(m *graph.Model) { f.numberIn(m.Graph, nil) }

// scope holds the first values of a graph by what computes them, and sees those of the graphs around it.
type scope struct {
	first map[string]*graph.Value
	outer *scope
}

func (s *scope) find(key string) *graph.Value {
	for ; s != nil; s = s.outer {
		if v := s.first[key]; v != nil {
			return v
		}
	}
	return nil
}

func (f *finder) numberIn(g *graph.Graph, outer *scope) {
	s := &scope{map[string]*graph.Value{}, outer}
	for _, n := range g.Nodes {
		for _, body := range n.Subgraphs() {
			f.numberIn(body, s)
		}
		key := f.key(n)
		for i, o := range n.Outputs {
			if o == nil {
				continue
			}
			f.ids[o] = o
			if key == "" {
				continue
			}
			k := fmt.Sprintf("%s#%d", key, i)
			if first := s.find(k); first != nil {
				f.ids[o] = first
			} else {
				s.first[k] = o
			}
		}
	}
}

// random are the operators that give another result each time.
const random = " RandomNormal RandomNormalLike RandomUniform RandomUniformLike Multinomial Bernoulli "

// key spells what a node computes, "" where two equal spellings may differ in value.
func (f *finder) key(n *graph.Node) string {
	if len(n.Subgraphs()) > 0 || strings.Contains(random, " "+n.Op+" ") {
		return ""
	}
	var b strings.Builder
	b.WriteString(n.OpName())
	if axes, all, ok := Axes(n); ok && strings.HasPrefix(n.Op, "Reduce") && n.In(0) != nil { // however the axes are spelled
		fmt.Fprintf(&b, "%v%v%d|%s", axes, all, n.Int("keepdims", 1), f.name(n.In(0)))
		return b.String()
	}
	for _, a := range n.Attrs {
		if a.Tensor != nil || a.Sparse != nil || a.Tensors != nil {
			return ""
		}
	}
	b.WriteString(attrs(n))
	names := make([]string, len(n.Inputs))
	for i, in := range n.Inputs {
		names[i] = f.name(in)
	}
	switch n.OpName() {
	case "Add", "Mul", "Max", "Min", "Sum", "And", "Or", "Equal":
		slices.Sort(names) // these do not ask for the order
	}
	for _, s := range names {
		b.WriteByte('|')
		b.WriteString(s)
	}
	return b.String()
}

// attrs spells the attributes of a node that holds no tensors.
func attrs(n *graph.Node) string {
	var b strings.Builder
	for _, a := range n.Attrs {
		fmt.Fprintf(&b, ";%s=%v,%v,%q,%v,%v,%q", a.Name, a.F, a.I, a.S, a.Floats, a.Ints, a.Strings)
	}
	return b.String()
}

// name spells a value: constants of one element by their number, others by their representative.
func (f *finder) name(v *graph.Value) string {
	if v == nil {
		return ""
	}
	v = f.same(v)
	if c, ok := f.number1(v); ok {
		return fmt.Sprintf("=%v:%v", c, v.Const.Dims)
	}
	return fmt.Sprintf("%p", v)
}

// same looks through nodes that change no number, and takes the representative.
func (f *finder) same(v *graph.Value) *graph.Value {
	from, steps := v, 0
	for ; ; steps++ {
		if end := f.through[v]; end != nil {
			v = end
			break
		}
		in := f.step(v)
		if in == nil {
			break
		}
		v = in
	}
	if steps >= longWay {
		f.through[from] = v
	}
	if id := f.ids[v]; id != nil {
		return id
	}
	return v
}

// step looks through the node that gives a value where it changes no number, nil where it does.
func (f *finder) step(v *graph.Value) *graph.Value {
	n := v.Producer
	if n == nil || v.Const != nil || n.In(0) == nil {
		return nil
	}
	if in := f.joined(v); in != nil {
		return in
	}
	if v.Index != 0 {
		return nil
	}
	if passes(n) {
		return n.In(0)
	}
	if in := f.neutral(v); in != nil {
		return in
	}
	if f.recast(n) || slicesAll(n) {
		return n.In(0)
	}
	return returned(v, passes)
}

// recast tells whether a node casts to integers what was cast from integers, and cut off at whole numbers at most.
func (f *finder) recast(n *graph.Node) bool {
	if n.OpName() != "Cast" || !graph.ElemType(n.Int("to", 0)).IsInt() {
		return false
	}
	for v := n.In(0); v != nil && v.Producer != nil && v.Const == nil; v = v.Producer.In(0) {
		k := v.Producer
		switch k.OpName() {
		case "Cast":
			if x := k.In(0); x != nil && x.Type.Elem.IsInt() {
				return true
			}
		case "Clip", "Max", "Min":
			for i := 1; i < len(k.Inputs); i++ {
				if c, ok := f.number1(k.In(i)); k.In(i) != nil && (!ok || c != math.Trunc(c)) {
					return false
				}
			}
			if k.Attr("min") != nil || k.Attr("max") != nil {
				return false
			}
		case "Identity", "Reshape", "Squeeze", "Unsqueeze":
		default:
			return false
		}
	}
	return false
}

// slicesAll tells whether a Slice takes all elements in their order, as an index that adds an axis is spelled.
func slicesAll(n *graph.Node) bool {
	if n.OpName() != "Slice" || n.Out(0) == nil || !settled(n.In(0).Type.Shape) || !slices.Equal(n.In(0).Type.Shape, n.Out(0).Type.Shape) {
		return false
	}
	s := n.In(4)
	return s == nil || len(fewInts(s)) > 0 && !slices.ContainsFunc(fewInts(s), func(step int64) bool { return step != 1 })
}

// neutral returns x where v is x + 0, x - 0, x · 1, x / 1 or max(x, -Inf), of the same shape.
func (f *finder) neutral(v *graph.Value) *graph.Value {
	n := v.Producer
	a, b := n.In(0), n.In(1)
	if n.OpName() == "Clip" && f.unbounded(n) {
		return a
	}
	if b == nil || n.Domain != "" || v.Type.Shape == nil || !v.Type.Elem.IsFloat() {
		return nil
	}
	if n.Op == "Where" {
		return f.chosen(n)
	}
	want := 0.0
	switch n.Op {
	case "Mul", "Div":
		want = 1
	case "Max":
		want = math.Inf(-1)
	case "Min":
		want = math.Inf(1)
	case "Add", "Sub":
	default:
		return nil
	}
	if (a.Const != nil || f.vanishes(a)) && n.Op != "Sub" && n.Op != "Div" {
		a, b = b, a
	}
	c, ok := f.number1(b)
	if want == 0 && f.vanishes(b) {
		c, ok = 0, true
	}
	if !ok || len(n.Inputs) != 2 || c != want || !slices.Equal(a.Type.Shape, v.Type.Shape) {
		return nil
	}
	for _, d := range v.Type.Shape {
		if !d.Known() && d.Sym == "" {
			return nil
		}
	}
	return a
}

// unbounded tells whether a Clip cuts nothing off.
func (f *finder) unbounded(n *graph.Node) bool {
	for i, name := range []string{"", "min", "max"} {
		if n.Attr(name) != nil && math.Abs(float64(n.Attr(name).F)) < math.MaxFloat32 {
			return false
		}
		if b := n.In(i); i > 0 && b != nil && !f.infinite(b) {
			return false
		}
	}
	return true
}

// chosen returns the branch that a Where with a constant condition takes, if it has the same shape.
func (f *finder) chosen(n *graph.Node) *graph.Value {
	c, ok := f.number1(n.In(0))
	if !ok || n.In(2) == nil {
		return nil
	}
	x := n.In(2)
	if c != 0 {
		x = n.In(1)
	}
	if !settled(x.Type.Shape) || !slices.Equal(x.Type.Shape, n.Out(0).Type.Shape) {
		return nil
	}
	return x
}

// vanishes tells whether a value is 0 times another. It is asked of both operands of every sum, back through all
// that may change no number: found anew each time, sums of sums would take time without end.
func (f *finder) vanishes(v *graph.Value) bool {
	yes, known := f.zero[v]
	if !known {
		n := f.narrow(v).Producer
		yes = n != nil && v.Const == nil && n.OpName() == "Mul" && f.timesZero(n)
		f.zero[v] = yes
	}
	return yes
}

// unchanged tells whether the node hands on numbers and their type: it is an Identity, or a Cast to the type
// that a float already has.
func unchanged(n *graph.Node) bool {
	switch n.OpName() {
	case "Identity":
		return true
	case "Cast":
		return n.In(0) != nil && n.Out(0) != nil && n.In(0).Type.Elem == n.Out(0).Type.Elem && n.In(0).Type.Elem.IsFloat()
	}
	return false
}

// passes tells whether the node hands its first input on unchanged, but for the rounding of a Cast.
func passes(n *graph.Node) bool {
	switch n.OpName() {
	case "Identity":
		return true
	case "Dropout":
		return n.In(2) == nil && n.Attr("is_test") == nil
	case "CastLike":
		x, like := n.In(0), n.In(1)
		return x != nil && like != nil && x.Type.Elem.IsFloat() && like.Type.Elem.IsFloat() && like.Type.Elem.Bits() >= 16
	case "Cast":
		x, to := n.In(0), graph.ElemType(n.Int("to", 0))
		return x != nil && (to.IsFloat() && to.Bits() >= 16 && x.Type.Elem != graph.String || to == x.Type.Elem)
	}
	return false
}

// maxUniform is the number of elements up to which a constant is asked whether all are one number.
const maxUniform = 4096

// number1 returns the value of a constant all of whose elements are one number.
func (f *finder) number1(v *graph.Value) (float64, bool) {
	if v == nil || v.Const == nil || v.Const.Elem == graph.String || v.Const.Len() < 1 || v.Const.Len() > maxUniform {
		return 0, false
	}
	t := v.Const
	c, ok := f.scalar[t]
	if !ok {
		c = uniform(t)
		f.scalar[t] = c
	}
	if c == nil {
		return 0, false
	}
	return *c, true
}

// uniform returns the number that all elements are, nil where they differ.
func uniform(t *graph.Tensor) *float64 {
	x, err := t.Float64s()
	if err != nil || len(x) == 0 {
		return nil
	}
	for _, c := range x {
		if c != x[0] {
			return nil
		}
	}
	return &x[0]
}

// narrow looks through what changes no number, and through copies along an axis: a factor, or a summand,
// is copied to the shape of the others anyway.
func (f *finder) narrow(v *graph.Value) *graph.Value {
	for {
		v = f.same(v)
		n := v.Producer
		if n == nil || v.Const != nil || n.In(0) == nil || n.OpName() != "Expand" && !(n.OpName() == "Tile" && repeatsOnes(n)) {
			return v
		}
		v = n.In(0)
	}
}

// shaped looks through nodes that only change the shape, too. What it returns has the same
// elements as v, in the same order, or repeated.
func (f *finder) shaped(v *graph.Value) *graph.Value {
	for {
		v = f.same(v)
		n := v.Producer
		if n == nil || v.Const != nil || n.In(0) == nil {
			return v
		}
		switch n.OpName() {
		case "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Expand":
			v = n.In(0)
		case "Tile":
			if !repeatsOnes(n) {
				return v
			}
			v = n.In(0)
		default:
			return v
		}
	}
}
