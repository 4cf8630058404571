package rangeprop

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop/tokens"
)

// Options say what is known beyond the model. The zero value is ready for use.
type Options struct {
	// Ranges holds the ranges of inputs by name, and of initializers that may still move: a float
	// initializer whose values do not span the range exactly stops being a constant.
	Ranges map[string]Given
	// Hold returns the format a value will be held in, numfmt.Invalid for the one it is typed as.
	// It may be nil.
	Hold func(v *graph.Value) numfmt.Format
	// NoBalls leaves the linear balls out: faster, and loose behind every matrix product.
	NoBalls bool
	// NoMoments leaves the statistical estimates out.
	NoMoments bool
	// Memo holds what earlier analyses have learnt of constants, and takes what this one learns. It may
	// be nil.
	Memo *Memo
	// Stopped is asked before each node; the error that it returns ends the analysis. It may be nil.
	Stopped func() error
	// Beside asks for the bounds of the model with values held in other formats too, see [Result.Held]; they are
	// found at the same time, for [Result.Beside]. It may be nil.
	Beside func(v *graph.Value) numfmt.Format
}

// OpCount counts the nodes of an operator.
type OpCount struct {
	Op    string // as [graph.OpName] writes it
	Count int
}

// InputRange is an input of the main graph, or an initializer that may move, with its range.
type InputRange struct {
	Value *graph.Value
	Range Range
	Basis Basis
	Note  string // for a default: the evidence
	// Derived tells that a default follows from the rest of the model, and is no guess.
	Derived bool
}

// Result holds the bounds of every value of a model.
type Result struct {
	vals    map[*graph.Value]*Val
	unknown []OpCount
	inputs  []InputRange
	growing []Growth
	p       *pass
	beside  *Result // nil for none
}

// Val returns what is known of a value; a value that was never reached may be anything. Constants
// are as the file has them, also where they will be held low.
func (r *Result) Val(v *graph.Value) *Val {
	if v.Const != nil && !r.p.moving[v] {
		return r.p.constant(v.Const)
	}
	if x := r.vals[v]; x != nil {
		return x
	}
	return r.p.val(v)
}

// UnknownOps lists the operators without a transfer function, sorted by name.
func (r *Result) UnknownOps() []OpCount { return r.unknown }

// Inputs lists the inputs of the main graph and the initializers that may move, in the order of the
// file.
func (r *Result) Inputs() []InputRange { return r.inputs }

// Growth lists the carried values that grow with the number of iterations, in the order they were met.
// Rule loop-growth reads from it after how many iterations a format overflows.
func (r *Result) Growth() []Growth { return r.growing }

// pass is the state of one analysis.
type pass struct {
	stopped error // what ended the analysis early
	m       *graph.Model
	info    *infer.Info
	opt     Options
	facts   *pattern.Set
	ops     map[string]op
	follows map[string]follow
	read    map[*graph.Value]int // how often a value was read
	res     *Result
	vals    map[*graph.Value]*Val
	memo    *Memo
	moving  map[*graph.Value]bool // rests on an initializer that may move
	missing map[string]int
	counted map[*graph.Node]bool
	steps   int
	held    int // bounds kept after their last reader
	curves  int // channels over which a function was integrated
	sizes   map[*graph.Graph]*infer.Supposition
	tokens  map[*graph.Value]*tokenized
	opened  map[*tokens.Set]bool // those that were looked at
	worked  float64              // products multiplied and added for them
}

// Analyze bounds every value of a model whose types and constants info, the result of infer.Run,
// has set.
func Analyze(m *graph.Model, info *infer.Info, opt Options) (*Result, error) {
	facts := pattern.Find(m)
	past, err := settlePasts(m, info, &opt, facts)
	if err != nil {
		return nil, err
	}
	if len(past) > 0 {
		maps.Copy(past, opt.Ranges)
		opt.Ranges = past
	}
	r, err := analyze(m, info, opt, facts)
	if err == nil {
		r.p.memo.sets.Release()
	}
	return r, err
}

func analyze(m *graph.Model, info *infer.Info, opt Options, facts *pattern.Set) (*Result, error) {
	p := &pass{m: m, info: info, opt: opt, facts: facts, ops: operators(), follows: followers(), read: map[*graph.Value]int{}, vals: map[*graph.Value]*Val{},
		memo: opt.Memo, moving: map[*graph.Value]bool{}, missing: map[string]int{}, counted: map[*graph.Node]bool{}, sizes: map[*graph.Graph]*infer.Supposition{}, tokens: map[*graph.Value]*tokenized{}, opened: map[*tokens.Set]bool{}}
	if p.memo == nil {
		p.memo = NewMemo(numfmt.Invalid)
	}
	p.res = &Result{vals: p.vals, p: p}
	if err := p.seed(); err != nil {
		return nil, err
	}
	var b *beside
	if opt.Beside != nil {
		b = p.res.begin(opt.Beside)
	}
	p.graph(m.Graph)
	if p.res.end(b); p.stopped != nil {
		return nil, p.stopped
	}
	for name, n := range p.missing {
		p.res.unknown = append(p.res.unknown, OpCount{name, n})
	}
	slices.SortFunc(p.res.unknown, func(a, b OpCount) int { return strings.Compare(a.Op, b.Op) })
	return p.res, nil
}

