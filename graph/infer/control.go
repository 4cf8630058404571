package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func controlOps() map[string]operator {
	return map[string]operator{"If": branches, "Loop": loop, "Scan": scan, "SequenceMap": sequenceMap}
}

// call walks the instance of a function: what the caller knows flows in, what the body finds flows out.
func (c *ctx) call() error {
	g, next := c.n.Call, 0
	for _, v := range c.n.Inputs {
		if v == nil || next >= len(g.Inputs) {
			continue
		}
		c.pass(v, g.Inputs[next])
		next++
	}
	if err := c.graph(g); err != nil {
		return err
	}
	for i, v := range g.Outputs {
		if i < len(c.out) && v != nil {
			c.takeFrom(i, v)
		}
	}
	return nil
}

// pass copies all that is known of a value to an input of a graph below.
func (w *walk) pass(from, to *graph.Value) {
	to.Type, to.Const = from.Type, from.Const
	delete(w.small, to)
	if d := w.small[from]; d != nil {
		w.small[to] = d
	}
}

// takeFrom copies all that is known of a graph's output to output i.
func (c *ctx) takeFrom(i int, v *graph.Value) {
	c.setType(i, v.Type)
	if d := c.walk.small[v]; d != nil {
		c.data[i] = d
	}
	if v.Const != nil {
		if c.folded == nil {
			c.folded = make([]*graph.Tensor, len(c.out))
		}
		c.folded[i] = v.Const
	}
}

// branches walks both branches of an If. A constant condition takes one; what is wrong in the other, or in a
// branch that may never be taken, is only noted.
func branches(c *ctx) error {
	yes, no := c.n.Body("then_branch"), c.n.Body("else_branch")
	if yes == nil || no == nil {
		return c.errorf("a branch is missing")
	}
	cond := c.scalar(0)
	if cond.k == numInt {
		taken, dead := yes, no
		if cond.i == 0 {
			taken, dead = no, yes
		}
		if err := c.maybe(dead); err != nil {
			return err
		}
		if err := c.graph(taken); err != nil {
			return err
		}
		return c.branchOutputs(taken, taken)
	}
	if err := c.maybe(yes); err != nil {
		return err
	}
	if err := c.maybe(no); err != nil {
		return err
	}
	return c.branchOutputs(yes, no)
}

// maybe walks a graph that may never run.
func (c *ctx) maybe(g *graph.Graph) error {
	c.lenient++
	defer func() { c.lenient-- }()
	return c.graph(g)
}

func (c *ctx) branchOutputs(a, b *graph.Graph) error {
	if len(a.Outputs) != len(c.out) || len(b.Outputs) != len(c.out) {
		return c.errorf("the branches have %d and %d outputs, the node %d", len(a.Outputs), len(b.Outputs), len(c.out))
	}
	for i := range c.out {
		x, y := a.Outputs[i], b.Outputs[i]
		switch {
		case x == nil || y == nil:
		case x == y:
			c.takeFrom(i, x)
		default:
			c.setType(i, c.join(x.Type, y.Type))
			c.data[i] = joinData(c.walk.small[x], c.walk.small[y])
		}
	}
	return nil
}

// joinData keeps the elements that two branches agree on.
func joinData(a, b *data) *data {
	if a == nil || b == nil || a.elem != b.elem || !slices.Equal(a.dims, b.dims) || len(a.at) > maxSmall {
		return nil
	}
	out := &data{elem: a.elem, dims: a.dims, at: make([]num, len(a.at))}
	for i, x := range a.at {
		if x.equal(b.at[i]) {
			out.at[i] = x
		}
	}
	return out
}

// maxPasses bounds the walks over a body until its carried types stand still.
const maxPasses = 4

// carried walks a body until the types it carries from one pass to the next hold for every pass.
func (c *ctx) carried(g *graph.Graph, in []*graph.Value, from []graph.Type, out []*graph.Value) error {
	types := slices.Clone(from)
	start := c.made
	for pass := range maxPasses {
		for i, v := range in {
			c.enter(v, types[i])
		}
		if err := c.graph(g); err != nil {
			return err
		}
		stable := true
		for i, v := range out {
			if v == nil || holds(types[i], v.Type, start) {
				continue
			}
			stable = false
			types[i] = c.widen(types[i], v.Type, pass)
		}
		if stable {
			return nil
		}
	}
	return nil
}

