package pattern

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// entropy reads p·(log p ± …), as in entropies and divergences.
func (f *finder) entropy(v *graph.Value) {
	for i, p := range v.Producer.Inputs {
		if p = Bare(p); p == nil || len(v.Producer.Inputs) != 2 || f.set.entropy[v] != nil {
			return
		}
		e := &Entropy{P: p, Output: v}
		logs := 0
		ok := e.read(f, v.Producer.Inputs[1-i], false, 0, func(l *graph.Value, neg bool) bool {
			over, is := f.logarithm(p, l)
			guard, guarded := f.guardedLog(p, l)
			is = is || guarded || f.logOfShare(p, l) || f.sameShares(p, l)
			if is && logs == 0 {
				logs, e.Neg, e.Over, e.Log, e.Guard = 1, neg, over, l, guard
				e.Logits = f.roundedBy(p, l)
				return true
			}
			return false
		})
		if ok && logs == 1 {
			f.set.entropy[v] = e
		}
	}
}

// read splits a sum into the logarithm and the rest. A log-softmax and a difference from the maximum are
// bounded better than their parts.
func (e *Entropy) read(f *finder, v *graph.Value, neg bool, depth int, isLog func(l *graph.Value, neg bool) bool) bool {
	if v = Bare(v); v == nil {
		return false
	}
	n := v.Producer
	log := f.set.softmax[v]
	whole := log != nil && log.Log || f.set.shifts[v] != nil
	switch {
	case isLog(v, neg):
	case !whole && n != nil && depth < 4 && (n.OpName() == "Add" || n.OpName() == "Sub" || n.OpName() == "Sum") && len(n.Inputs) == 2:
		return e.read(f, n.In(0), neg, depth+1, isLog) && e.read(f, n.In(1), neg != (n.Op == "Sub"), depth+1, isLog)
	case !whole && n != nil && depth < 4 && n.OpName() == "Neg":
		return e.read(f, n.In(0), !neg, depth+1, isLog)
	case neg:
		e.Minus = append(e.Minus, v)
	default:
		e.Plus = append(e.Plus, v)
	}
	return true
}

// logOfShare tells whether l is z - log s for the p = exp(z) / s of a softmax, z itself a difference or
// not.
func (f *finder) logOfShare(p, l *graph.Value) bool {
	num, den, ok := f.quotient(p)
	if !ok {
		return false
	}
	e, sum := f.same(num).Producer, f.shaped(den)
	if e == nil || e.OpName() != "Exp" || e.In(0) == nil {
		return false
	}
	want, c := f.terms(e.In(0))
	got, d := f.terms(l)
	if c != d || len(got) != len(want)+1 {
		return false
	}
	for _, t := range got {
		if i := slices.IndexFunc(want, func(u term) bool { return u.value == t.value && u.sign == t.sign }); i >= 0 {
			want = slices.Delete(want, i, i+1)
			continue
		}
		log := f.shaped(t.value).Producer
		if t.sign > 0 || log == nil || log.OpName() != "Log" || log.In(0) == nil || f.shaped(log.In(0)) != sum ||
			!slices.Equal(t.value.Type.Shape, f.narrow(den).Type.Shape) {
			return false
		}
	}
	return len(want) == 0
}

// logarithm tells whether l is log p, spelled as Log(p), Log(p / over), p = Exp(l), or as the softmax and
// the log-softmax of one value.
func (f *finder) logarithm(p, l *graph.Value) (over *graph.Value, ok bool) {
	if n := l.Producer; n != nil && n.OpName() == "Log" && n.In(0) != nil {
		x := Bare(n.In(0))
		if x == p {
			return nil, true
		}
		if a, b, ok := f.quotient(x); ok && Bare(a) == p {
			return Bare(b), true
		}
	}
	n, m := p.Producer, l.Producer
	switch {
	case n == nil || n.In(0) == nil:
	case n.OpName() == "Exp":
		return nil, Bare(n.In(0)) == l
	case n.OpName() == "Softmax" && m != nil && m.OpName() == "LogSoftmax" && m.In(0) != nil:
		return nil, Bare(n.In(0)) == Bare(m.In(0)) && softmaxAxis(n) == softmaxAxis(m)
	}
	return nil, false
}

