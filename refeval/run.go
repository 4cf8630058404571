package refeval

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval/kern"
)

// Runner is a model planned for evaluation. It holds the model's constants and may be used from
// several goroutines at a time.
type Runner struct {
	model     *graph.Model
	opt       Options
	main      *plan
	constants []constant
	arena     atomic.Pointer[arena] // of the last run, for the next
	engine    *kern.Engine          // its threads end with the runner
}

// New plans a model: it finds the kernel of every node, reads the constants, rounds them, and works
// out where each value is read last. An operator that has no kernel is an error that names the node.
func New(m *graph.Model, opt Options) (*Runner, error) {
	r := &Runner{model: m, opt: opt.defaults()}
	p := &planner{r: r, free: setOf(opt.Free), cone: coneOf(m.Graph, opt.Goal), consts: map[slotKey]*Value{}, scratch: []float32{}}
	var err error
	r.main, err = p.graph(m.Graph, nil)
	if err != nil {
		return nil, err
	}
	r.engine = kern.New(r.opt.Threads)
	runtime.AddCleanup(r, (*kern.Engine).Close, r.engine)
	return r, nil
}

// InputError says that an input of a run does not fit the model.
type InputError struct {
	Name    string
	Problem string // what is wrong, such as "is not given"
}

// Error returns the name and the problem.
func (e *InputError) Error() string { return fmt.Sprintf("input %q %s", e.Name, e.Problem) }

// run is one evaluation of the model.
type run struct {
	r          *Runner
	ctx        context.Context
	live, peak int64
	max        int64
	arena      *arena       // nil where a constant is folded
	draws      int          // evaluations of random operators
	fold       bool         // of one node, to fold a constant
	spent      atomic.Int64 // operations, of a constant that is folded
}

// frame holds the values of a graph while it runs.
type frame struct {
	vals  []*Value
	outer *frame
}

// Run evaluates the model on inputs by name and returns its outputs by name. Inputs that have an
// initializer may be left out. It ends early, between two nodes, when ctx does. An error that comes
// from a node names it.
func (r *Runner) Run(ctx context.Context, inputs map[string]*Value) (map[string]*Value, error) {
	x := &run{r: r, ctx: ctx, max: r.opt.MaxMemory, arena: r.arena.Swap(nil)}
	if x.arena == nil {
		x.arena = &arena{free: map[int][][]float32{}}
	}
	defer r.arena.Store(x.arena)
	f := &frame{vals: make([]*Value, len(r.main.last))}
	if err := x.feed(f, inputs); err != nil {
		return nil, err
	}
	for _, c := range r.constants {
		x.observe(c.v, TensorValue(c.t))
	}
	outs, err := x.plan(r.main, f)
	if err != nil {
		return nil, err
	}
	named := map[string]*Value{}
	for i, name := range r.main.names {
		named[name] = outs[i]
	}
	return named, nil
}

// feed puts the inputs of the main graph into its frame.
func (x *run) feed(f *frame, inputs map[string]*Value) error {
	for _, in := range x.r.main.inputs {
		v := inputs[in.v.Name]
		if v == nil {
			v = in.def
		}
		if v == nil && in.v.Type.Kind == graph.KindOptional {
			v = EmptyOptional()
		}
		if v == nil {
			return &InputError{in.v.Name, "is not given"}
		}
		if err := fits(in.v, v); err != nil {
			return err
		}
		v = bare(v)
		if in.raw >= 0 {
			f.vals[in.raw] = v
		}
		f.vals[in.slot] = x.r.opt.roundedValue(in.v, v)
		x.observe(in.v, f.vals[in.slot])
	}
	return nil
}

// bare returns the value without what another run counted for it: a result may be fed to the next.
func bare(v *Value) *Value {
	r := *v
	if v.Tensor != nil {
		t := *v.Tensor
		t.block = nil
		r.Tensor = &t
	}
	r.Items = nil
	for _, i := range v.Items {
		r.Items = append(r.Items, bare(i))
	}
	return &r
}

// fits refuses an input of another element type or shape than the model declares.
func fits(in *graph.Value, v *Value) error {
	t := in.Type
	if t.Kind != graph.KindTensor || t.Elem == graph.Undefined {
		return nil
	}
	if v.Tensor == nil {
		return &InputError{in.Name, fmt.Sprintf("is %s, the model declares %s", kindName(v.Kind), t)}
	}
	if v.Tensor.Elem != t.Elem || !shaped(v.Tensor.Dims, t.Shape) {
		return &InputError{in.Name, fmt.Sprintf("is %s, the model declares %s", v.Tensor, t)}
	}
	return nil
}

// shaped tells whether a tensor may have the declared shape, as far as it says numbers.
func shaped(dims []int, declared graph.Shape) bool {
	if declared == nil {
		return true
	}
	if len(dims) != len(declared) {
		return false
	}
	for i, d := range declared {
		if d.Known() && int64(dims[i]) != d.N {
			return false
		}
	}
	return true
}

// roundedValue rounds the tensors of an input.
func (o *Options) roundedValue(v *graph.Value, x *Value) *Value {
	r := *x
	if x.Tensor != nil {
		r.Tensor = o.rounded(v, x.Tensor)
	}
	r.Items = nil
	for _, i := range x.Items {
		r.Items = append(r.Items, o.roundedValue(v, i))
	}
	return &r
}

// observe shows a value's tensors to the caller.
func (x *run) observe(v *graph.Value, val *Value) {
	if !x.r.opt.watched() || v == nil {
		return
	}
	for _, t := range val.Tensors() {
		if x.r.opt.Measure != nil {
			x.r.opt.Measure(v, t)
		}
		if x.r.opt.shows(v) {
			x.r.opt.Observe(v, t)
			if t.block != nil && !x.r.opt.Glance {
				t.block.shown = true
			}
		}
	}
}

// plan runs the steps of a graph and returns its outputs, each held once for the caller.
func (x *run) plan(p *plan, f *frame) ([]*Value, error) {
	defer x.clear(f)
	for i, s := range p.steps {
		if err := x.ctx.Err(); err != nil {
			return nil, err
		}
		if err := x.step(f, s); err != nil {
			return nil, nodeErr(s.node, err)
		}
		for _, slot := range s.free {
			x.release(f.vals[slot])
			f.vals[slot] = nil
		}
		if p == x.r.main && x.r.opt.Progress != nil {
			x.r.opt.Progress(i+1, len(p.steps))
		}
	}
	outs := make([]*Value, len(p.outs))
	for i, r := range p.outs {
		outs[i] = f.get(r)
		x.retain(outs[i])
	}
	return outs, nil
}

// clear releases what a frame still holds.
func (x *run) clear(f *frame) {
	for i, v := range f.vals {
		x.release(v)
		f.vals[i] = nil
	}
}

// get returns an operand, nil where it is left out.
func (f *frame) get(r ref) *Value {
	if r.con != nil || r.slot < 0 {
		return r.con
	}
	for range r.depth {
		f = f.outer
	}
	return f.vals[r.slot]
}

// NodeError is an error that the evaluation of a node ended with.
type NodeError struct {
	Node *graph.Node // the innermost
	Err  error
}

// Error names the node and its operator.
func (e *NodeError) Error() string {
	return fmt.Sprintf("node %q (%s): %v", e.Node.Key(), e.Node.OpName(), e.Err)
}

// Unwrap returns what happened.
func (e *NodeError) Unwrap() error { return e.Err }

// nodeErr names the innermost node of an error. What the caller did to the context is no node's
// fault.
func nodeErr(n *graph.Node, err error) error {
	var e *NodeError
	if errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &NodeError{n, err}
}