// Forget frees the bounds that were found: from now on every value may be anything. The ranges of the
// inputs stay.
func (r *Result) Forget() { clear(r.vals) }

// Patterns returns the patterns that were found in the model.
func (r *Result) Patterns() *pattern.Set { return r.p.facts }

// Held bounds the same model once more, with the same ranges of its inputs but values held in other
// formats, and without estimates. What is known of constants and patterns is shared.
func (r *Result) Held(hold func(v *graph.Value) numfmt.Format) (*Result, error) {
	held, err := analyze(r.p.m, r.p.info, r.heldIn(hold), r.p.facts)
	if err == nil {
		held.p.memo.sets.Release()
	}
	return held, err
}

// heldIn returns the options of Held.
func (r *Result) heldIn(hold func(v *graph.Value) numfmt.Format) Options {
	opt := r.p.opt
	opt.Hold, opt.Memo, opt.NoMoments, opt.Ranges, opt.Beside = hold, r.p.memo, true, map[string]Given{}, nil
	for _, in := range r.inputs {
		opt.Ranges[in.Value.Name] = Given{Range: in.Range, Basis: in.Basis, Note: in.Note, Derived: in.Derived}
	}
	return opt
}

// seed sets the inputs and the initializers that may move.
func (p *pass) seed() error {
	used := map[string]bool{}
	for _, v := range p.m.Graph.Values {
		d, given := p.opt.Ranges[v.Name]
		switch {
		case v.Producer != nil:
			continue
		case given && d.Range.Lo > d.Range.Hi || math.IsNaN(d.Range.Lo) || math.IsNaN(d.Range.Hi):
			return fmt.Errorf("range of %q: %v is empty", v.Name, d.Range)
		case given && v.Input && v.Const == nil, given && p.moves(v, d.Range):
			p.declare(v, d)
			used[v.Name] = true
		case v.Input && v.Const == nil:
			p.guess(v)
		}
	}
	return nil
}

// declare sets the range given for a value. An infinite end of it is a bound that does not exist,
// unless the data hold such an element.
func (p *pass) declare(v *graph.Value, d Given) {
	x := scalar(d.Range)
	x.basis = d.Basis
	if d.Basis == Unknown {
		x.why = v
	}
	e := element(v.Type)
	x.integer = !e.IsFloat()
	x.nan, x.posInf, x.negInf = d.NaN, d.Inf && math.IsInf(d.Range.Hi, 1), d.Inf && math.IsInf(d.Range.Lo, -1)
	if f, ok := held(e); ok { // the data are stored as the input's type
		x.lo[0], x.hi[0] = roundOut(f, d.Range)
	}
	x.mom = p.priorOf(v, d.Range)
	p.vals[v] = x
	p.moving[v] = v.Init != nil
	p.res.inputs = append(p.res.inputs, InputRange{Value: v, Range: d.Range, Basis: d.Basis, Note: d.Note, Derived: d.Derived})
}

// roundOut rounds a range into a format, but does not let a finite end become infinite.
func roundOut(f numfmt.Format, r Range) (lo, hi float64) {
	lo, hi = r.Lo, r.Hi
	if !math.IsInf(lo, 0) {
		lo = math.Max(f.RoundSat(lo), -f.Max())
	}
	if !math.IsInf(hi, 0) {
		hi = math.Min(f.RoundSat(hi), f.Max())
	}
	return lo, hi
}

// moves tells whether an initializer is freed by a range: only a float one, and only by a range
// other than what its values span.
func (p *pass) moves(v *graph.Value, r Range) bool {
	if v.Init == nil || !v.Type.Elem.IsFloat() {
		return false
	}
	h := p.constant(v.Init).Hull()
	return h != r && (float64(float32(r.Lo)) != h.Lo || float64(float32(r.Hi)) != h.Hi)
}

// graph bounds the values of a scope, in order.
func (p *pass) graph(g *graph.Graph) {
	for _, n := range g.Nodes {
		if p.opt.Stopped != nil && p.stopped == nil {
			p.stopped = p.opt.Stopped()
		}
		if p.stopped != nil {
			return
		}
		p.node(n)
	}
}

// val returns what is known of a value so far.
func (p *pass) val(v *graph.Value) *Val {
	if v.Const != nil && !p.moving[v] {
		return p.hold(v, p.constant(v.Const))
	}
	if x := p.vals[v]; x != nil {
		if v.Producer == nil && v.Graph.Kind == graph.MainGraph { // given as it is, and read as it is held
			return p.hold(v, x)
		}
		return x
	}
	if v.Sparse != nil {
		return p.sparse(v)
	}
	return typed(anything(v), v.Type)
}

