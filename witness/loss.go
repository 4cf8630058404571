package witness

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval"
)

// Loss is how far the outputs of another form are off altogether.
type Loss struct {
	Output string
	// Share is the root mean square of the difference of that output over the ordinary inputs that were
	// run, as a share of the output's own; 0 where there is none.
	Share float64
}

// JudgeLoss is [Trial.Judge] that also returns the loss of the output that loses most. Formats so coarse that no
// single element says much are judged by it. It holds for the inputs run up to a fault or an error.
func (t *Trial) JudgeLoss(ctx context.Context, m *graph.Model, tolerance float64) (*Fault, Loss, error) {
	off := squares{}
	fault, err := t.judge(ctx, m, tolerance, func(c trialCase, got map[string]*refeval.Value) {
		if c.ordinary() {
			off.count(c.want, got)
		}
	})
	return fault, off.worst(), err
}

// squares are the sums of squares of each output and of its differences, over its finite elements.
type squares map[string]*struct{ own, off float64 }

func (s squares) count(want, got map[string]*refeval.Value) {
	for name, v := range want {
		w, g := v.Tensors(), got[name].Tensors()
		if s[name] == nil {
			s[name] = &struct{ own, off float64 }{}
		}
		for i := range min(len(w), len(g)) {
			if w[i].Len() != g[i].Len() || !w[i].Elem.IsFloat() || !g[i].Elem.IsFloat() {
				continue
			}
			b := numbers(g[i])
			for k, x := range numbers(w[i]) {
				if d := x - b[k]; !math.IsNaN(d) && !math.IsInf(d, 0) {
					s[name].own += x * x
					s[name].off += d * d
				}
			}
		}
	}
}

// worst returns the greatest loss.
func (s squares) worst() (l Loss) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if x := s[name]; x.own > 0 && math.Sqrt(x.off/x.own) > l.Share {
			l = Loss{name, math.Sqrt(x.off / x.own)}
		}
	}
	return l
}
