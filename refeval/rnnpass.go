package refeval

import "github.com/amplint/amplint/graph"

// pass is one direction of a recurrent layer.
type pass[T floating] struct {
	*net
	dir        int
	backward   bool
	r          []factor[T] // of the direction: of all gates, or of the last of three apart
	b, p       []T         // of the direction; either may be nil
	h, cell    []T         // [batch, hidden]
	x          []T         // the products of all inputs with the weights, [steps, batch, gates*hidden]
	g, product []T         // room for one step
	acts       []activation
}

// elems returns the elements of a tensor of floats or doubles.
func elems[T floating](t *Tensor) []T {
	if t == nil {
		return nil
	}
	var list any = t.D
	if t.F != nil {
		list = t.F
	}
	return list.([]T)
}

// part returns the elements that belong to a direction.
func part[T floating](t *Tensor, dir, directions int) []T {
	if t == nil {
		return nil
	}
	n := t.Len() / directions
	return elems[T](t)[dir*n : (dir+1)*n]
}

func newPass[T floating](n *net, dir int) *pass[T] {
	d := n.directions
	p := &pass[T]{net: n, dir: dir, backward: n.backward || dir == 1,
		r: recurrence(n, part[T](n.r, dir, d)), b: part[T](n.b, dir, d), p: part[T](n.p, dir, d),
		h: part[T](n.h, dir, d), cell: part[T](n.cell, dir, d)}
	each := len(n.acts) / d
	p.acts = n.acts[dir*each : (dir+1)*each]
	rows := n.gates * n.hidden
	x := n.c.Temp(n.x.Elem, []int{n.steps, n.batch, rows})
	p.x = elems[T](x)
	timesTurned(n.c, p.x, elems[T](n.x), part[T](n.w, dir, d), n.steps*n.batch, rows, n.in)
	p.g, p.product = make([]T, n.batch*rows), make([]T, n.batch*rows)
	return p
}

// recurrence lays out the weights of the state. The last gate of a GRU sees another state than the first two.
func recurrence[T floating](n *net, r []T) []factor[T] {
	k := n.hidden
	if n.gates == 3 {
		return []factor[T]{newFactor(n.c, r[:2*k*k], 2*k, k, n.steps), newFactor(n.c, r[2*k*k:], k, k, n.steps)}
	}
	return []factor[T]{newFactor(n.c, r, n.gates*k, k, n.steps)}
}

// timesTurned sets dst to the product of x, m rows of k, and the transpose of w, n rows of k.
func timesTurned[T floating](c *Call, dst, x, w []T, m, n, k int) {
	if f, ok := any(dst).([]float32); ok {
		c.gemm(f, matrix{any(x).([]float32), k, 1}, matrix{any(w).([]float32), 1, k}, m, n, k)
		return
	}
	for i := range m {
		for j := range n {
			var s T
			for p := range k {
				s += x[i*k+p] * w[j*k+p]
			}
			dst[i*n+j] = s
		}
	}
}

// run takes the steps. A sequence that is over keeps its states, and its outputs stay zero.
func (p *pass[T]) run() {
	rows, y := p.gates*p.hidden, elems[T](p.y)
	h, cell := make([]T, len(p.h)), make([]T, len(p.cell))
	for s := range p.steps {
		for b := range p.batch {
			if s < p.lens[b] {
				copy(p.g[b*rows:(b+1)*rows], p.x[(p.time(s, b)*p.batch+b)*rows:])
			}
		}
		copy(h, p.h)
		copy(cell, p.cell)
		p.advance(h, cell)
		for b := range p.batch {
			if s >= p.lens[b] {
				continue
			}
			from, to := b*p.hidden, (b+1)*p.hidden
			copy(p.h[from:to], h[from:to])
			copy(p.cell[from:to], cell[from:to])
			copy(y[((p.time(s, b)*p.directions+p.dir)*p.batch+b)*p.hidden:], h[from:to])
		}
	}
}

// time returns the step of the input that a sequence is at.
func (p *pass[T]) time(s, b int) int {
	if p.backward {
		return p.lens[b] - 1 - s
	}
	return s
}

// advance takes one step from the products in g, and changes the states.
func (p *pass[T]) advance(h, cell []T) {
	switch p.gates {
	case 1:
		p.total(h)
		copy(h, p.act(0, p.g))
	case 3:
		p.gru(h)
	case 4:
		p.total(h)
		p.lstm(h, cell)
	}
}

