package refeval

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// sequenceOps are operators on sequences and optionals.
func sequenceOps() []entry {
	return []entry{
		mover("ConcatFromSequence", concatFromSequence),
		mover("Optional", optional),
		mover("OptionalGetElement", optionalGet),
		mover("OptionalHasElement", optionalHas),
		mover("SequenceAt", sequenceAt),
		mover("SequenceConstruct", sequenceConstruct),
		mover("SequenceEmpty", sequenceEmpty),
		mover("SequenceErase", sequenceErase),
		mover("SequenceInsert", sequenceInsert),
		mover("SequenceLength", sequenceLength),
		mover("SplitToSequence", splitToSequence),
	}
}

func sequenceEmpty(c *Call) error {
	c.Set(0, SequenceValue())
	return nil
}

// sequenceConstruct joins tensors of one type.
func sequenceConstruct(c *Call) error {
	items := make([]*Value, c.Len())
	for i := range items {
		sameType(c.In(0), c.In(i))
		items[i] = c.Value(i)
	}
	c.Set(0, SequenceValue(items...))
	return nil
}

func sequenceLength(c *Call) error {
	c.Out(0, graph.Int64, []int{}).I[0] = int64(len(c.Sequence(0)))
	return nil
}

// position reads a place in a sequence from input i; negative ones count from the end. It may be
// at most last.
func (c *Call) position(i, n, last int) int {
	p := c.In(i).int()
	if p < -n || p > last {
		refuse("position %d in a sequence of %d", p, n)
	}
	if p < 0 {
		p += n
	}
	return p
}

func sequenceAt(c *Call) error {
	items := c.Sequence(0)
	c.Set(0, items[c.position(1, len(items), len(items)-1)])
	return nil
}

// sequenceErase takes out an item, the last where no place is named.
func sequenceErase(c *Call) error {
	items := c.Sequence(0)
	at := len(items) - 1
	if c.Has(1) {
		at = c.position(1, len(items), len(items)-1)
	}
	if at < 0 {
		refuse("nothing to erase in an empty sequence")
	}
	c.Set(0, SequenceValue(slices.Delete(slices.Clone(items), at, at+1)...))
	return nil
}

// sequenceInsert puts a tensor before an item, at the end where no place is named.
func sequenceInsert(c *Call) error {
	items := c.Sequence(0)
	at := len(items)
	if c.Has(2) {
		at = c.position(2, len(items), len(items))
	}
	if len(items) > 0 {
		sameType(tensorOf(items[0]), c.In(1))
	}
	c.Set(0, SequenceValue(slices.Insert(slices.Clone(items), at, c.Value(1))...))
	return nil
}

// concatFromSequence joins the items along an axis, or along a new one.
func concatFromSequence(c *Call) error {
	var list []*Tensor
	for _, v := range c.Sequence(0) {
		list = append(list, tensorOf(v))
	}
	if len(list) == 0 {
		refuse("nothing to join in an empty sequence")
	}
	if c.Int("new_axis") != 0 {
		c.Set(0, TensorValue(c.stack(list, c.Int("axis"))))
		return nil
	}
	c.Set(0, TensorValue(c.with(concat, c.Version, list...)))
	return nil
}

// splitToSequence cuts a tensor along an axis: in slices of 1, in equal parts of which the last may
// be smaller, or in parts of given lengths.
func splitToSequence(c *Call) error {
	x := c.In(0)
	at := axis(c.Int("axis"), x.Rank())
	parts := c.partLengths(x.Dims[at])
	drop := !c.Has(1) && c.Int("keepdims") == 0
	items := make([]*Value, len(parts))
	start := 0
	for i, n := range parts {
		t := c.cut(x, at, start, n)
		if drop {
			t = t.view(slices.Delete(slices.Clone(t.Dims), at, at+1))
		}
		items[i] = TensorValue(t)
		start += n
	}
	c.Set(0, SequenceValue(items...))
	return nil
}

// partLengths returns the lengths of the parts of a dimension of n.
func (c *Call) partLengths(n int) []int {
	each := 1
	if c.Has(1) {
		s := c.In(1)
		if s.Rank() > 0 {
			parts := s.ints()
			checkParts(parts, n)
			return parts
		}
		each = s.int()
	}
	if each < 1 {
		refuse("parts of %d", each)
	}
	var parts []int
	for ; n > 0; n -= each {
		parts = append(parts, min(each, n))
	}
	return parts
}

// checkParts refuses parts that do not add up to the whole.
func checkParts(parts []int, n int) {
	sum := 0
	for _, p := range parts {
		if sum += p; p < 0 || sum > n {
			break
		}
	}
	if sum != n || slices.ContainsFunc(parts, func(p int) bool { return p < 0 }) {
		refuse("parts of %v do not make %d", parts, n)
	}
}

// cut copies the n slices of a tensor along an axis from a place on.
func (c *Call) cut(x *Tensor, at, start, n int) *Tensor {
	dims := slices.Clone(x.Dims)
	dims[at] = n
	y, from := c.Temp(x.Elem, dims), whole(x)
	from.off = start * from.strides[at]
	copyBox(y, whole(y), x, from, dims)
	return y
}

// optional holds its input, or nothing: an optional with an element is that element itself.
func optional(c *Call) error {
	v := c.Value(0)
	if v == nil {
		v = EmptyOptional()
	}
	c.Set(0, v)
	return nil
}

func optionalHas(c *Call) error {
	v := c.Value(0)
	c.Out(0, graph.Bool, []int{}).I[0] = bit(v != nil && v.Kind != graph.KindOptional)
	return nil
}

func optionalGet(c *Call) error {
	v := c.Value(0)
	if v == nil || v.Kind == graph.KindOptional {
		refuse("the optional is empty")
	}
	c.Set(0, v)
	return nil
}
