package refeval

import (
	"runtime"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// Accumulate says how sums run inside a kernel: reductions, products of matrices, convolutions,
// norms, softmax.
type Accumulate uint8

// The ways to accumulate.
const (
	FP32    Accumulate = iota // in float32 (double in double); the result is rounded once
	Target                    // one after the other, each partial result rounded as the result is
	Blocked                   // as Target, in blocks of 32 whose sums are added then
)

// Options say how a model is run. The zero value runs it in the types it is stored in.
type Options struct {
	// As is the format that every input, constant and result of type float is rounded to; Invalid
	// leaves them float. Operands that the schema pins to float are not rounded, and the elements
	// stay of type float: they only hold fewer values.
	As numfmt.Format
	// Wide holds what the model stores in float types below float unrounded, but for constants: the
	// run is the reference that shows what those formats cost. With As, what the model stores in 16 bits
	// is rounded to that format instead.
	Wide bool
	// Accumulate is how sums run inside a kernel.
	Accumulate Accumulate
	// FlushSubnormals turns subnormals of the format a value is held in to zero.
	FlushSubnormals bool
	// Keep tells which values stay float under As; nil keeps none.
	Keep func(v *graph.Value) bool
	// Free are initializers of the main graph that a run may be given other values for, as if they were
	// inputs with a default.
	Free []*graph.Value
	// Goal restricts a run to what these values are computed from; it runs everything where it is
	// empty. Outputs that are not needed for them are then missing.
	Goal []*graph.Value
	// Observe sees every constant, input and result once it is rounded, in the order of the run;
	// of a sequence each tensor. It must not change them.
	Observe func(v *graph.Value, t *Tensor)
	// Shown tells which values Observe is to see; nil for all. Of the other weights less is held.
	Shown func(v *graph.Value) bool
	// Glance tells that Observe looks at elements only until it returns: their memory serves the next
	// results. What it sees otherwise is its own to keep.
	Glance bool
	// Measure sees every value before Observe does, for its type and dimensions alone: elements may serve
	// the next results, and weights may be held in the kernels' layout only.
	Measure func(v *graph.Value, t *Tensor)
	// Shared is where the constants are held; nil for a place of the runner's own.
	Shared *Shared
	// MaxMemory bounds the bytes of the results held at a time; 0 is 16 GiB.
	MaxMemory int64
	// Threads is how many goroutines a kernel may use; 0 is one for each processor, at most four.
	// It never changes a result.
	Threads int
	// Seed is what random operators without a seed of their own start from.
	Seed int64
	// Progress is told how many nodes of the main graph are done.
	Progress func(done, total int)
}

// defaults fills in what is left open.
func (o Options) defaults() Options {
	if o.MaxMemory <= 0 {
		o.MaxMemory = defaultMaxMemory
	}
	if o.Threads <= 0 {
		o.Threads = min(runtime.GOMAXPROCS(0), 4)
	}
	return o
}

// shows tells whether Observe sees the elements of a value.
func (o *Options) shows(v *graph.Value) bool {
	return o.Observe != nil && (o.Shown == nil || o.Shown(v))
}

// watched tells whether somebody is shown what a run computes.
func (o *Options) watched() bool { return o.Observe != nil || o.Measure != nil }

// hold returns the format a value of an element type is rounded to, Invalid where its elements are
// what they are: float without As, double, integers.
func (o *Options) hold(v *graph.Value, e graph.ElemType) numfmt.Format {
	if e == graph.Float || o.wide(e) && e.Bits() >= 16 {
		if v != nil && o.Keep != nil && o.Keep(v) {
			return numfmt.Invalid
		}
		return o.As
	}
	if f, ok := e.Format(); ok && f != numfmt.FP64 && !o.wide(e) {
		return f
	}
	return numfmt.Invalid
}

// wide tells whether values of a type are held unrounded.
func (o *Options) wide(e graph.ElemType) bool {
	return o.Wide && e.IsFloat() && e != graph.Float && e != graph.Double && e != graph.Float8E8M0
}
