package refeval

import (
	"fmt"

	"github.com/amplint/amplint/graph"
)

// step evaluates one node: its kernel, then the rounding of what it made.
func (x *run) step(f *frame, s *step) error {
	c := &Call{Node: s.node, Version: s.version, schema: s.schema, x: x, frame: f, bodies: s.bodies, step: s}
	c.in = make([]*Value, len(s.in))
	for i, r := range s.in {
		c.in[i] = f.get(r)
	}
	c.acc = x.r.opt.accum(s.node.Out(0), c.mainElem())
	err := x.invoke(c, s)
	if err == nil {
		err = x.settle(c, f, s)
	}
	for _, v := range c.owned {
		x.release(v)
	}
	x.drop(c.made)
	return err
}

// mainElem guesses the type of the first output, which rules how sums run: that of the first input
// of a float type.
func (c *Call) mainElem() graph.ElemType {
	for _, v := range c.in {
		if v != nil && v.Tensor != nil && v.Tensor.Elem.IsFloat() {
			return v.Tensor.Elem
		}
	}
	return graph.Undefined
}

// invoke calls the kernel or the function, and catches what a kernel trips over.
func (x *run) invoke(c *Call, s *step) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			err = r.err
		default:
			err = fmt.Errorf("its inputs %s do not go together: %v", c.describe(), r)
		}
	}()
	if s.call != nil {
		return c.function(s.call)
	}
	return s.op.run(c)
}

// describe lists the types of the inputs for an error.
func (c *Call) describe() []string {
	list := make([]string, len(c.in))
	for i, v := range c.in {
		switch {
		case v == nil:
			list[i] = "none"
		case v.Tensor != nil:
			list[i] = v.Tensor.String()
		default:
			list[i] = kindName(v.Kind)
		}
	}
	return list
}

// settle rounds the results and puts them into the frame.
func (x *run) settle(c *Call, f *frame, s *step) error {
	for i, slot := range s.out {
		if slot < 0 {
			continue
		}
		if i >= len(c.out) || c.out[i] == nil {
			return fmt.Errorf("output %d is not computed", i)
		}
		v := c.out[i]
		if !s.moved {
			v = x.hold(s.node.Outputs[i], v)
		}
		f.vals[slot] = v
		x.retain(v)
		x.observe(s.node.Outputs[i], v)
	}
	return nil
}

// hold rounds a result to what its value is held in: in place where only its kernel knows it,
// else as a copy.
func (x *run) hold(v *graph.Value, val *Value) *Value {
	if t := val.Tensor; t != nil && t.F != nil && x.r.opt.rounds(v, t.Elem) {
		if !t.fresh() {
			t = x.clone(t)
		}
		x.r.opt.round(x.r.engine, v, t)
		return TensorValue(t)
	}
	if len(val.Items) == 0 {
		return val
	}
	r := *val
	r.Items = make([]*Value, len(val.Items))
	for i, item := range val.Items {
		r.Items[i] = x.hold(v, item)
	}
	return &r
}