// node bounds the outputs of a node.
func (p *pass) node(n *graph.Node) {
	if p.folded(n) {
		return
	}
	if n.Call != nil {
		p.call(n)
		return
	}
	c := &call{p: p, n: n, in: make([]*Val, len(n.Inputs))}
	for i, v := range n.Inputs {
		if v != nil {
			c.read(i, v)
			c.in[i] = p.val(v)
		}
	}
	o, ok := p.ops[n.OpName()]
	if !ok {
		p.unknown(n)
		return
	}
	outs := o.f(c)
	for i, v := range n.Outputs {
		if v == nil {
			continue
		}
		var x *Val
		if i < len(outs) {
			x = outs[i]
		}
		if x == nil {
			x = c.anything()
		}
		x = c.byTokens(c.followed(i, v, c.finish(v, x, o)))
		p.set(v, c.pieced(v, x, o))
		c.tokenize(i, v)
	}
	for i, v := range n.Outputs {
		if v != nil && p.vals[v] != nil {
			p.vals[v] = c.estimated(i, v, p.vals[v])
		}
	}
	p.release(n)
}

// maxHeld is the number of bounds that are kept per channel after their last reader: 32 MB of them,
// and as much of estimates. In a larger model values that nothing reads any more keep their hull.
const maxHeld = 1 << 21

// release drops what no node reads any more: balls, which hold matrices, and pieces. Bodies of loops
// are read again, so theirs stay.
func (p *pass) release(n *graph.Node) {
	for _, v := range n.Inputs {
		if v == nil || v.Producer == nil || v.Graph.Kind != graph.MainGraph || p.vals[v] == nil || v.Const != nil {
			continue
		}
		if p.read[v]++; p.read[v] < len(v.Uses) {
			continue
		}
		x := p.vals[v]
		if p.held += len(x.lo); p.held > maxHeld && len(x.lo) > 1 {
			mom := x.mom
			if x = x.flat(); mom != nil {
				x = x.clone()
				x.mom = mom.flat()
			}
		}
		if x.ball != nil || x.pieces != nil || x.mix != nil {
			x = x.clone()
			x.ball, x.pieces, x.mix = nil, nil, nil
		}
		p.vals[v] = x
	}
}

// folded takes outputs that are the same in every run as they are.
func (p *pass) folded(n *graph.Node) bool {
	moving := false
	for _, v := range n.Inputs {
		moving = moving || v != nil && p.moving[v]
	}
	done := !moving
	for _, v := range n.Outputs {
		if v == nil {
			continue
		}
		if moving {
			p.moving[v] = true
		}
		if done = done && v.Const != nil; done {
			p.vals[v] = p.constant(v.Const)
		}
	}
	return done
}

// set enters the bounds of a value, with what the pattern it completes adds to them and as the
// format holds it.
func (p *pass) set(v *graph.Value, x *Val) {
	if v.Const != nil && !p.moving[v] {
		x = p.constant(v.Const)
	}
	x = p.hold(v, p.fact(v, x))
	p.vals[v] = x.ranked(v.Type.Shape).fit()
}

// ranked gives a value as many dimensions as its shape has. Bounds with more, or of other sizes than
// the shape's, come from a model that contradicts itself.
func (v *Val) ranked(s graph.Shape) *Val {
	if s == nil {
		return v
	}
	if len(v.dims) > len(s) {
		return v.flat()
	}
	for i, d := range v.dims {
		if k := s[len(s)-len(v.dims)+i]; d != 1 && k.Known() && k.N != int64(d) {
			return v.flat()
		}
	}
	if len(v.dims) == len(s) {
		return v
	}
	w := v.clone()
	w.dims = pad(v.dims, len(s))
	return w
}

// unknown makes everything possible behind an operator without transfer function.
func (p *pass) unknown(n *graph.Node) {
	if !p.counted[n] {
		p.counted[n] = true
		p.missing[n.OpName()]++
	}
	for _, v := range n.Outputs {
		if v != nil {
			p.vals[v] = typed(anything(v), v.Type)
		}
	}
}

// call carries the arguments of a function into its body and the results back.
func (p *pass) call(n *graph.Node) {
	args := given(n.Inputs)
	for i, v := range n.Call.Inputs[:min(len(args), len(n.Call.Inputs))] {
		p.vals[v], p.moving[v], p.tokens[v] = p.val(args[i]), p.moving[args[i]], p.tokens[args[i]]
	}
	p.graph(n.Call)
	for i, v := range n.Outputs {
		if v == nil {
			continue
		}
		if i < len(n.Call.Outputs) && n.Call.Outputs[i] != nil {
			p.vals[v], p.tokens[v] = p.val(n.Call.Outputs[i]), p.tokens[n.Call.Outputs[i]]
		} else {
			p.vals[v] = typed(anything(v), v.Type)
		}
	}
}
