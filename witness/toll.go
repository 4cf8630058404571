package witness

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// Toll is what the worst kernels cost at one value: how its elements differ from what kernels that
// accumulate in FP32 and keep subnormals make of the same inputs.
type Toll struct {
	Want, Got float64 // the element that is furthest off
	Loss      float64 // how far, relative to the largest element; infinite where Got is not finite
	Right     bool    // the outputs were right in every run in which it was so far off
}

// noticed is the loss from which on a value is told of, and inherited the share of it that the inputs
// of its node must stay below for the node to be where it happens.
const (
	noticed   = 0.1
	inherited = 0.25
)

// Tolls runs the model on inputs of the ranges with kernels at their best and as opt.Accumulate and
// opt.Flush say, and returns what the latter cost at the nodes where it happens. Where likely is set
// no inputs are made of the ends of their ranges alone: those add up as no data do.
func Tolls(ctx context.Context, m *graph.Model, info *infer.Info, ranges []rangeprop.InputRange, opt Options, likely bool) map[*graph.Value]Toll {
	t := &taker{opt: opt, modes: []mode{spread, corners, high, low, sparse, rows}, tolls: map[*graph.Value]Toll{}, meter: meter{dims: map[*graph.Value][]int{}, most: opt.Work}}
	if likely {
		t.modes = []mode{bell, sparse}
	}
	if settled(m) > opt.Work/share {
		return t.tolls // no run would be followed by one of the slow kernels
	}
	free := movable(ranges)
	best := opt
	best.Accumulate, best.Flush = refeval.FP32, false
	var err error
	if t.best, err = refeval.New(m, best.lowered(free, t.spend, t.observeBest)); err != nil {
		return nil
	}
	t.worst = sync.OnceValues(func() (*refeval.Runner, error) { return refeval.New(m, opt.lowered(free, t.spend, t.observeWorst)) })
	if opt.Limit > 0 {
		limited, cancel := context.WithTimeout(ctx, opt.Limit)
		defer cancel()
		ctx = limited
	}
	ctx, t.stop = context.WithCancel(ctx)
	defer t.stop()
	t.search(ctx, m, info, ranges)
	return t.tolls
}

// taker compares runs of one input.
type taker struct {
	opt   Options
	modes []mode // that inputs are made by, in turn
	best  *refeval.Runner
	worst func() (*refeval.Runner, error)    // made when it is run: it holds the weights once more
	want  map[*graph.Value][]*refeval.Tensor // of the best kernels, as often as a value is made
	made  map[*graph.Value]int               // in the run of the worst
	loss  map[*graph.Value]Toll
	order []*graph.Value
	tolls map[*graph.Value]Toll
	meter
}

func (t *taker) search(ctx context.Context, m *graph.Model, info *infer.Info, ranges []rangeprop.InputRange) {
	for _, in := range t.opt.Samples {
		t.try(ctx, in)
	}
	for space, err := range spaces(m, info, ranges, false, t.opt.Padding) {
		if err != nil {
			continue
		}
		rng := rand.New(rand.NewPCG(seed, seed))
		done := 0
		for i := range t.opt.Runs {
			if ctx.Err() != nil || !t.try(ctx, space.draw(func(j int) mode { return space.unless(j, t.modes[i%len(t.modes)]) }, rng)) {
				break
			}
			done++
		}
		if done > 0 || ctx.Err() != nil {
			return
		}
	}
}

// share is how much of all the work a run of the best kernels may take for the slow one to follow.
const share = 4

// try runs one input both ways; false where it cannot be run.
func (t *taker) try(ctx context.Context, in Input) bool {
	t.want, t.made, t.loss, t.order = map[*graph.Value][]*refeval.Tensor{}, map[*graph.Value]int{}, map[*graph.Value]Toll{}, nil
	before := t.work
	want, err := t.best.Run(ctx, in)
	if err != nil || t.work-before > t.most/share {
		return false
	}
	worst, err := t.worst()
	if err != nil {
		return false
	}
	got, err := worst.Run(ctx, in)
	if err != nil {
		return false
	}
	right := same(want, got)
	for _, v := range t.order {
		t.note(v, right)
	}
	return true
}

func (t *taker) observeBest(v *graph.Value, x *refeval.Tensor) {
	if x.Elem.IsFloat() {
		t.want[v] = append(t.want[v], x)
	}
}

func (t *taker) observeWorst(v *graph.Value, x *refeval.Tensor) {
	i := t.made[v]
	t.made[v]++
	if !x.Elem.IsFloat() || i >= len(t.want[v]) {
		return
	}
	l := lossOf(t.want[v][i], x)
	if old, ok := t.loss[v]; !ok || l.Loss > old.Loss {
		t.loss[v] = l
	}
	if i == 0 {
		t.order = append(t.order, v)
	}
}

// lossOf compares two tensors. Elements that are not finite at their best do not count.
func lossOf(want, got *refeval.Tensor) Toll {
	scale, worst, at0 := 0.0, 0.0, -1
	for i := range min(want.Len(), got.Len()) {
		w, g := at(want, i), at(got, i)
		if !finite(w) {
			continue
		}
		scale = math.Max(scale, math.Abs(w))
		if off := math.Abs(g - w); !finite(g) {
			return Toll{Want: w, Got: g, Loss: math.Inf(1)}
		} else if off > worst {
			worst, at0 = off, i
		}
	}
	if at0 < 0 || scale == 0 {
		return Toll{}
	}
	return Toll{Want: at(want, at0), Got: at(got, at0), Loss: worst / scale}
}

// note keeps the loss of a value where its node makes it and does not take it over.
func (t *taker) note(v *graph.Value, right bool) {
	l, n := t.loss[v], v.Producer
	if l.Loss < noticed || n == nil || n.Op == "Constant" || n.Call != nil || len(n.Subgraphs()) > 0 {
		return
	}
	for _, in := range n.Inputs {
		if x := t.loss[outside(in)]; in != nil && x.Loss >= math.Min(noticed, inherited*l.Loss) {
			return
		}
	}
	l.Right = right
	if old, ok := t.tolls[v]; ok {
		l.Right = l.Right && old.Right
		if old.Loss > l.Loss {
			right := l.Right
			l = old
			l.Right = right
		}
	}
	t.tolls[v] = l
}
