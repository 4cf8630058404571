package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// recurrence iterates the moments of the units of a recurrent layer in time: those of the sums under the
// activations follow from the weights, as if all terms varied by their own, those of gates and states by
// quadrature, as if all factors did. Peepholes are left out.
type recurrence struct {
	op           string
	units, gates int
	steps        int  // in time
	settled      bool // steps are all that was looked at, the last one stands for all
	coupled      bool // an LSTM's forget gate is 1 less its input gate
	late         bool // a GRU resets the product with the state, not the state

	outs [3]*moments // all steps, the last one, and the last cells, of all directions
}

// longest is the number of steps in time after which a layer is taken to have settled.
const longest = 16

// maxRecurrent limits the products of weights and states that are computed for one layer.
const maxRecurrent = 1 << 26

// recurrentMoments returns the moments of output i of an LSTM, a GRU or an RNN.
func (c *call) recurrentMoments(i int) *moments {
	if c.recurrence == nil {
		c.recurrence = c.recur()
	}
	if m := c.recurrence.outs[i%len(c.recurrence.outs)]; m != nil {
		return m
	}
	return c.byBounds(i)
}

// recur runs all directions of a layer; without constant weights of a size to be read again at each step it
// estimates nothing.
func (c *call) recur() *recurrence {
	r := &recurrence{op: c.n.Op, gates: map[string]int{"LSTM": 4, "GRU": 3, "RNN": 1}[c.n.Op]}
	w, r1 := c.recurrentWeights(1), c.recurrentWeights(2)
	if w == nil || r1 == nil || !c.usual(map[string][]string{"LSTM": {"Sigmoid", "Tanh", "Tanh"}, "GRU": {"Sigmoid", "Tanh"}, "RNN": {"Tanh"}}[c.n.Op]...) {
		return r
	}
	directions, ins := int(w.dims[0]), int(w.dims[2])
	if r.units = int(r1.dims[2]); int(r1.dims[1]) != r.gates*r.units || w.dims[1] != r1.dims[1] || r1.dims[0] != w.dims[0] {
		return r
	}
	r.coupled, r.late = c.n.Int("input_forget", 0) != 0, c.n.Int("linear_before_reset", 0) != 0
	r.timed(c, len(r1.x))
	x := c.features(ins)
	var list []*states
	for d := range directions {
		list = append(list, r.direction(c, d, x, w, r1))
	}
	r.gather(c, list)
	return r
}

// timed sets the number of steps. A state that comes from elsewhere, of which nothing is known, is that of a
// layer that has run before.
func (r *recurrence) timed(c *call, weights int) {
	n := c.steps()
	r.settled = n > longest || c.has(5) && c.in[5].basis != Constant && c.in[5].basis != Declared && c.in[5].basis != Observed
	if r.steps = longest; !r.settled {
		r.steps = int(n)
	}
	if most := max(maxRecurrent/max(weights, 1), 4); r.steps > most {
		r.steps, r.settled = most, true
	}
}

// matrices are the weights of all directions, as they lie in memory, and their dimensions.
type matrices struct {
	dims []int64
	x    []float32
}

// recurrentWeights reads the weights of all directions, nil where they are not constant or too many.
func (c *call) recurrentWeights(i int) *matrices {
	v := c.n.In(i)
	if v == nil {
		return nil
	}
	dims, ok := v.Type.Shape.Ints()
	if !ok || len(dims) != 3 || count(v.Type.Shape) > maxRecurrent/4 {
		return nil
	}
	x := c.p.inMemory(v, 8)
	if len(x) != count(v.Type.Shape) || len(x) == 0 {
		return nil
	}
	return &matrices{dims, x}
}

// inMemory returns the elements of a constant, or of rows of constants that are put together, as exporters
// bring gates into the order of the standard; nil for anything else.
func (p *pass) inMemory(v *graph.Value, depth int) []float32 {
	if v == nil || p.moving[v] || depth == 0 {
		return nil
	}
	if v.Const != nil {
		return floats(v.Const)
	}
	n := v.Producer
	if n == nil || n.In(0) == nil {
		return nil
	}
	switch n.OpName() {
	case "Identity", "Unsqueeze", "Squeeze", "Reshape", "Flatten":
		return p.inMemory(n.In(0), depth-1)
	case "Concat":
		var x []float32
		if n.Int("axis", 0) != 0 {
			return nil
		}
		for _, in := range n.Inputs {
			part := p.inMemory(in, depth-1)
			if part == nil {
				return nil
			}
			x = append(x, part...)
		}
		return x
	case "Slice":
		return p.rowsOf(n, depth)
	}
	return nil
}

