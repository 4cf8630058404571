package rules

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/runtime"
)

// Toll is what runs showed of a value whose node depends on its kernel: right with sums in float32
// and gradual underflow, wrong without, from the same inputs.
type Toll struct {
	Want, Got float64 // the element that is furthest off, as it should be and as it came out
	Right     bool    // the outputs were right all the same
}

// byKernels grades a finding that depends on the kernel by what is known of the runtime: what it
// does wrong, or does not tell, is an error; what it does right, nothing to worry about.
func (p *Pass) byKernels(f *Finding) {
	k := &p.Kernels
	switch p.kernelState(f) {
	case runtime.Unsafe:
		f.Severity = Error
		f.Message += "; " + k.Who() + " " + doing[f.Depends]
	case runtime.Unknown:
		f.Severity = Error
		f.Message += "; what " + k.Who() + " does is not documented and taken as the worse"
	case runtime.Safe:
		f.Severity, f.Consequence = Note, Absorbed
		f.Message += "; " + k.Who() + " " + sparing[f.Depends]
	}
}

// doing and sparing say what kernels do that harms, and what they do instead.
var (
	doing   = [...]string{OnInternals: "does not compute it in fp32", OnAccumulation: "adds in the operands' type", OnFlush: "flushes subnormal numbers"}
	sparing = [...]string{OnInternals: "computes it in fp32", OnAccumulation: "adds in fp32", OnFlush: "keeps subnormal numbers"}
)

func (p *Pass) kernelState(f *Finding) runtime.State {
	op := ""
	if f.Node != nil {
		op = f.Node.Op
	}
	switch f.Depends {
	case OnFlush:
		return p.Kernels.Flush
	case OnAccumulation:
		return p.Kernels.Sums(op)
	}
	return p.Kernels.Inside(op)
}

// toll returns what runs showed of a value under kernels that accumulate or flush.
func (p *Pass) toll(v *graph.Value, d Depends) (Toll, bool) {
	if p.Tolls == nil || v == nil {
		return Toll{}, false
	}
	return p.Tolls(v, d)
}