// holds tells whether an input's type covers the output that becomes the next pass's input. A dimension that was
// opened since the symbol numbered start stands for any size.
func holds(in, out graph.Type, start int) bool {
	if in.Kind != out.Kind || in.Elem != out.Elem || in.Shape != nil && len(in.Shape) != len(out.Shape) || in.Shape != nil && out.Shape == nil {
		return false
	}
	for i, d := range in.Shape {
		if d != out.Shape[i] && !madeSince(d, start) {
			return false
		}
	}
	if in.Of == nil || out.Of == nil {
		return in.Of == out.Of
	}
	return holds(*in.Of, *out.Of, start)
}

// widen joins the types of two passes; in the end the whole shape is given up.
func (c *ctx) widen(a, b graph.Type, pass int) graph.Type {
	if a.Kind == graph.KindUnknown {
		return b
	}
	t := c.join(a, b)
	if pass < maxPasses-2 || t.Kind == graph.KindUnknown {
		return t
	}
	t.Shape = nil
	if t.Of != nil {
		t.Of = &graph.Type{Kind: t.Of.Kind, Elem: t.Of.Elem}
	}
	return t
}

// enter sets an input of a body whose value changes from pass to pass.
func (w *walk) enter(v *graph.Value, t graph.Type) {
	delete(w.small, v)
	v.Const = nil
	if t.Kind == graph.KindUnknown {
		t = w.declared[v]
	}
	v.Type = w.complete(t)
}

// loop has the inputs (trips, condition, carried …); its body (iteration, condition, carried …) yields
// (condition, carried …, scan outputs …).
func loop(c *ctx) error {
	g := c.n.Body("body")
	if g == nil {
		return c.errorf("the body is missing")
	}
	n := max(len(c.n.Inputs)-2, 0)
	if len(g.Inputs) != n+2 || len(g.Outputs) < n+1 || len(g.Outputs)-1 < len(c.out) {
		return c.errorf("the body has %d inputs and %d outputs for %d carried values and %d outputs",
			len(g.Inputs), len(g.Outputs), n, len(c.out))
	}
	scalar := func(e graph.ElemType, given graph.Type) graph.Type {
		if len(given.Shape) == 1 { // onnxruntime passes a vector of one on as it is
			return graph.TensorOf(e, given.Shape)
		}
		return graph.TensorOf(e, graph.Shape{})
	}
	c.enter(g.Inputs[0], scalar(graph.Int64, c.declared[g.Inputs[0]]))
	c.enter(g.Inputs[1], scalar(graph.Bool, c.declared[g.Inputs[1]]))
	from := make([]graph.Type, n)
	for i := range from {
		from[i] = c.in(i + 2)
	}
	if err := c.carried(g, g.Inputs[2:], from, g.Outputs[1:n+1]); err != nil {
		return err
	}
	c.loopOutputs(g, n)
	return nil
}

// loopOutputs joins the initial values, for no pass at all, with the carried ones, and stacks the scan outputs.
func (c *ctx) loopOutputs(g *graph.Graph, n int) {
	trips := c.trips(g)
	for i := range c.out {
		v := g.Outputs[i+1]
		switch {
		case v == nil:
		case i < n:
			c.setType(i, c.join(g.Inputs[i+2].Type, v.Type))
		case v.Type.Kind == graph.KindTensor:
			c.elem(i, v.Type.Elem)
			if v.Type.Shape != nil {
				c.set(i, append(graph.Shape{trips}, v.Type.Shape...))
			}
		}
	}
}

// trips is the number of passes, known where the trip count is constant and the condition stays true.
func (c *ctx) trips(g *graph.Graph) graph.Dim {
	count := c.scalar(0)
	first := c.scalar(1)
	always := !c.has(1) || first.k == numInt && first.i != 0
	last := g.Outputs[0]
	if d := c.dataOf(last, 1); d != nil && len(d.at) == 1 && d.at[0].k == numInt && d.at[0].i != 0 {
		if always && c.has(0) && count.k == numInt && count.i >= 0 {
			return graph.Dim{N: count.i}
		}
	} else if last != nil && last == g.Inputs[1] && always && c.has(0) && count.k == numInt && count.i >= 0 {
		return graph.Dim{N: count.i}
	}
	return c.fresh()
}

