package analyze

import (
	"context"
	"sync"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/rules"
	"github.com/amplint/amplint/rules/runtime"
	"github.com/amplint/amplint/witness"
)

// kernelBudgets bound the runs that show what depends on the kernels. Adding in the operands' type
// is slow, so that large models are left to the rules that know of it without a run.
var kernelBudgets = map[string]witness.Options{
	"quick": {Work: 1e8, Limit: budgets["quick"].Limit, Runs: 5},
	"full":  {Work: 1e10, Limit: budgets["full"].Limit, Runs: 20},
}

// kernels tells the rules what is known of the runtime, and what runs show of low accumulation and
// of flushing to zero.
func (a *analysis) kernels(ctx context.Context, t Target, opt *Options, in *rules.Input) {
	in.Kernels = opt.Kernels
	w, ok := kernelBudgets[opt.Effort]
	if !ok || in.Target == numfmt.FP32 {
		return
	}
	a.options(&w, t, opt, in)
	w.Accumulate, w.Flush = refeval.Target, false
	added := sync.OnceValue(func() map[*graph.Value]witness.Toll {
		return witness.Tolls(ctx, a.model, a.info, a.ranges.Inputs(), w, opt.Kernels.Accumulate != runtime.Unsafe)
	})
	low := w
	low.Accumulate, low.Flush = refeval.FP32, true
	flushed := sync.OnceValue(func() map[*graph.Value]witness.Toll {
		if f := opt.Kernels.Flush; f != runtime.Unsafe && f != runtime.Unknown {
			return nil // all that is small is lost: of interest where it is asked for
		}
		return witness.Tolls(ctx, a.model, a.info, a.ranges.Inputs(), low, false)
	})
	in.Tolls = func(v *graph.Value, d rules.Depends) (rules.Toll, bool) {
		from := added
		if d == rules.OnFlush {
			from = flushed
		}
		x, ok := from()[v]
		return rules.Toll{Want: x.Want, Got: x.Got, Right: x.Right}, ok
	}
}

// SetKernels says what is known of the runtime: what its profile says, and above that what the flags
// say. accumulate and flush are "" and nil where nobody said anything.
func (o *Options) SetKernels(name, accumulate string, flush *bool) (err error) {
	if name != "" {
		if o.Kernels, err = runtime.Load(name); err != nil {
			return err
		}
	}
	switch accumulate {
	case "fp32":
		o.Kernels.Accumulate = runtime.Safe
	case "target":
		o.Kernels.Accumulate = runtime.Unsafe
	}
	if flush != nil {
		o.Kernels.Flush = runtime.Safe
		if *flush {
			o.Kernels.Flush = runtime.Unsafe
		}
	}
	o.Accumulate, o.Flush = "fp32", o.Kernels.Flush == runtime.Unsafe
	if o.Kernels.Accumulate == runtime.Unsafe {
		o.Accumulate = "target"
	}
	return nil
}
