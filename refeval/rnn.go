package refeval

import "slices"

// rnnOps are recurrent layers.
func rnnOps() []entry {
	return []entry{
		op("GRU", func(c *Call) error { return c.recurrent(3, "Sigmoid", "Tanh") }),
		op("com.microsoft.DynamicQuantizeLSTM", dynamicQuantizeLSTM),
		op("LSTM", func(c *Call) error { return c.recurrent(4, "Sigmoid", "Tanh", "Tanh") }),
		op("RNN", func(c *Call) error { return c.recurrent(1, "Tanh") }),
	}
}

// net is a recurrent layer: its sizes and its operands.
type net struct {
	c                    *Call
	a                    accum
	steps, batch, in     int
	directions, hidden   int
	gates                int
	lens                 []int // of each sequence of the batch
	x, w, r, b, p        *Tensor
	h, cell              *Tensor // the states, [directions, batch, hidden]
	y                    *Tensor // [steps, directions, batch, hidden]
	acts                 []activation
	linear, inputForget  bool
	backward, batchFirst bool
	rounds8              bool // the state is rounded to 8 bits before it is multiplied
}

// recurrent evaluates a layer of so many gates, whose activations have names by default.
func (c *Call) recurrent(gates int, acts ...string) error { return c.layer(c.net(gates), acts...) }

// layer evaluates a layer whose operands are read.
func (c *Call) layer(n *net, acts ...string) error {
	n.acts = c.activations(acts, n.directions)
	for d := range n.directions {
		if n.x.F != nil {
			newPass[float32](n, d).run()
		} else {
			newPass[float64](n, d).run()
		}
	}
	c.Set(0, TensorValue(n.y))
	c.Set(1, TensorValue(n.h))
	c.Set(2, TensorValue(n.cell))
	if n.batchFirst {
		for i, perm := range [][]int{{2, 0, 1, 3}, {1, 0, 2}, {1, 0, 2}} {
			c.Set(i, TensorValue(c.reordered(c.out[i].Tensor, perm)))
		}
	}
	c.out = c.out[:min(len(c.out), max(len(c.Node.Outputs), 1))]
	return nil
}

// net reads the operands of a layer and makes its states.
func (c *Call) net(gates int) *net {
	n := &net{c: c, a: c.accum(), gates: gates, x: c.In(0), w: c.In(1), r: c.In(2), b: c.In(3)}
	if n.x.Rank() != 3 || n.w.Rank() != 3 || n.r.Rank() != 3 || n.x.I != nil {
		refuse("%s with weights %s and %s", n.x, n.w, n.r)
	}
	n.batchFirst = c.Int("layout") != 0
	n.linear, n.inputForget = c.Int("linear_before_reset") != 0, c.Int("input_forget") != 0
	n.backward = c.Str("direction") == "reverse"
	if n.batchFirst {
		n.x = c.reordered(n.x, []int{1, 0, 2})
	}
	n.steps, n.batch, n.in = n.x.Dims[0], n.x.Dims[1], n.x.Dims[2]
	n.directions, n.hidden = n.w.Dims[0], n.r.Dims[2]
	if gates == 4 {
		n.p = c.In(7)
	}
	n.check()
	n.lens = c.lengths(c.In(4), n.steps, n.batch)
	n.h, n.cell = n.state(c.In(5)), n.state(nil)
	if gates == 4 {
		n.cell = n.state(c.In(6))
	}
	n.y = c.Temp(n.x.Elem, []int{n.steps, n.directions, n.batch, n.hidden})
	return n
}

// check refuses operands of other sizes or types.
func (n *net) check() {
	rows := n.gates * n.hidden
	want := 1
	if n.c.Str("direction") == "bidirectional" {
		want = 2
	}
	ok := n.directions == want && slices.Equal(n.w.Dims, []int{want, rows, n.in}) &&
		slices.Equal(n.r.Dims, []int{want, rows, n.hidden}) &&
		(n.b == nil || n.b.Len() == want*2*rows) && (n.p == nil || n.p.Len() == want*3*n.hidden)
	for _, t := range []*Tensor{n.w, n.r, n.b, n.p} {
		ok = ok && (t == nil || t.Elem == n.x.Elem)
	}
	if !ok {
		refuse("%s with weights %s and %s in %d directions", n.x, n.w, n.r, want)
	}
}

// lengths returns how many steps each sequence has.
func (c *Call) lengths(t *Tensor, steps, batch int) []int {
	lens := make([]int, batch)
	for i := range lens {
		lens[i] = steps
	}
	if t == nil {
		return lens
	}
	given := t.ints()
	if len(given) != batch {
		refuse("%d lengths for a batch of %d", len(given), batch)
	}
	for i, l := range given {
		lens[i] = min(max(l, 0), steps)
	}
	return lens
}

// state returns a copy of an initial state with the directions first, zeros where there is none.
func (n *net) state(t *Tensor) *Tensor {
	dims := []int{n.directions, n.batch, n.hidden}
	if t == nil {
		return n.c.Temp(n.x.Elem, dims)
	}
	if sameType(n.x, t); n.batchFirst && t.Rank() == 3 {
		t = n.c.reordered(t, []int{1, 0, 2})
	}
	if !slices.Equal(t.Dims, dims) {
		refuse("an initial state %s, not %v", t, dims)
	}
	return n.c.Clone(t)
}

// reordered returns a copy of t with its dimensions in another order.
func (c *Call) reordered(t *Tensor, perm []int) *Tensor {
	own := strides(t.Dims)
	dims, from := make([]int, len(perm)), make([]int, len(perm))
	for i, p := range perm {
		dims[i], from[i] = t.Dims[p], own[p]
	}
	y := c.Temp(t.Elem, dims)
	copyBox(y, whole(y), t, layout{strides: from}, dims)
	return y
}
