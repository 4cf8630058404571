package witness

import (
	"context"
	"errors"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval"
)

// perElement is what an element costs beside its sum of products: it is read, written, rounded and
// looked at.
const perElement = 16

// perForm and perPlan are what a node costs before it runs: of a form of the model that edits make, whose types
// follow, and of a model whose run is planned.
const (
	perForm = 1 << 15
	perPlan = 1 << 13
)

// meter counts the operations of runs. It does not count time, so that a slow machine finds what a
// fast one does.
type meter struct {
	dims map[*graph.Value][]int // as last seen
	work int64                  // operations so far
	most int64                  // that are allowed
	stop context.CancelFunc     // ends all runs
}

// spend adds the work of a result and ends the runs once all that is allowed is spent.
func (p *meter) spend(v *graph.Value, t *refeval.Tensor) {
	p.dims[v] = t.Dims
	if v.Producer != nil {
		p.work += int64(t.Len()) * (perElement + p.depth(v.Producer, t))
	}
	if p.work > p.most {
		p.stop()
	}
}

// planned adds the work that a run of a model takes before it begins. It fails where none is left.
func (p *meter) planned(m *graph.Model, perNode int64) error {
	if p.work > p.most {
		p.stop()
		return errSpent
	}
	for range m.Nodes() {
		p.work += perNode
	}
	return nil
}

var errSpent = errors.New("the work allowed is used up")

// work returns the number of operations that all runs of a model may take.
func (o *Options) work(m *graph.Model) int64 {
	run := foreseen(m, nil)
	return max(o.Work, min(int64(o.Least)*run, o.Most), o.must(run))
}

// must is what runs take that show anything at all, up to the end of what is allowed for them.
func (o *Options) must(run int64) int64 { return min(int64(o.Must)*run, o.Far) }

// Fits tells whether the work that is allowed suffices for runs that show anything. A run that its end would cut off
// only takes time.
func (o *Options) Fits(m *graph.Model) bool { return o.fits(m, nil) }

func (o *Options) fits(m *graph.Model, length func(graph.Dim) int) bool {
	return o.Must == 0 || int64(o.Must)*foreseen(m, length) <= max(o.Work, o.Far)
}

// foreseen returns what a run of the main graph takes at least, where open dimensions have the lengths that are given,
// and those of which 0 is given, or all where length is nil, one of 1.
func foreseen(m *graph.Model, length func(graph.Dim) int) (work int64) {
	p := &meter{dims: map[*graph.Value][]int{}}
	for _, v := range m.Graph.Values {
		if v.Type.Shape != nil {
			p.dims[v] = sizes(v.Type.Shape, length)
		}
	}
	return p.total(m)
}

// settled returns what the nodes take whose shapes are known.
func settled(m *graph.Model) int64 {
	p := &meter{dims: map[*graph.Value][]int{}}
	for _, v := range m.Graph.Values {
		if v.Type.Shape != nil && !slices.ContainsFunc(v.Type.Shape, func(d graph.Dim) bool { return !d.Known() }) {
			p.dims[v] = sizes(v.Type.Shape, nil)
		}
	}
	return p.total(m)
}

// total adds up what the nodes of the main graph take.
func (p *meter) total(m *graph.Model) (work int64) {
	for _, n := range m.Graph.Nodes {
		for _, v := range n.Outputs {
			if dims := p.dims[v]; dims != nil && n.Op != "Constant" {
				work += size(dims) * (perElement + p.depth(n, &refeval.Tensor{Dims: dims}))
			}
		}
	}
	return work
}

// sizes returns the numbers of a shape, with the lengths of open dimensions.
func sizes(s graph.Shape, length func(graph.Dim) int) []int {
	dims := make([]int, len(s))
	for i, d := range s {
		switch {
		case d.Known():
			dims[i] = int(d.N)
		case length != nil:
			dims[i] = max(length(d), 1)
		default:
			dims[i] = 1
		}
	}
	return dims
}

// depth estimates the products summed for one element of a result.
func (p *meter) depth(n *graph.Node, out *refeval.Tensor) int64 {
	rank := len(out.Dims)
	if rank == 0 || out.Len() == 0 {
		return 0
	}
	last := int64(out.Dims[rank-1])
	switch n.Op {
	case "MatMul", "Gemm", "FusedMatMul", "FusedGemm", "MatMulInteger", "MatMulNBits":
		return p.size(n, 0) * last / int64(out.Len())
	case "Conv", "FusedConv", "NhwcConv", "ConvTranspose", "ConvInteger":
		if w := p.shape(n, 1); len(w) > 0 && w[0] > 0 {
			return p.size(n, 1) / int64(w[0])
		}
	case "LSTM", "GRU", "RNN", "DynamicQuantizeLSTM":
		return (p.size(n, 1) + p.size(n, 2)) / max(last, 1)
	case "Attention", "MultiHeadAttention", "GroupQueryAttention":
		return 2 * p.size(n, 1) / max(last, 1)
	}
	return 0
}

func (p *meter) shape(n *graph.Node, i int) []int {
	if i >= len(n.Inputs) || n.Inputs[i] == nil {
		return nil
	}
	return p.dims[n.Inputs[i]]
}

// size is the number of elements of an input, 0 where it was not seen.
func (p *meter) size(n *graph.Node, i int) int64 {
	dims := p.shape(n, i)
	if dims == nil {
		return 0
	}
	return size(dims)
}

// empty tells whether values were seen without elements, and none with some: the length that was
// tried is too short for windows that slide over it.
func (p *meter) empty(values []*graph.Value) bool {
	none := false
	for _, v := range values {
		dims, seen := p.dims[v]
		if seen && slices.Min(append([]int{1}, dims...)) > 0 {
			return false
		}
		none = none || seen
	}
	return none
}
