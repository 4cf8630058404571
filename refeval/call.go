package refeval

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/schema"
)

// Call is one evaluation of one node: what its kernel is given and what it gives back.
type Call struct {
	Node    *graph.Node
	Version int64 // of the opset of the node's domain

	schema *schema.Op // nil for an operator that the tables do not know
	in     []*Value
	out    []*Value
	made   []*Tensor
	owned  []*Value // results of bodies, held until the node is done
	acc    accum
	x      *run
	frame  *frame
	bodies map[string]*plan
	step   *step
}

// Len returns the number of inputs, those left out at the end not counted.
func (c *Call) Len() int { return len(c.in) }

// Has tells whether input i is given.
func (c *Call) Has(i int) bool { return i < len(c.in) && c.in[i] != nil }

// Value returns input i of any kind, nil where it is left out.
func (c *Call) Value(i int) *Value {
	if !c.Has(i) {
		return nil
	}
	return c.in[i]
}

// In returns tensor input i, nil where it is left out. The kernel must not change it. Another kind
// of value ends the kernel.
func (c *Call) In(i int) *Tensor {
	v := c.Value(i)
	if v == nil {
		return nil
	}
	if v.Tensor == nil {
		refuse("input %d is %s, not a tensor", i, kindName(v.Kind))
	}
	return v.Tensor
}

// Sequence returns the items of sequence input i.
func (c *Call) Sequence(i int) []*Value {
	v := c.Value(i)
	if v == nil || v.Kind != graph.KindSequence {
		refuse("input %d is no sequence", i)
	}
	return v.Items
}

// Wants tells whether the node names output i.
func (c *Call) Wants(i int) bool { return i < len(c.Node.Outputs) && c.Node.Outputs[i] != nil }

// Out makes output i: zeros of the type and shape, for the kernel to fill. Shapes that are negative
// or too large for the run end the kernel.
func (c *Call) Out(i int, e graph.ElemType, dims []int) *Tensor {
	t := c.Temp(e, dims)
	c.Set(i, TensorValue(t))
	return t
}

// Temp makes a tensor that counts as memory of the run but is no output yet; see [Call.Set].
func (c *Call) Temp(e graph.ElemType, dims []int) *Tensor {
	return c.hold(c.x.alloc(e, dims))
}

// Raw is [Call.Temp] for a kernel that sets every element: what they hold before is anything.
func (c *Call) Raw(e graph.ElemType, dims []int) *Tensor {
	return c.hold(c.x.tensor(e, dims, false))
}

// rawOut is [Call.Out] for a kernel that sets every element.
func (c *Call) rawOut(i int, e graph.ElemType, dims []int) *Tensor {
	t := c.Raw(e, dims)
	c.Set(i, TensorValue(t))
	return t
}

// over makes output 0 for a kernel that sets element i after it has read element i of the listed
// inputs for the last time. It takes the memory of one of them if nothing else will read it.
func (c *Call) over(e graph.ElemType, dims []int, inputs ...int) *Tensor {
	for _, i := range inputs {
		if c.dies(i) && c.in[i].Tensor.Elem == e && slices.Equal(c.in[i].Tensor.Dims, dims) {
			t := c.take(i)
			c.Set(0, TensorValue(t))
			return t
		}
	}
	return c.rawOut(0, e, dims)
}

// dies tells whether the node alone holds its input i, which was made by the run.
func (c *Call) dies(i int) bool {
	if c.step == nil || i >= len(c.step.dies) || !c.step.dies[i] || c.x.arena == nil {
		return false
	}
	v := c.in[i]
	if v == nil || v.Tensor == nil || v != c.frame.vals[c.step.in[i].slot] {
		return false
	}
	b := v.Tensor.block
	return b != nil && b.refs == 1 && !b.making && !b.shown
}

// take moves the hold on an input from the frame to the kernel.
func (c *Call) take(i int) *Tensor {
	t := c.in[i].Tensor
	c.frame.vals[c.step.in[i].slot] = nil
	t = t.view(t.Dims)
	t.block.making = true
	c.made = append(c.made, t)
	return t
}

// Clone makes a tensor like [Call.Temp] that holds what t holds.
func (c *Call) Clone(t *Tensor) *Tensor {
	return c.hold(c.x.clone(t))
}

// hold keeps what the kernel made until it returns.
func (c *Call) hold(t *Tensor) *Tensor {
	t.block.refs, t.block.making = 1, true
	c.made = append(c.made, t)
	return t
}

// View makes output i of the elements of t, an input or a result of [Call.Temp], in another shape
// of as many elements.
func (c *Call) View(i int, t *Tensor, dims []int) {
	n, err := count(dims)
	if err != nil {
		panic(refusal{err})
	}
	if n != t.Len() {
		refuse("%d elements do not make the shape %v", t.Len(), dims)
	}
	c.Set(i, TensorValue(t.view(dims)))
}

// Set makes v output i. Its tensors are inputs, parts of them, or made by this call.
func (c *Call) Set(i int, v *Value) {
	for len(c.out) <= i {
		c.out = append(c.out, nil)
	}
	c.out[i] = v
}

// Rand returns the random numbers of this evaluation: always the same for one seed, node and
// number of the evaluation in the run.
func (c *Call) Rand() *rand.Rand {
	if c.x.fold {
		refuse("random numbers are no constants")
	}
	h := fnv.New64a()
	h.Write([]byte(c.Node.Key()))
	seed := uint64(c.x.r.opt.Seed)
	switch a := c.Node.Attr("seed"); {
	case a == nil:
	case a.Type == graph.AttrInt: // of Dropout
		seed = uint64(a.I)
	default:
		seed = math.Float64bits(c.Float("seed"))
	}
	c.x.draws++
	return rand.New(rand.NewPCG(seed, h.Sum64()+uint64(c.x.draws)))
}

// accum returns how the sums of this node run.
func (c *Call) accum() accum { return c.acc }

// axesArg returns the axes of a node that takes them as attribute or, in later versions, as
// input; given is false where there are none.
func (c *Call) axesArg(input, rank int) (list []int, given bool) {
	switch {
	case c.Has(input):
		list = c.In(input).ints()
	case c.hasAttr("axes"):
		list = c.Ints("axes")
	default:
		return nil, false
	}
	return axes(list, rank), true
}

// with evaluates another kernel on other inputs, under the attributes of this node and the version
// given, and returns its output 0.
func (c *Call) with(run func(c *Call) error, version int64, in ...*Tensor) *Tensor {
	return c.allWith(run, version, in...)[0].Tensor
}

// allWith is with that returns all outputs.
func (c *Call) allWith(run func(c *Call) error, version int64, in ...*Tensor) []*Value {
	sub := *c
	sub.Version, sub.out, sub.in = version, nil, make([]*Value, len(in))
	for i, t := range in {
		if t != nil {
			sub.in[i] = TensorValue(t)
		}
	}
	err := run(&sub)
	c.made = sub.made
	if err != nil {
		panic(refusal{err})
	}
	return sub.out
}
