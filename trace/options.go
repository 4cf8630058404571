package trace

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
)

// Options say how a model is run.
type Options struct {
	// As is the format that FLOAT values are rounded to; Invalid or FP32 leaves them.
	As         numfmt.Format
	Accumulate refeval.Accumulate
	Flush      bool // subnormals turn to zero
	// MaxMemory and Threads bound a run; 0 is the evaluator's default.
	MaxMemory int64
	Threads   int
	Seed      int64
	// Progress is told how many nodes are done.
	Progress func(done, total int)

	free []*graph.Value // weights that samples hold values for
}

// target returns the options of the run that is looked at.
func (o Options) target() refeval.Options {
	r := refeval.Options{As: o.As, Accumulate: o.Accumulate, FlushSubnormals: o.Flush, Free: o.free,
		MaxMemory: o.MaxMemory, Threads: o.Threads, Seed: o.Seed, Progress: o.Progress}
	if r.As == numfmt.FP32 {
		r.As = numfmt.Invalid
	}
	return r
}

// reference returns the options of the run that the other is held against: in FP32, what is stored
// in less included.
func (o Options) reference() refeval.Options {
	return refeval.Options{Wide: true, Free: o.free, MaxMemory: o.MaxMemory, Threads: o.Threads, Seed: o.Seed}
}
