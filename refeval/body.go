package refeval

import (
	"fmt"
	"slices"
)

// Body is a graph attribute of the node being evaluated, ready to run with what its node sees.
type Body struct {
	c *Call
	p *plan
}

// Body returns a graph attribute. A node without it ends its kernel.
func (c *Call) Body(name string) *Body {
	p := c.bodies[name]
	if p == nil {
		refuse("the graph attribute %s is missing", name)
	}
	return &Body{c, p}
}

// hasBody tells whether the node has a graph attribute of the name.
func (c *Call) hasBody(name string) bool { return c.bodies[name] != nil }

// Outputs returns the number of outputs of the graph.
func (b *Body) Outputs() int { return len(b.p.outs) }

// Run evaluates the graph. The results stay valid until the node is done, or until [Call.Release].
func (b *Body) Run(in ...*Value) ([]*Value, error) {
	if len(in) != len(b.p.inputs) {
		return nil, fmt.Errorf("%s takes %d inputs, not %d", b.p.g.Attr, len(b.p.inputs), len(in))
	}
	return b.c.enter(b.p, b.c.frame, in)
}

// function evaluates the instance of a function that the node calls. Its graph has no input for
// an argument that is left out.
func (c *Call) function(p *plan) error {
	var in []*Value
	for _, v := range c.in {
		if v != nil {
			in = append(in, v)
		}
	}
	if len(in) != len(p.inputs) {
		return fmt.Errorf("the function takes %d inputs, the call has %d", len(p.inputs), len(in))
	}
	outs, err := c.enter(p, nil, in)
	if err == nil {
		c.out = outs
	}
	return err
}

// enter runs a plan in a new frame.
func (c *Call) enter(p *plan, outer *frame, in []*Value) ([]*Value, error) {
	f := &frame{vals: make([]*Value, len(p.last)), outer: outer}
	for i, s := range p.inputs {
		f.vals[s.slot] = in[i]
		c.x.retain(in[i])
		c.x.observe(s.v, in[i])
	}
	outs, err := c.x.plan(p, f)
	c.owned = append(c.owned, outs...)
	return outs, err
}

// Release gives back a result of [Body.Run] before the node is done, as loops must: what they
// carried through the last pass is dead in the next.
func (c *Call) Release(v *Value) {
	for i, o := range slices.Backward(c.owned) {
		if o == v && v != nil {
			c.x.release(v)
			c.owned = append(c.owned[:i], c.owned[i+1:]...)
			return
		}
	}
}