// sameShares tells whether p is the softmax and l the log-softmax of one value, whatever spells them.
func (f *finder) sameShares(p, l *graph.Value) bool {
	s := f.set.softmax[l]
	if s == nil || !s.Log {
		return false
	}
	x, axis, ok := s.row()
	y, other := x, axis
	if q := f.set.shares[p]; q != nil {
		y, other = q.Input, q.Axis
	} else if s := f.set.softmax[p]; s == nil || s.Log {
		return false
	} else if y, other, ok = s.row(); !ok {
		return false
	}
	return ok && Bare(x) == Bare(y) && axis == other
}

// roundedBy returns the logits that p or its logarithm l is rounded as: those that a logarithm of their sum is
// subtracted from before their maximum is. It is nil where there are none, or where p is computed from l.
func (f *finder) roundedBy(p, l *graph.Value) *graph.Value {
	if n := p.Producer; n != nil && n.OpName() == "Exp" && Bare(n.In(0)) == l {
		return nil
	}
	if s := f.set.softmax[l]; s != nil && s.Node == nil && !s.Shifted {
		return s.Input
	}
	if q := f.set.shares[p]; q != nil && !q.Shifted {
		return q.Input
	}
	return nil
}

// row returns what a softmax is of, and its axis where that is known and one.
func (s *Softmax) row() (x *graph.Value, axis int, ok bool) {
	rank := len(s.Input.Type.Shape)
	switch {
	case s.Input.Type.Shape == nil || len(s.Output.Type.Shape) != rank:
	case s.Node == nil && len(s.Axes) == 1:
		return s.Input, s.Axes[0], s.Axes[0] >= 0 && s.Axes[0] < rank
	case s.Node != nil && (s.Node.Version() >= 13 || softmaxAxis(s.Node) == int64(rank-1)):
		axis = int(softmaxAxis(s.Node))
		return s.Input, axis, axis >= 0 && axis < rank
	}
	return nil, 0, false
}

// guardedLog tells whether l is log(p + ε) or log(max(p, ε)), cut off at 1 or above it or not, and returns ε.
func (f *finder) guardedLog(p, l *graph.Value) (eps float64, ok bool) {
	n := l.Producer
	if n == nil || n.OpName() != "Log" || n.In(0) == nil {
		return 0, false
	}
	x := Bare(n.In(0))
	k := x.Producer
	if k == nil || x.Const != nil || !slices.ContainsFunc(k.Inputs, func(in *graph.Value) bool { return in != nil && Bare(in) == p }) {
		return 0, false
	}
	if k.OpName() == "Clip" && Bare(k.In(0)) == p {
		low, high, ok := f.clipEnds(k)
		return low, ok && low >= 0 && high >= 1
	}
	e := f.stripEps(x)
	return e.value, e.of == f.shaped(p) && e.eps != nil && slices.Equal(x.Type.Shape, p.Type.Shape)
}

// softmaxAxis returns the axis counted from the front where the rank is known.
func softmaxAxis(n *graph.Node) int64 {
	def := int64(-1)
	if n.Version() < 13 {
		def = 1
	}
	a := n.Int("axis", def)
	if rank := len(n.In(0).Type.Shape); a < 0 && n.In(0).Type.Shape != nil {
		a += int64(rank)
	}
	return a
}

