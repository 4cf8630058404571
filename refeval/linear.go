package refeval

import (
	"math"
	"slices"
)

// linearState is the recurrence of LinearAttention: a matrix of keys by values for each head.
type linearState struct {
	a                    accum
	q, k, v, decay, beta *Tensor
	batch, steps         int
	heads, groups        int // of the queries; of the keys and values
	dk, dv               int
	scale                float64
}

// linearAttention reads from a state that each step adds to, after it has decayed and, under the
// delta rules, less what the state already gives for the key.
func linearAttention(c *Call) error {
	n := linearOf(c)
	y := c.Out(0, n.q.Elem, []int{n.batch, n.steps, n.heads * n.dv})
	past := c.In(3)
	dims := []int{n.batch, n.groups, n.dk, n.dv}
	e := n.q.Elem
	if past != nil {
		if e = past.Elem; !slices.Equal(past.Dims, dims) {
			refuse("a past state %s, not %v", past, dims)
		}
	}
	state := c.Out(1, e, dims)
	c.parallel(n.batch*n.groups, n.steps*n.dk*n.dv*4, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			m := make([]float32, n.dk*n.dv)
			for j := range m {
				if past != nil {
					m[j] = float32(past.at64(i*len(m) + j))
				}
			}
			n.run(y, m, i/n.groups, i%n.groups)
			for j, v := range m {
				state.put64(i*len(m)+j, float64(v))
			}
		}
	})
	return nil
}

// linearOf reads the operands, which the rule says which of there must be.
func linearOf(c *Call) *linearState {
	n := &linearState{a: c.accum(), q: c.In(0), k: c.In(1), v: c.In(2), decay: c.In(4), beta: c.In(5),
		heads: c.Int("q_num_heads"), groups: c.Int("kv_num_heads")}
	rule := c.Str("update_rule")
	gated, delta := rule == "gated" || rule == "gated_delta", rule == "delta" || rule == "gated_delta"
	if rule != "linear" && !gated && !delta || gated != (n.decay != nil) || delta != (n.beta != nil) {
		refuse("the rule %q, with decay %t and beta %t", rule, n.decay != nil, n.beta != nil)
	}
	if n.heads < 1 || n.groups < 1 || n.heads%n.groups != 0 || n.q.Rank() != 3 || n.k.Rank() != 3 || n.v.Rank() != 3 {
		refuse("%s, %s and %s in %d and %d heads", n.q, n.k, n.v, n.heads, n.groups)
	}
	n.batch, n.steps = n.q.Dims[0], n.q.Dims[1]
	n.dk, n.dv = n.q.Dims[2]/n.heads, n.v.Dims[2]/n.groups
	if n.q.Dims[2] != n.dk*n.heads || n.k.Dims[2] != n.dk*n.groups || n.v.Dims[2] != n.dv*n.groups ||
		!slices.Equal(n.k.Dims[:2], n.q.Dims[:2]) || !slices.Equal(n.v.Dims[:2], n.q.Dims[:2]) {
		refuse("%s, %s and %s in %d and %d heads", n.q, n.k, n.v, n.heads, n.groups)
	}
	if n.scale = c.Float("scale"); n.scale == 0 {
		n.scale = 1 / math.Sqrt(float64(n.dk))
	}
	n.checkGates()
	return n
}

func (n *linearState) checkGates() {
	if d := n.decay; d != nil && (d.Rank() != 3 || d.Dims[2] != n.groups && d.Dims[2] != n.groups*n.dk) {
		refuse("a decay %s for %d heads of %d", d, n.groups, n.dk)
	}
	if b := n.beta; b != nil && (b.Rank() != 3 || b.Dims[2] != n.groups && b.Dims[2] != 1) {
		refuse("a beta %s for %d heads", b, n.groups)
	}
}

// run takes all steps of one head of a batch.
func (n *linearState) run(y *Tensor, m []float32, b, g int) {
	row := make([]float32, n.dv)
	each := n.heads / n.groups
	for t := range n.steps {
		at := b*n.steps + t
		n.fade(m, at, g)
		n.learn(m, row, at, g)
		for h := g * each; h < (g+1)*each; h++ {
			n.read(m, row, n.q, (at*n.heads+h)*n.dk)
			for j, v := range row {
				y.put64((at*n.heads+h)*n.dv+j, n.scale*float64(v))
			}
		}
	}
}

// fade multiplies the state by the exponential of the decay, one for the head or for each row.
func (n *linearState) fade(m []float32, at, g int) {
	if n.decay == nil {
		return
	}
	for i := range n.dk {
		k := at*n.groups + g
		if n.decay.Dims[2] != n.groups {
			k = k*n.dk + i
		}
		f := n.a.round(float32(math.Exp(n.decay.at64(k))))
		for j := i * n.dv; j < (i+1)*n.dv; j++ {
			m[j] *= f
		}
	}
	n.a.roundAll(m)
}

// learn adds the product of the key and the value.
func (n *linearState) learn(m, row []float32, at, g int) {
	v := make([]float32, n.dv)
	for j := range v {
		v[j] = float32(n.v.at64((at*n.groups+g)*n.dv + j))
	}
	if n.beta != nil {
		beta := float32(n.beta.at64(at*n.beta.Dims[2] + g%n.beta.Dims[2]))
		n.read(m, row, n.k, (at*n.groups+g)*n.dk)
		for j := range v {
			v[j] -= row[j]
		}
		n.a.roundAll(v)
		for j := range v {
			v[j] *= beta
		}
		n.a.roundAll(v)
	}
	for i := range n.dk {
		k := float32(n.k.at64((at*n.groups+g)*n.dk + i))
		for j := range v {
			row[j] = k * v[j]
		}
		n.a.roundAll(row)
		for j, p := range row {
			m[i*n.dv+j] += p
		}
	}
	n.a.roundAll(m)
}

// read sets row to the product of a vector, from an element on, and the state.
func (n *linearState) read(m, row []float32, x *Tensor, from int) {
	clear(row)
	part := make([]float32, len(row))
	for i := range n.dk {
		v := float32(x.at64(from + i))
		for j := range part {
			part[j] = v * m[i*n.dv+j]
		}
		n.a.roundAll(part)
		for j, p := range part {
			row[j] += p
		}
		n.a.roundAll(row)
	}
}