// scan slices its last inputs along an axis; its body yields states and slices of outputs. Version 8 has an
// optional vector of lengths in front and batches.
func scan(c *ctx) error {
	g, m := c.n.Body("body"), c.n.Int("num_scan_inputs", 0)
	if g == nil {
		return c.errorf("the body is missing")
	}
	first := 0
	if c.ver < 9 {
		first = 1
	}
	n := int64(len(c.n.Inputs)-first) - m
	if m < 1 || n < 0 || len(g.Inputs) != len(c.n.Inputs)-first || len(g.Outputs) < int(n) || len(g.Outputs) < len(c.out) {
		return c.errorf("the body does not fit %d inputs, of them %d scanned, and %d outputs", len(c.n.Inputs), m, len(c.out))
	}
	from := make([]graph.Type, n)
	for i := range from {
		from[i] = c.in(i + first)
		if first == 1 {
			from[i].Shape = tail(from[i].Shape, 1)
		}
	}
	steps, err := c.scanInputs(g, int(n), first)
	if err != nil {
		return err
	}
	if err := c.carried(g, g.Inputs[:n], from, g.Outputs[:n]); err != nil {
		return err
	}
	return c.scanOutputs(g, int(n), first, steps)
}

func tail(s graph.Shape, n int) graph.Shape {
	if len(s) < n {
		return nil
	}
	return s[n:]
}

// scanInputs sets the body's slices and returns the number of steps.
func (c *ctx) scanInputs(g *graph.Graph, n, first int) (graph.Dim, error) {
	axes := c.n.Ints("scan_input_axes")
	steps := c.fresh()
	for i := n; i < len(g.Inputs); i++ {
		t := c.in(i + first)
		if first == 1 {
			t.Shape = tail(t.Shape, 1)
		}
		if t.Shape != nil {
			a := int64(0)
			if i-n < len(axes) {
				a = axes[i-n]
			}
			k, err := c.axis(a, len(t.Shape))
			if err != nil {
				return steps, err
			}
			if steps, err = c.unify(steps, t.Shape[k]); err != nil {
				return steps, err
			}
			t.Shape = slices.Delete(slices.Clone(t.Shape), k, k+1)
		}
		c.enter(g.Inputs[i], t)
	}
	return steps, nil
}

func (c *ctx) scanOutputs(g *graph.Graph, n, first int, steps graph.Dim) error {
	axes := c.n.Ints("scan_output_axes")
	for i := range c.out {
		v := g.Outputs[i]
		if v == nil || v.Type.Kind != graph.KindTensor {
			continue
		}
		s := v.Type.Shape
		if i >= n && s != nil {
			a := int64(0)
			if i-n < len(axes) {
				a = axes[i-n]
			}
			k, err := c.axis(a, len(s)+1)
			if err != nil {
				return err
			}
			s = slices.Insert(slices.Clone(s), k, steps)
		}
		if first == 1 && s != nil {
			s = append(graph.Shape{c.scanBatch()}, s...)
		}
		c.elem(i, v.Type.Elem)
		c.set(i, s)
	}
	return nil
}

// scanBatch is the batch of a Scan of version 8.
func (c *ctx) scanBatch() graph.Dim {
	for i := 1; i < len(c.n.Inputs); i++ {
		if s := c.shape(i); len(s) > 0 {
			return s[0]
		}
	}
	return c.fresh()
}

// sequenceMap runs its body on each element; inputs that are no sequences are the same for all.
func sequenceMap(c *ctx) error {
	g := c.n.Body("body")
	if g == nil || len(g.Inputs) != len(c.n.Inputs) || len(g.Outputs) < len(c.out) {
		return c.errorf("the body is missing or does not fit the node")
	}
	for i, v := range c.n.Inputs {
		if v == nil {
			continue
		}
		if v.Type.Kind == graph.KindSequence && v.Type.Of != nil {
			c.enter(g.Inputs[i], *v.Type.Of)
			continue
		}
		c.pass(v, g.Inputs[i])
	}
	if err := c.graph(g); err != nil {
		return err
	}
	for i := range c.out {
		if v := g.Outputs[i]; v != nil && v.Type.Kind != graph.KindUnknown {
			c.setType(i, seqOf(v.Type))
		}
	}
	return nil
}