// gap reads log Σ exp x - x_i, the cross entropy with one class.
func (f *finder) gap(v *graph.Value) {
	lse, picked, ok := f.difference(v)
	if !ok {
		return
	}
	l, e := f.shaped(lse), f.shaped(picked)
	var x *graph.Value
	var axes []int
	if r, ok := f.reduction(l); ok && r.op == "LogSumExp" && !r.all {
		x, axes = r.of, r.axes
	} else if s := f.set.sums[l]; s != nil && s.Output == l && s.Coef == 1 {
		x, axes = f.same(s.Input), s.Axes
	}
	if x == nil || len(axes) != 1 {
		return
	}
	axis, of, label := f.elementOf(e, x)
	if of != x || axis != axes[0] {
		return
	}
	// the rows of both must meet: the shapes without the axis are those of the operands
	row := slices.Delete(slices.Clone(x.Type.Shape), axis, axis+1)
	if meets(row, lse.Type.Shape) && meets(row, picked.Type.Shape) && slices.Equal(lse.Type.Shape, picked.Type.Shape) {
		f.set.gaps[v] = &Gap{Row: x, Picked: picked, Label: label, Classes: x.Type.Shape[axis].N}
	}
}

// elementOf reads e as one element of each row of x along an axis. label is what says which one where a label that names
// none picks 0; else nil.
func (f *finder) elementOf(e, x *graph.Value) (axis int, of, label *graph.Value) {
	g, rank := e.Producer, len(x.Type.Shape)
	if g == nil || e.Const != nil || g.In(0) == nil || rank == 0 || !settled(e.Type.Shape) {
		return 0, nil, nil
	}
	axis = int(fromFront(g.Int("axis", 0), x.Type.Shape))
	switch g.OpName() {
	case "GatherElements":
		if len(e.Type.Shape) == rank && axis >= 0 && axis < rank && e.Type.Shape[axis] == (graph.Dim{N: 1}) {
			return axis, f.same(g.In(0)), nil
		}
	case "GatherND":
		index := g.In(1)
		if index == nil || !settled(index.Type.Shape) || int(g.Int("batch_dims", 0)) != rank-1 || index.Type.Shape[len(index.Type.Shape)-1] != (graph.Dim{N: 1}) {
			return 0, nil, nil
		}
		return rank - 1, f.same(g.In(0)), nil
	case "ReduceSum":
		return f.oneHotOf(e, x)
	}
	return 0, nil, nil
}

// oneHotOf reads the sum of a row times the one-hot encoding of a label.
func (f *finder) oneHotOf(e, x *graph.Value) (axis int, of, label *graph.Value) {
	r, ok := f.reduction(e)
	if !ok || r.op != "Sum" || len(r.axes) != 1 || !settled(x.Type.Shape) {
		return 0, nil, nil
	}
	q, ok := r.reshaped(x)
	p := f.product(r.of)
	if !ok || len(q.axes) != 1 || !asLarge(r.of.Type.Shape, x.Type.Shape) || p.coef != 1 || len(p.factors) != 2 || p.factors[0].pow != 1 || p.factors[1].pow != 1 {
		return 0, nil, nil
	}
	for i, g := range p.factors {
		k := f.truth(g.base)
		if k == nil || k.Producer == nil || k.Producer.OpName() != "OneHot" || k.Producer.In(2) == nil || !f.alike(p.factors[1-i].base, x) {
			continue
		}
		n := k.Producer
		values := fewInts(n.In(2))
		if slices.Equal(values, []int64{0, 1}) && slices.Equal(k.Type.Shape, r.of.Type.Shape) && int(fromFront(n.Int("axis", -1), k.Type.Shape)) == r.axes[0] && x.Type.Shape[q.axes[0]].Known() {
			return q.axes[0], x, n.In(0)
		}
	}
	return 0, nil, nil
}

// meets tells whether a shape is that of the rows, a dimension of 1 more aside, all of them known.
func meets(row, s graph.Shape) bool {
	if !settled(s) {
		return false
	}
	if slices.Equal(row, s) {
		return true
	}
	for i, d := range s {
		if d == (graph.Dim{N: 1}) && slices.Equal(row, slices.Delete(slices.Clone(s), i, i+1)) {
			return true
		}
	}
	return false
}

// settled tells whether every dimension of a shape has a number or a name.
func settled(s graph.Shape) bool {
	return s != nil && !slices.ContainsFunc(s, func(d graph.Dim) bool { return !d.Known() && d.Sym == "" })
}