// floats reads a constant that is not too large, nil where it cannot.
func floats(t *graph.Tensor) []float32 {
	if t.Len() > maxRecurrent/4 {
		return nil
	}
	x, err := readFloats(t)
	if err != nil {
		return nil
	}
	return x
}

// rowsOf is inMemory for a slice along the first axis.
func (p *pass) rowsOf(n *graph.Node, depth int) []float32 {
	dims, known := n.In(0).Type.Shape.Ints()
	starts, ends, axes, steps, ok := (&call{p: p, n: n}).slices(len(dims))
	if !ok || len(starts) != 1 || axes[0] != 0 || steps[0] != 1 || !known || len(dims) == 0 || dims[0] == 0 {
		return nil
	}
	x := p.inMemory(n.In(0), depth-1)
	from, to := starts[0], min(ends[0], dims[0])
	row := int64(len(x)) / dims[0]
	if x == nil || from < 0 || to < from {
		return nil
	}
	return x[from*row : to*row]
}

// features are the moments of the input's features.
func (c *call) features(n int) *moments {
	x := c.mom(0)
	keep := make([]bool, len(x.dims))
	if len(keep) > 0 {
		keep[len(keep)-1] = true
	}
	if x = x.collapse(keep); len(x.mean) != n {
		x = x.flat().repeated(n)
	}
	return x
}

// states are the moments of the units of one direction.
type states struct {
	h, cells, all *moments // the state, an LSTM's cells, and the state over all steps
}

// direction iterates one direction. What the input adds under the activations is the same at each step.
func (r *recurrence) direction(c *call, d int, x *moments, w, rec *matrices) *states {
	rows := r.gates * r.units
	in := newSums(rows, 0)
	if c.x(0).Hull().Lo >= 0 {
		in.rho = common
	}
	for i, e := range w.x[d*rows*len(x.mean) : (d+1)*rows*len(x.mean)] {
		in.add(i/len(x.mean), float64(e), 1, x.mean[i%len(x.mean)], x.vari[i%len(x.mean)])
	}
	base, late := in.moments(), make([]float64, rows)
	if b := c.p.inMemory(c.n.In(3), 8); len(b) >= (d+1)*2*rows {
		for i, e := range b[d*2*rows : (d+1)*2*rows] {
			switch {
			case i < rows:
				base.mean[i] += float64(e)
			case r.late && i-rows >= 2*r.units:
				late[i-rows] = float64(e)
			default:
				base.mean[i-rows] += float64(e)
			}
		}
	}
	return r.iterate(c, base, late, rec.x[d*rows*r.units:(d+1)*rows*r.units])
}

// iterate runs the steps until nothing changes.
func (r *recurrence) iterate(c *call, base *moments, late []float64, rec []float32) *states {
	s := &states{h: c.initial(5).repeated(r.units), cells: c.initial(6).repeated(r.units)}
	over := &moments{[]int{r.units}, make([]float64, r.units), make([]float64, r.units)} // sums of means and squares
	for step := range r.steps {
		n := 1
		moved := r.step(s, base, late, rec)
		if moved < settling {
			n = r.steps - step
		}
		for u, m := range s.h.mean {
			over.mean[u] += float64(n) * m / float64(r.steps)
			over.vari[u] += float64(n) * (s.h.vari[u] + m*m) / float64(r.steps)
		}
		if n > 1 {
			break
		}
	}
	if s.all = s.h; !r.settled {
		for u, m := range over.mean {
			over.vari[u] = math.Max(over.vari[u]-m*m, 0)
		}
		s.all = over
	}
	return s
}

// settling is the change of the states from which on they are taken to have settled.
const settling = 1e-4

// initial are the moments of the initial state, 0 where it is left out.
func (c *call) initial(i int) *moments {
	if !c.has(i) || c.n.Op != "LSTM" && i > 5 {
		return &moments{nil, []float64{0}, []float64{0}}
	}
	return c.mom(i).flat()
}

// step moves the states on by one step and returns how far the furthest mean has moved.
func (r *recurrence) step(s *states, base *moments, late []float64, rec []float32) float64 {
	h := make([]spread1, r.units)
	for u := range h {
		h[u] = spread1{s.h.mean[u], s.h.vari[u]}
	}
	moved := 0.0
	next, cells := r.next(h, s, base, late, rec)
	s.h, s.cells = &moments{[]int{r.units}, make([]float64, r.units), make([]float64, r.units)}, cells
	for u, y := range next {
		moved = math.Max(moved, math.Abs(y.mean-h[u].mean)+math.Abs(y.vari-h[u].vari))
		s.h.mean[u], s.h.vari[u] = y.mean, y.vari
	}
	return moved
}

