package refeval

import "slices"

// scanner is a Scan at work: so many states, then the inputs it walks along.
type scanner struct {
	c         *Call
	body      *Body
	inAxes    []int
	inBack    []bool
	outAxes   []int
	outBack   []bool
	nIn, nOut int
	nState    int
}

// scan walks its body along axes of its inputs. Opset 8 had a batch around it.
func scan(c *Call) error {
	s := &scanner{c: c, body: c.Body("body"), nIn: c.Int("num_scan_inputs")}
	first := 0
	if c.Version < 9 {
		first = 1 // the lengths of the sequences
	}
	s.nState = c.Len() - first - s.nIn
	s.nOut = s.body.Outputs() - s.nState
	if s.nState < 0 || s.nIn < 1 || s.nOut < 0 {
		refuse("%d inputs and %d outputs for %d scanned inputs", c.Len(), s.body.Outputs(), s.nIn)
	}
	if c.Version < 9 {
		return s.batches()
	}
	s.options()
	var states, inputs []*Tensor
	for i := range s.nState + s.nIn {
		t := c.In(i)
		if i < s.nState {
			states = append(states, t)
			continue
		}
		inputs = append(inputs, t)
	}
	final, outs, err := s.run(states, inputs, -1)
	if err != nil {
		return err
	}
	for i, t := range final {
		c.Set(i, TensorValue(t))
	}
	for i, list := range outs {
		c.stackOut(s.nState+i, list, s.outAxes[i], s.body.outType(s.nState+i))
	}
	return nil
}

// options reads axes and directions.
func (s *scanner) options() {
	s.inAxes = s.c.IntsOr("scan_input_axes", s.nIn, 0)
	s.outAxes = s.c.IntsOr("scan_output_axes", s.nOut, 0)
	s.inBack = reversed(s.c.IntsOr("scan_input_directions", s.nIn, 0))
	s.outBack = reversed(s.c.IntsOr("scan_output_directions", s.nOut, 0))
}

func reversed(list []int) []bool {
	out := make([]bool, len(list))
	for i, v := range list {
		out[i] = v != 0
	}
	return out
}

// run walks the inputs for n steps, all of them where n is negative, and returns the last states
// and the slices of each output.
func (s *scanner) run(states, inputs []*Tensor, n int) (final []*Tensor, outs [][]*Tensor, err error) {
	outs = make([][]*Tensor, s.nOut)
	ax := make([]int, s.nIn)
	for i, t := range inputs {
		ax[i] = axis(s.inAxes[i], len(t.Dims))
		if n < 0 {
			n = t.Dims[ax[i]]
		}
		if t.Dims[ax[i]] < n {
			refuse("scanned inputs of lengths %d and %d", n, t.Dims[ax[i]])
		}
	}
	for k := range n {
		var in []*Value
		for _, t := range states {
			in = append(in, TensorValue(t))
		}
		for i, t := range inputs {
			in = append(in, TensorValue(s.c.part(t, ax[i], pick(s.inBack[i], n-1-k, k))))
		}
		res, err := s.body.Run(in...)
		if err != nil {
			return nil, nil, err
		}
		states = nil
		for _, v := range res[:s.nState] {
			states = append(states, tensorOf(v))
		}
		for i := range outs {
			outs[i] = append(outs[i], tensorOf(res[s.nState+i]))
		}
	}
	for i, back := range s.outBack {
		if back {
			slices.Reverse(outs[i])
		}
	}
	return states, outs, nil
}

// batches runs the Scan of opset 8, for each batch on as many steps as its sequence is long.
func (s *scanner) batches() error {
	c := s.c
	s.inAxes, s.outAxes = make([]int, s.nIn), make([]int, s.nOut)
	s.inBack, s.outBack = reversed(c.IntsOr("directions", s.nIn, 0)), make([]bool, s.nOut)
	steps := c.In(1 + s.nState).Dims[1]
	var final, scanned [][]*Tensor
	for b := range c.In(1 + s.nState).Dims[0] {
		var parts []*Tensor
		for i := range s.nState + s.nIn {
			parts = append(parts, c.part(c.In(1+i), 0, b))
		}
		n := -1
		if c.Has(0) {
			n = c.In(0).ints()[b]
		}
		states, outs, err := s.run(parts[:s.nState], parts[s.nState:], n)
		if err != nil {
			return err
		}
		final = append(final, states)
		var joined []*Tensor
		for _, list := range outs {
			joined = append(joined, s.padded(list, steps))
		}
		scanned = append(scanned, joined)
	}
	s.setBatches(0, final)
	s.setBatches(s.nState, scanned)
	return nil
}

// padded stacks the slices of an output; steps past the end of the sequence are zeros.
func (s *scanner) padded(list []*Tensor, steps int) *Tensor {
	if len(list) == 0 {
		refuse("a sequence of length 0")
	}
	for len(list) < steps {
		list = append(list, s.c.Temp(list[0].Elem, list[0].Dims))
	}
	return s.c.stack(list, 0)
}

// setBatches makes outputs of a list for each batch.
func (s *scanner) setBatches(first int, batches [][]*Tensor) {
	if len(batches) == 0 {
		refuse("a batch of 0")
	}
	for i := range batches[0] {
		var list []*Tensor
		for _, b := range batches {
			list = append(list, b[i])
		}
		s.c.Set(first+i, TensorValue(s.c.stack(list, 0)))
	}
}
