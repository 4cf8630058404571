package refeval

import "github.com/amplint/amplint/graph"

// dynamicQuantizeLSTM is an LSTM of weights in 8 bits, stored with their inputs before their gates. What they are
// multiplied by, the input and the state of each step, is rounded to 8 bits as it comes.
func dynamicQuantizeLSTM(c *Call) error {
	w, r := c.turned8(c.In(1), c.In(8), c.In(9)), c.turned8(c.In(2), c.In(10), c.In(11))
	c.out = c.allWith(func(c *Call) error {
		n := c.net(4)
		n.rounds8 = true
		return c.layer(n, "Sigmoid", "Tanh", "Tanh")
	}, c.Version, c.rounded8(c.In(0)), w, r, c.In(3), c.In(4), c.In(5), c.In(6), c.In(7))
	return nil
}

// rounded8 returns the real numbers that x comes to when it is quantised by its own range.
func (c *Call) rounded8(x *Tensor) *Tensor {
	if x.F == nil {
		refuse("%s cannot be quantised", x)
	}
	q, scale, zero := c.Temp(graph.Uint8, x.Dims), c.Temp(graph.Float, []int{}), c.Temp(graph.Uint8, []int{})
	c.dynamicQuantize(q, scale, zero, x)
	return c.real(q, scale, zero)
}

// turned8 returns the real numbers of weights, [directions, inputs, gates], with their last two axes exchanged. Scale
// and zero point are single in each direction, or one for each gate.
func (c *Call) turned8(w, scale, zero *Tensor) *Tensor {
	if w.Rank() != 3 || w.I == nil || scale == nil || zero == nil || zero.I == nil || scale.F == nil || zero.Len() != scale.Len() || scale.Len() != w.Dims[0] && scale.Len() != w.Dims[0]*w.Dims[2] {
		refuse("weights %s with scales %s and zero points %s", w, scale, zero)
	}
	directions, ins, gates := w.Dims[0], w.Dims[1], w.Dims[2]
	each := scale.Len() / max(directions, 1)
	y := c.Temp(graph.Float, []int{directions, gates, ins})
	for d := range directions {
		from, to := w.I[d*ins*gates:], y.F[d*ins*gates:]
		for gate := range gates {
			at := d*each + gate%each
			s, z := scale.F[at], zero.I[at]
			for in := range ins {
				to[gate*ins+in] = float32(from[in*gates+gate]-z) * s
			}
		}
	}
	return y
}
