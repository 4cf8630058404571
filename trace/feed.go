package trace

import (
	"context"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/samples"
)

// Inputs lists the inputs of a model in the order that data files count them in: first those that
// a caller must give, then the initializers that files of IR versions below 4 list among them.
func Inputs(m *graph.Model) []*graph.Value {
	list := slices.Clone(m.Graph.Inputs)
	given := func(v *graph.Value) int {
		if v.Init != nil || v.Sparse != nil {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b *graph.Value) int { return given(a) - given(b) })
	return list
}

// Load reads the samples at a path. Without a path there is one without inputs, which is all that
// some models need.
func Load(path string, m *graph.Model) ([]*samples.Sample, error) {
	if path == "" {
		return []*samples.Sample{{}}, nil
	}
	return samples.Load(path, Inputs(m), weights(m)...)
}

// weights lists the initializers that are no inputs. A sample may hold other values for them, as a
// witness does where a range lets them move.
func weights(m *graph.Model) []*graph.Value {
	var list []*graph.Value
	for _, v := range m.Graph.Inits() {
		if !v.Input {
			list = append(list, v)
		}
	}
	return list
}

// moved lists the weights that samples hold values for.
func moved(m *graph.Model, list []*samples.Sample) []*graph.Value {
	return slices.DeleteFunc(weights(m), func(v *graph.Value) bool {
		return !slices.ContainsFunc(list, func(s *samples.Sample) bool { return s.Inputs[v.Name] != nil })
	})
}

// feed returns the inputs of a sample in the types that the model declares: numpy's own default is
// double, and int64.
func feed(m *graph.Model, s *samples.Sample) (map[string]*refeval.Value, error) {
	in := map[string]*refeval.Value{}
	for _, v := range slices.Concat(m.Graph.Inputs, moved(m, []*samples.Sample{s})) {
		x := s.Inputs[v.Name]
		if x == nil {
			continue
		}
		val, err := refeval.FromSample(x)
		if err == nil {
			val, err = asDeclared(val, v.Type)
		}
		if err != nil {
			return nil, &refeval.InputError{Name: v.Name, Problem: "cannot be taken: " + err.Error()}
		}
		in[v.Name] = val
	}
	return in, nil
}

func asDeclared(x *refeval.Value, t graph.Type) (*refeval.Value, error) {
	for t.Kind != graph.KindTensor && t.Of != nil {
		t = *t.Of
	}
	if t.Kind != graph.KindTensor || t.Elem == graph.Undefined || x.Kind == graph.KindMap {
		return x, nil
	}
	return x.Convert(t.Elem)
}

// Run evaluates a model on a sample and returns its outputs in their order.
func Run(ctx context.Context, m *graph.Model, s *samples.Sample, opt Options) ([]samples.Named, error) {
	in, err := feed(m, s)
	if err != nil {
		return nil, err
	}
	opt.free = moved(m, []*samples.Sample{s})
	r, err := refeval.New(m, opt.target())
	if err != nil {
		return nil, err
	}
	out, err := r.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	return named(m, out), nil
}

// named returns the outputs in the order of the model.
func named(m *graph.Model, out map[string]*refeval.Value) []samples.Named {
	list := make([]samples.Named, len(m.Graph.Outputs))
	for i, v := range m.Graph.Outputs {
		list[i] = samples.Named{Name: v.Name, Type: v.Type, Value: out[v.Name].ToSample()}
	}
	return list
}