// next returns the states that follow from h, and an LSTM's cells.
func (r *recurrence) next(h []spread1, s *states, base *moments, late []float64, rec []float32) ([]spread1, *moments) {
	sum := func(gate, u int, h []spread1) spread1 {
		row := gate*r.units + u
		return r.recurrent(rec, row, h).plus(spread1{base.mean[row], base.vari[row]})
	}
	out, cells := make([]spread1, r.units), s.cells
	switch r.op {
	case "LSTM":
		cells = &moments{[]int{r.units}, make([]float64, r.units), make([]float64, r.units)}
		for u := range out {
			i, o, f, g := sum(0, u, h).through(logistic), sum(1, u, h).through(logistic), sum(2, u, h).through(logistic), sum(3, u, h).through(math.Tanh)
			if r.coupled {
				f = i.rest()
			}
			cell := f.times(spread1{s.cells.mean[u], s.cells.vari[u]}).plus(i.times(g))
			cells.mean[u], cells.vari[u] = cell.mean, cell.vari
			out[u] = o.times(cell.through(math.Tanh))
		}
	case "GRU":
		r.gated(out, h, sum, late, rec, base)
	default:
		for u := range out {
			out[u] = sum(0, u, h).through(math.Tanh)
		}
	}
	return out, cells
}

// gated is next for a GRU: (1-z)·g + z·h.
func (r *recurrence) gated(out, h []spread1, sum func(gate, u int, h []spread1) spread1, late []float64, rec []float32, base *moments) {
	reset, kept := make([]spread1, r.units), make([]spread1, r.units)
	for u := range reset {
		reset[u] = sum(1, u, h).through(logistic)
		kept[u] = reset[u].times(h[u])
	}
	for u := range out {
		z, a := sum(0, u, h).through(logistic), sum(2, u, kept)
		if row := 2*r.units + u; r.late {
			a = r.recurrent(rec, row, h).plus(spread1{late[row], 0}).times(reset[u]).plus(spread1{base.mean[row], base.vari[row]})
		}
		g := a.through(math.Tanh)
		y := z.rest().times(g).plus(z.times(h[u]))
		y.vari -= 2 * z.vari * g.mean * h[u].mean // z and 1-z go against each other
		out[u] = spread1{y.mean, math.Max(y.vari, 0)}
	}
}

// recurrent is a row of the recurrent weights times the states.
func (r *recurrence) recurrent(rec []float32, row int, h []spread1) spread1 {
	y := spread1{}
	for k, w := range rec[row*r.units : (row+1)*r.units] {
		e := float64(w)
		y.mean += e * h[k].mean
		y.vari += e * e * h[k].vari
	}
	return y
}

// gather lays the directions side by side, as the outputs are laid out.
func (r *recurrence) gather(c *call, list []*states) {
	join := func(dims []int, of func(s *states) *moments) *moments {
		m := &moments{dims: dims}
		for _, s := range list {
			m.mean, m.vari = append(m.mean, of(s).mean...), append(m.vari, of(s).vari...)
		}
		return m
	}
	d := len(list)
	all, last := []int{1, d, 1, r.units}, []int{d, 1, r.units}
	if c.n.Int("layout", 0) == 1 {
		all, last = []int{1, 1, d, r.units}, []int{1, d, r.units}
	}
	r.outs[0] = join(all, func(s *states) *moments { return s.all })
	r.outs[1] = join(last, func(s *states) *moments { return s.h })
	if r.op == "LSTM" {
		r.outs[2] = join(last, func(s *states) *moments { return s.cells })
	}
}

// spread1 are the moments of one number.
type spread1 struct{ mean, vari float64 }

func (x spread1) plus(y spread1) spread1 { return spread1{x.mean + y.mean, x.vari + y.vari} }

// rest is 1 less the number.
func (x spread1) rest() spread1 { return spread1{1 - x.mean, x.vari} }

// times multiplies two numbers that are free of each other.
func (x spread1) times(y spread1) spread1 {
	mean, vari := timesFree(x.mean, x.vari, y.mean, y.vari)
	return spread1{mean, vari}
}

// through integrates a function over a normal variable.
func (x spread1) through(f func(float64) float64) spread1 {
	sd, mean, square := math.Sqrt(x.vari), 0.0, 0.0
	for _, g := range hermite {
		a, b := f(x.mean-sd*g[0]), f(x.mean+sd*g[0])
		mean += g[1] * (a + b)
		square += g[1] * (a*a + b*b)
	}
	return spread1{mean, math.Max(square-mean*mean, 0)}
}
