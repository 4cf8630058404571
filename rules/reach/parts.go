package reach

import (
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/walk"
)

// part is a stretch of an axis that one result of a node takes from its input.
type part struct {
	value    *graph.Value
	axis     int64
	from, to int64 // the first index, and that behind the last
}

// maxDeps is how many sources of freedom a Span can tell apart.
const maxDeps = 64

// split gives the parts of an input, such as the corners of a box, bits of their own where they are all that
// is read of it and none overlaps another: each can be put anywhere whatever the others are. next is the
// first bit that is free; the one behind those that were given is returned.
func (m *Map) split(v *graph.Value, next int) int {
	parts := partsOf(v)
	if len(parts) < 2 || next+len(parts) > maxDeps {
		return next
	}
	slices.SortStableFunc(parts, func(a, b part) int { return int(a.from - b.from) })
	for i := 1; i < len(parts); i++ {
		if parts[i].axis != parts[0].axis || parts[i].from < parts[i-1].to {
			return next
		}
	}
	for _, p := range parts {
		m.parts[p.value] = 1 << next
		next++
	}
	return next
}

// partsOf returns the parts that all readers of a value take, nil where one takes anything else.
func partsOf(v *graph.Value) (list []part) {
	if slices.Contains(v.Graph.Outputs, v) {
		return nil
	}
	for _, u := range v.Uses {
		parts := taken(u)
		if parts == nil {
			return nil
		}
		list = append(list, parts...)
	}
	return list
}

// taken returns the parts that one reader takes.
func taken(u graph.Use) []part {
	n := u.Node
	if u.Index != 0 || n.Out(0) == nil {
		return nil
	}
	switch n.OpName() {
	case "Split":
		return splitParts(n)
	case "Gather":
		return gathered(n)
	case "Slice":
		return sliced(n)
	}
	return nil
}

func splitParts(n *graph.Node) (list []part) {
	axis, from := axisOf(n, n.Int("axis", 0)), int64(0)
	for _, o := range n.Outputs {
		if o == nil {
			return nil
		}
		size := walk.Dim(o, axis)
		if size < 1 {
			return nil
		}
		list = append(list, part{o, axis, from, from + size})
		from += size
	}
	return list
}

// gathered reads a Gather of one index.
func gathered(n *graph.Node) []part {
	axis := axisOf(n, n.Int("axis", 0))
	x, ok := walk.Scalar(n.In(1))
	size := walk.Dim(n.In(0), axis)
	if i := int64(x); ok && size > 0 && i >= -size && i < size {
		i = (i + size) % size
		return []part{{n.Out(0), axis, i, i + 1}}
	}
	return nil
}

// sliced reads a Slice along one axis in steps of one.
func sliced(n *graph.Node) []part {
	from, to, axes := sliceList(n, "starts", 1), sliceList(n, "ends", 2), sliceList(n, "axes", 3)
	if len(from) != 1 || len(to) != 1 || len(axes) != 1 || n.In(4) != nil && !slices.Equal(sliceList(n, "", 4), []int64{1}) {
		return nil
	}
	axis := axisOf(n, axes[0])
	size := walk.Dim(n.In(0), axis)
	if size == 0 {
		return nil
	}
	return []part{{n.Out(0), axis, inside(from[0], size), inside(to[0], size)}}
}

// sliceList returns an operand of a Slice, which was an attribute before opset 10.
func sliceList(n *graph.Node, name string, i int) []int64 {
	t := walk.Constant(n.In(i))
	if t == nil {
		return n.Ints(name)
	}
	list, err := t.Int64s()
	if err != nil {
		return nil
	}
	return list
}

// inside counts an index from the front and cuts it off at the ends.
func inside(i, size int64) int64 {
	if i < 0 {
		i += size
	}
	return min(max(i, 0), size)
}

// axisOf counts an axis from the front where the rank is known.
func axisOf(n *graph.Node, axis int64) int64 {
	if axis < 0 {
		axis += int64(len(n.In(0).Type.Shape))
	}
	return axis
}
