package pattern

import (
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
)

// extent reads a value as a product of dimensions, as x.shape[0]·x.shape[1] or x.numel() are exported.
func (f *finder) extent(v *graph.Value) (graph.Shape, bool) {
	for range maxDepth {
		n := v.Producer
		if n == nil || v.Const != nil || n.In(0) == nil {
			return nil, false
		}
		switch n.OpName() {
		case "Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze", "ReduceProd":
			v = n.In(0)
			continue
		case "Mul":
			if n.In(1) == nil {
				return nil, false
			}
			a, ok := f.extent(n.In(0))
			b, ok2 := f.extent(n.In(1))
			return append(slices.Clone(a), b...), ok && ok2
		case "Size":
			s := n.In(0).Type.Shape
			return s, settled(s)
		}
		return dimensions(v)
	}
	return nil, false
}

// dimensions reads what Shape, and Gather or Slice of it with constant places, picks from a shape.
func dimensions(v *graph.Value) (graph.Shape, bool) {
	n := v.Producer
	if n == nil || n.In(0) == nil {
		return nil, false
	}
	s, ok := n.In(0).Type.Shape, true
	if n.OpName() != "Shape" {
		s, ok = dimensions(n.In(0))
	}
	if !ok || !settled(s) {
		return nil, false
	}
	var at []int64
	switch n.OpName() {
	case "Shape":
		at = places(len(s), n.Int("start", 0), n.Int("end", int64(len(s))))
	case "Gather":
		at = fewInts(n.In(1))
	case "Slice":
		from, to := n.Ints("starts"), n.Ints("ends")
		if n.Version() >= 10 {
			from, to = fewInts(n.In(1)), fewInts(n.In(2))
		}
		if len(from) != 1 || len(to) != 1 || n.In(4) != nil && !slices.Equal(fewInts(n.In(4)), []int64{1}) {
			return nil, false
		}
		at = places(len(s), from[0], to[0])
	}
	var out graph.Shape
	for _, i := range at {
		if i < 0 {
			i += int64(len(s))
		}
		if i < 0 || i >= int64(len(s)) {
			return nil, false
		}
		out = append(out, s[i])
	}
	return out, len(out) > 0
}

// places lists the places from one to another, both counted from the end where they are negative.
func places(n int, from, to int64) (at []int64) {
	if from < 0 {
		from += int64(n)
	}
	if to < 0 {
		to += int64(n)
	}
	for i := max(from, 0); i < min(to, int64(n)); i++ {
		at = append(at, i)
	}
	return at
}

// elementsOver returns how many elements are reduced together for each of an extent, where both name the
// same sizes. Sizes that meet element by element are taken to be the same size: a dimension that has a
// name of its own is not one that is always 1.
func elementsOver(dims, extent graph.Shape) (float64, bool) {
	k := 1.0
	var left []graph.Dim
	for _, d := range dims {
		if d.Known() {
			k *= float64(d.N)
		} else {
			left = append(left, d)
		}
	}
	for _, d := range extent {
		if d.Known() {
			k /= float64(d.N)
			continue
		}
		i := slices.IndexFunc(left, func(e graph.Dim) bool { return sameSize(e.Sym, d.Sym) })
		if i < 0 {
			return 0, false
		}
		left = slices.Delete(left, i, i+1)
	}
	return k, len(left) == 0 && len(extent) > 0 && k > 0
}

// sameSize tells whether two symbols have a name in common, those of sizes that were broadcast counted.
func sameSize(a, b string) bool {
	if a == b {
		return true
	}
	names := sizes(b)
	return slices.ContainsFunc(sizes(a), func(s string) bool { return slices.Contains(names, s) })
}

// sizes lists the sizes that were broadcast to a symbol: a and b of "broadcast(a,b)".
func sizes(sym string) []string {
	plain := strings.ReplaceAll(sym, "broadcast(", "(")
	if plain == sym || strings.ContainsAny(strings.NewReplacer("(", "", ")", "", ",", "").Replace(plain), "+-*/ ") {
		return []string{sym}
	}
	return strings.FieldsFunc(plain, func(r rune) bool { return r == '(' || r == ')' || r == ',' })
}

// perCount reads a sum divided by the number of its elements where that is a dimension without a number.
func (f *finder) perCount(v *graph.Value) {
	p := f.product(v)
	for _, g := range p.factors {
		if g.pow != -1 {
			continue
		}
		extent, ok := f.extent(f.shaped(g.base))
		if !ok {
			continue
		}
		rest := p.without(g.base, -1)
		for _, s := range rest.factors {
			r, ok := f.reduction(s.base)
			if !ok || s.pow != 1 || r.op != "Sum" {
				continue
			}
			k, ok := elementsOver(r.dims(), extent)
			scales, plain := f.values(rest.without(s.base, 1))
			if !ok || !plain {
				continue
			}
			q := &Ratio{Kind: OfCount, Num: s.base, Den: g.base, Denominator: g.base, Input: r.of, Output: v, Coef: rest.coef * k, Scales: scales, Nodes: f.between(v, r.of)}
			f.addRatio(q)
			return
		}
	}
}
