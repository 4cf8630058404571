package pattern

import "github.com/amplint/amplint/graph"

// end is an end of an interval: x + by, or x - by, or x itself where by is nil.
type end struct{ x, by *graph.Value }

// spans reads the difference of the ends of an interval, from x - u to x + w or with one of them alone. Rounded or not,
// it is at least 0 where u and w are, which is noted as needed.
func (f *finder) spans(v *graph.Value) bool {
	for v = f.same(v); v.Producer != nil && v.Producer.In(0) != nil && picks(v.Producer.OpName()); {
		v = f.same(v.Producer.In(0))
	}
	a, b, ok := f.difference(v)
	if !ok {
		return false
	}
	for _, high := range f.ends(a, "Add") {
		for _, low := range f.ends(b, "Sub") {
			if high.x != low.x || high.by == nil && low.by == nil {
				continue
			}
			for _, by := range []*graph.Value{high.by, low.by} {
				if by != nil {
					f.needs = append(f.needs, by)
				}
			}
			return true
		}
	}
	return false
}

// ends lists how a value may be read as the end of an interval that is added to, or subtracted from, something.
func (f *finder) ends(v *graph.Value, op string) []end {
	v = f.same(v)
	list := []end{{v, nil}}
	n := v.Producer
	if n == nil || n.OpName() != op || len(n.Inputs) != 2 || n.In(0) == nil || n.In(1) == nil {
		return list
	}
	list = append(list, end{f.same(n.In(0)), n.In(1)})
	if op == "Add" {
		list = append(list, end{f.same(n.In(1)), n.In(0)})
	}
	return list
}

// picks tells whether an operator moves elements, or takes some of them.
func picks(op string) bool {
	switch op {
	case "Slice", "Gather", "Split", "Squeeze", "Unsqueeze", "Reshape", "Transpose":
		return true
	}
	return false
}
