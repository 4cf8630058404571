package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// Growth is how a value that a loop carries grows where no widening holds it.
type Growth struct {
	Node  *graph.Node  // the Loop or Scan
	Value *graph.Value // the body's input that is carried
	// Start bounds it at the first iteration.
	Start Range
	// Step is by how much its greatest magnitude grows in the second iteration, and Factor how many
	// times; both are infinite where one iteration leaves every bound behind.
	Step, Factor float64
}

// Iterations returns after how many iterations the bound of the carried value reaches a limit, as its
// first three values continue: in equal steps, or in steps that grow by one ratio. It is 1 where one
// iteration leaves every bound behind, and +Inf where the steps die out before the limit.
func (g Growth) Iterations(limit float64) float64 {
	begin, first := g.Start.MaxAbs(), g.Step/(g.Factor-1)
	rise := first - begin
	ratio := g.Step / rise
	switch {
	case math.IsInf(g.Step, 1) || begin >= limit:
		return 1
	case !(g.Step > 0):
		return math.Inf(1)
	case rise <= 0: // it begins to grow with the second iteration
		return 1 + math.Ceil((limit-first)/g.Step)
	case math.Abs(ratio-1) < 1e-6:
		return math.Ceil((limit - begin) / rise)
	}
	// begin + rise (ratio^n - 1) / (ratio - 1) ≥ limit
	power := 1 + (limit-begin)*(ratio-1)/rise
	if power <= 0 {
		return math.Inf(1)
	}
	return math.Ceil(math.Log(power) / math.Log(ratio))
}

// measure notes by how much the values grow that no widening could hold, from one iteration to the
// next.
func (b *body) measure(start []*Val) {
	last := b.state
	b.state = b.loosened(start)
	first := b.loosened(b.step())
	b.state = first
	second := b.step()
	b.state = last
	for i, v := range b.step() {
		if last[i].holds(v) {
			continue
		}
		x, y := first[i].Hull().MaxAbs(), second[i].Hull().MaxAbs()
		g := Growth{Node: b.n, Value: b.carried[i], Start: start[i].Hull(), Step: y - x, Factor: y / x}
		if math.IsInf(x, 0) || math.IsNaN(g.Factor) {
			g.Step, g.Factor = math.Inf(1), math.Inf(1)
		}
		b.p.res.grows(g)
	}
}

// grows notes how a carried value grows, once: the loop may stand in another one.
func (r *Result) grows(g Growth) {
	for i, old := range r.growing {
		if old.Node == g.Node && old.Value == g.Value {
			r.growing[i] = g
			return
		}
	}
	r.growing = append(r.growing, g)
}
