package trace

import (
	"context"
	"errors"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/samples"
)

// Only so much of what led to a failure is kept: steps back from the first bad node, and elements
// of one value.
const (
	stepsBack   = 3
	maxElements = 1 << 22
)

// LedTo returns the values around the first failure of a trace, each in the target's formats and,
// under NAME@fp32, beside it: the results and operands of its node and of a few nodes before it. It
// runs the sample once more.
func LedTo(ctx context.Context, m *graph.Model, s *samples.Sample, opt Options, t *Trace) ([]samples.Named, error) {
	f := t.First()
	if f == nil {
		return nil, nil
	}
	wanted := map[*graph.Value]bool{}
	around(f.Value.Producer, stepsBack, wanted)
	return Keep(ctx, m, s, opt, func(v *graph.Value) bool { return wanted[v] })
}

// around adds the results and operands of a node, and those of the nodes that made them.
func around(n *graph.Node, steps int, set map[*graph.Value]bool) {
	if n == nil {
		return
	}
	for _, v := range slices.Concat(n.Outputs, n.Inputs) {
		if v != nil {
			set[v] = true
		}
	}
	if steps == 0 {
		return
	}
	for _, v := range n.Inputs {
		if v != nil {
			around(v.Producer, steps-1, set)
		}
	}
}

// Keep runs a sample and returns the values that want names: of the target and, where the
// reference has them too, of that under NAME@fp32. Of what is made several times the last counts;
// values of more than four million elements are left out.
func Keep(ctx context.Context, m *graph.Model, s *samples.Sample, opt Options, want func(v *graph.Value) bool) ([]samples.Named, error) {
	opt.free = moved(m, []*samples.Sample{s})
	k := &keeper{want: want, place: map[string]int{}}
	p, err := newPair(m, opt, k.see)
	if err != nil {
		return nil, err
	}
	var stopped *refeval.NodeError // what was seen until then is still of use
	if _, err := p.run(ctx, m, s); err != nil && !errors.As(err, &stopped) {
		return nil, err
	}
	return k.list, nil
}

type keeper struct {
	want  func(v *graph.Value) bool
	list  []samples.Named
	place map[string]int
}

func (k *keeper) see(v *graph.Value, got, want *refeval.Tensor, _ numfmt.Format) {
	if !k.want(v) || got.Len() > maxElements {
		return
	}
	k.put(v.Key(), got)
	if want != nil && isReal(got) {
		k.put(v.Key()+"@fp32", &refeval.Tensor{Elem: wideElem(want.Elem), Dims: want.Dims, F: want.F, D: want.D})
	}
}

// wideElem is the type of what the reference holds unrounded.
func wideElem(e graph.ElemType) graph.ElemType {
	if e.IsFloat() && e != graph.Double {
		return graph.Float
	}
	return e
}

func (k *keeper) put(name string, t *refeval.Tensor) {
	n := samples.Named{Name: name, Value: refeval.TensorValue(t).ToSample()}
	if i, ok := k.place[name]; ok {
		k.list[i] = n
		return
	}
	k.place[name] = len(k.list)
	k.list = append(k.list, n)
}