// total adds the products of the state and both biases to all gates.
func (p *pass[T]) total(h []T) {
	rows := p.gates * p.hidden
	p.r[0].times(p.product, p.factor(h), p.batch)
	p.add(p.g, p.product)
	if p.b == nil {
		return
	}
	bias := make([]T, rows)
	for i := range bias {
		bias[i] = p.b[i] + p.b[rows+i]
	}
	roundReal(p.a, bias)
	for i := range p.g {
		p.g[i] += bias[i%rows]
	}
	roundReal(p.a, p.g)
}

// factor returns the state as its weights multiply it.
func (p *pass[T]) factor(h []T) []T {
	if f, ok := any(h).([]float32); ok && p.rounds8 {
		return elems[T](p.c.rounded8(&Tensor{Elem: graph.Float, Dims: []int{len(f)}, F: f}))
	}
	return h
}

// add adds y to x and rounds.
func (p *pass[T]) add(x, y []T) {
	for i, v := range y {
		x[i] += v
	}
	roundReal(p.a, x)
}

// times multiplies x by y and rounds.
func (p *pass[T]) times(x, y []T) []T {
	for i, v := range y {
		x[i] *= v
	}
	roundReal(p.a, x)
	return x
}

// act applies an activation in place.
func (p *pass[T]) act(i int, x []T) []T {
	f := p.acts[min(i, len(p.acts)-1)]
	for k, v := range x {
		x[k] = T(f(float64(v)))
	}
	roundReal(p.a, x)
	return x
}

// gate copies one gate of all sequences out of rows of so many.
func (p *pass[T]) gate(from []T, k, gates int) []T {
	out := make([]T, p.batch*p.hidden)
	for b := range p.batch {
		copy(out[b*p.hidden:(b+1)*p.hidden], from[(b*gates+k)*p.hidden:])
	}
	return out
}

// vector repeats part k of a bias or a peephole for all sequences; nil stays nil.
func (p *pass[T]) vector(from []T, k int) []T {
	if from == nil {
		return nil
	}
	out := make([]T, p.batch*p.hidden)
	for b := range p.batch {
		copy(out[b*p.hidden:(b+1)*p.hidden], from[k*p.hidden:])
	}
	return out
}

// lstm has the gates input, output, forget and cell.
func (p *pass[T]) lstm(h, cell []T) {
	in, out := p.gate(p.g, 0, 4), p.gate(p.g, 1, 4)
	forget, next := p.gate(p.g, 2, 4), p.gate(p.g, 3, 4)
	p.peep(in, cell, 0)
	p.act(0, in)
	if p.inputForget {
		for i, v := range in {
			forget[i] = 1 - v
		}
		roundReal(p.a, forget)
	} else {
		p.peep(forget, cell, 2)
		p.act(0, forget)
	}
	p.times(cell, forget)
	p.add(cell, p.times(p.act(1, next), in))
	p.peep(out, cell, 1)
	p.act(0, out)
	copy(h, cell)
	p.times(p.act(2, h), out)
}

// peep lets a gate see the cell.
func (p *pass[T]) peep(gate, cell []T, k int) {
	if w := p.vector(p.p, k); w != nil {
		p.add(gate, p.times(w, cell))
	}
}

// gru has the gates update, reset and hidden.
func (p *pass[T]) gru(h []T) {
	n := p.hidden
	update, reset, next := p.gate(p.g, 0, 3), p.gate(p.g, 1, 3), p.gate(p.g, 2, 3)
	p.r[0].times(p.product[:p.batch*2*n], h, p.batch)
	for k, gate := range [][]T{update, reset} {
		p.add(gate, p.gate(p.product, k, 2))
		p.add(gate, p.vector(p.b, k))
		p.add(gate, p.vector(p.b, 3+k))
		p.act(0, gate)
	}
	state := append([]T{}, h...)
	if !p.linear {
		p.times(state, reset)
	}
	hidden := make([]T, len(h))
	p.r[1].times(hidden, state, p.batch)
	p.add(hidden, p.vector(p.b, 5))
	if p.linear {
		p.times(hidden, reset)
	}
	p.add(next, hidden)
	p.add(next, p.vector(p.b, 2))
	p.act(1, next)
	p.times(h, update)
	for i, z := range update {
		update[i] = 1 - z
	}
	roundReal(p.a, update)
	p.add(h, p.times(next, update))
}
