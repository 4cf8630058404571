package refeval

import (
	"fmt"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// controlOps are the operators that run graphs.
func controlOps() []entry {
	return []entry{
		mover("If", branch),
		mover("Loop", loop),
		mover("Scan", scan),
		mover("SequenceMap", sequenceMap),
	}
}

func (t *Tensor) truth() bool {
	if t.Elem != graph.Bool {
		refuse("%s is no condition", t)
	}
	return t.int() != 0
}

func branch(c *Call) error {
	name := "else_branch"
	if c.In(0).truth() {
		name = "then_branch"
	}
	outs, err := c.Body(name).Run()
	if err != nil {
		return err
	}
	for i, v := range outs {
		c.Set(i, v)
	}
	return nil
}

// loop runs its body while the condition holds, at most M times.
func loop(c *Call) error {
	body := c.Body("body")
	trips := math.MaxInt
	if c.Has(0) {
		trips = c.In(0).int()
	}
	cond := TensorValue(BoolTensor(true))
	if c.Has(1) {
		cond = c.Value(1)
	}
	var carried []*Value
	for i := 2; i < c.Len(); i++ {
		carried = append(carried, c.Value(i))
	}
	scans := make([][]*Tensor, max(body.Outputs()-1-len(carried), 0))
	for i := 0; i < trips && cond.Tensor.truth(); i++ {
		if err := c.x.ctx.Err(); err != nil {
			return err
		}
		outs, err := c.pass(body, i, cond, carried, scans)
		if err != nil {
			return err
		}
		for _, v := range append(carried, cond) {
			c.Release(v)
		}
		cond, carried = outs[0], outs[1:1+len(carried)]
	}
	for i, v := range carried {
		c.Set(i, v)
	}
	for i, list := range scans {
		c.stackOut(len(carried)+i, list, 0, body.outType(1+len(carried)+i))
	}
	return nil
}

// pass runs the body of a loop once and keeps what it scans.
func (c *Call) pass(body *Body, i int, cond *Value, carried []*Value, scans [][]*Tensor) ([]*Value, error) {
	in := append([]*Value{TensorValue(IntTensor([]int{}, int64(i))), cond}, carried...)
	outs, err := body.Run(in...)
	if err != nil {
		return nil, err
	}
	if len(outs) < 1+len(carried) || outs[0] == nil || outs[0].Tensor == nil {
		return nil, fmt.Errorf("the body has %d outputs for %d carried values", len(outs), len(carried))
	}
	for k := range scans {
		scans[k] = append(scans[k], tensorOf(outs[1+len(carried)+k]))
	}
	return slices.Clone(outs), nil
}

// tensorOf returns the tensor of a value that must be one.
func tensorOf(v *Value) *Tensor {
	if v == nil || v.Tensor == nil {
		refuse("a value that is no tensor where one is needed")
	}
	return v.Tensor
}

// outType returns the declared type of an output of the graph.
func (b *Body) outType(i int) graph.Type {
	if i < len(b.p.g.Outputs) && b.p.g.Outputs[i] != nil {
		return b.p.g.Outputs[i].Type
	}
	return graph.Type{}
}

// stackOut makes output i of tensors of one shape, along a new axis. Of none of them the declared
// type tells the shape; what it leaves open counts 0.
func (c *Call) stackOut(i int, list []*Tensor, at int, t graph.Type) {
	if len(list) == 0 {
		dims := make([]int, len(t.Shape))
		for k, d := range t.Shape {
			dims[k] = int(max(d.N, 0))
		}
		c.Out(i, t.Elem, slices.Insert(dims, axis(at, len(dims)+1), 0))
		return
	}
	c.Set(i, TensorValue(c.stack(list, at)))
}

// stack joins tensors of one shape along a new axis.
func (c *Call) stack(list []*Tensor, at int) *Tensor {
	first := list[0]
	at = axis(at, len(first.Dims)+1)
	y := c.Temp(first.Elem, slices.Insert(slices.Clone(first.Dims), at, len(list)))
	own := strides(y.Dims)
	to := layout{strides: slices.Delete(slices.Clone(own), at, at+1)}
	for k, t := range list {
		if t.Elem != first.Elem || !slices.Equal(t.Dims, first.Dims) {
			refuse("%s and %s do not stack", first, t)
		}
		to.off = k * own[at]
		copyBox(y, to, t, whole(t), t.Dims)
	}
	return y
}

// part returns slice k of a tensor along an axis, which it takes out.
func (c *Call) part(t *Tensor, at, k int) *Tensor {
	own := strides(t.Dims)
	dims := slices.Delete(slices.Clone(t.Dims), at, at+1)
	y := c.Temp(t.Elem, dims)
	from := layout{off: k * own[at]}
	from.strides = slices.Delete(own, at, at+1)
	copyBox(y, whole(y), t, from, dims)
	return y
}

// sequenceMap runs its body on each item of a sequence; further sequences go along, tensors stay.
func sequenceMap(c *Call) error {
	body, items := c.Body("body"), c.Sequence(0)
	results := make([][]*Value, body.Outputs())
	for i, item := range items {
		in := []*Value{item}
		for k := 1; k < c.Len(); k++ {
			v := c.Value(k)
			if v != nil && v.Kind == graph.KindSequence {
				v = v.Items[i]
			}
			in = append(in, v)
		}
		outs, err := body.Run(in...)
		if err != nil {
			return err
		}
		for k, v := range outs {
			results[k] = append(results[k], v)
		}
	}
	for k, list := range results {
		c.Set(k, SequenceValue(list...))
	}
	return nil
}
