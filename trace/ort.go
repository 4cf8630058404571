package trace

import (
	"context"
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/ort"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/samples"
)

// Runtime is a model that onnxruntime runs in place of the evaluator.
type Runtime struct {
	m *graph.Model
	s *ort.Session
}

// NewRuntime makes a model ready for onnxruntime. Of the options it honours the format and the
// threads; the caller closes it.
func NewRuntime(e *ort.Engine, m *graph.Model, opt Options) (*Runtime, error) {
	s, err := e.Load(m, ort.Options{As: opt.As, Threads: opt.Threads})
	if err != nil {
		return nil, err
	}
	return &Runtime{m, s}, nil
}

// Close releases what onnxruntime holds.
func (r *Runtime) Close() { r.s.Close() }

// Run runs the model on a sample and returns its outputs in their order, as the function does.
func (r *Runtime) Run(ctx context.Context, s *samples.Sample) ([]samples.Named, error) {
	fed, err := feed(r.m, s)
	if err != nil {
		return nil, err
	}
	in := map[string]*graph.Tensor{}
	for _, v := range r.m.Graph.Inputs {
		x := fed[v.Name]
		switch {
		case x == nil && v.Init == nil && v.Sparse == nil:
			return nil, &refeval.InputError{Name: v.Name, Problem: "is not given"}
		case x == nil:
			continue
		case x.Tensor == nil:
			return nil, fmt.Errorf("input %q: onnxruntime takes tensors only here", v.Name)
		}
		in[v.Name] = x.Tensor.ToGraph(v.Name)
	}
	out, err := r.s.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	list := make([]samples.Named, len(r.m.Graph.Outputs))
	for i, v := range r.m.Graph.Outputs {
		list[i] = samples.Named{Name: v.Name, Type: v.Type, Value: samples.TensorValue(out[v.Name])}
	}
	return list, nil
}
