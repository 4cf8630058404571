package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
)

// hermite is half of the 24-point Gauss-Hermite rule for a normal variable, points and weights; the
// other half mirrors it.
var hermite = [...][2]float64{
	{0.317370096629452, 0.24087011554664}, {0.953421922932109, 0.161459512867}, {1.59348042981642, 0.0720693640171782},
	{2.24046785169175, 0.0211263444089676}, {2.89772864322331, 0.00397660892918131}, {3.56930676407356, 0.000464718718779396},
	{4.26038360501991, 3.2095005652746e-05}, {4.97804137463912, 1.21765974544259e-06}, {5.7327471752512, 2.26746167348065e-08},
	{6.54167500509863, 1.71866492796487e-10}, {7.43789066602166, 3.7149741527624e-13}, {8.50780351919526, 9.39019368904204e-17},
}

// maxCurves is the number of channels, over all nodes, that functions are integrated over one by
// one. In a model of more nodes than any trained one has, one estimate stands for all channels.
const maxCurves = 1 << 18

// maxChain is the number of operators between a source and a function of it that are run again.
const maxChain = 16

// bends returns the value that an elementwise result is a function of, nil where it is one of several:
// the source of x·sigmoid(x), in whatever spelling, else the only input that is not a number.
func (c *call) bends() *graph.Value {
	var of *graph.Value
	for k, in := range c.in {
		switch v := c.n.In(k); {
		case in == nil || in.number():
		case of != nil && of != v:
			return c.alone()
		default:
			of = v
		}
	}
	return of
}

// alone returns the source of all inputs, nil where others beside it had a part in one.
func (c *call) alone() *graph.Value {
	for _, in := range c.in {
		if in != nil && in.pieces != nil && in.pieces.beside {
			return nil
		}
	}
	of, _ := c.source()
	return of
}

// curved integrates an elementwise function of a value over normal distributions, cut off at the
// bounds of that value.
func (c *call) curved(of *graph.Value) *moments {
	m, h := c.p.moments(of), c.p.val(of).Hull()
	if c.p.curves += len(m.mean); c.p.curves > maxCurves {
		m = m.flat()
	}
	y := c.tried(of, m.points(h), maxChain)
	if y == nil {
		return nil
	}
	return gathered(m, y)
}

// perRule is the number of points at which a function of one normal variable is evaluated.
const perRule = 2 * len(hermite)

// ruleWeight is the weight of the i-th of the points.
func ruleWeight(i int) float64 { return hermite[i%perRule/2][1] }

// points returns the points of the rule for each pair of moments, cut off at the bounds.
func (m *moments) points(h Range) []float64 {
	points := make([]float64, 0, len(m.mean)*perRule)
	for i, mean := range m.mean {
		sd := math.Sqrt(m.vari[i])
		for _, g := range hermite {
			points = append(points, math.Min(math.Max(mean-sd*g[0], h.Lo), h.Hi), math.Min(math.Max(mean+sd*g[0], h.Lo), h.Hi))
		}
	}
	return points
}

// tried returns the first output of an elementwise node at points of a value that stands up to depth
// operators before it, nil where it is a function of more.
func (c *call) tried(of *graph.Value, points []float64, depth int) *Val {
	t := &trial{p: c.p, at: map[*graph.Value]*Val{pattern.Bare(of): exactly1([]int{len(points)}, points)}}
	y := t.run(c.n, depth)
	if y == nil || len(y.lo) != len(points) {
		return nil
	}
	return y
}

// trial evaluates functions of one value at many points.
type trial struct {
	p  *pass
	at map[*graph.Value]*Val
}

// run returns the first output of an elementwise node, nil where it is a function of more.
func (t *trial) run(n *graph.Node, depth int) *Val {
	c := &call{p: t.p, n: n, in: make([]*Val, len(n.Inputs))}
	for k, v := range n.Inputs {
		if v == nil {
			continue
		}
		if c.in[k] = t.value(v, depth); c.in[k] == nil {
			return nil
		}
	}
	o, ok := t.p.ops[n.OpName()]
	if !ok {
		return nil
	}
	outs := o.f(c)
	if len(outs) == 0 {
		return nil
	}
	return outs[0]
}

// value returns what a value is at the points. A number stands without its rank, which says nothing
// of them.
func (t *trial) value(v *graph.Value, depth int) *Val {
	v = pattern.Bare(v)
	if y := t.at[v]; y != nil {
		return y
	}
	if x := t.p.val(v); x.number() {
		return x.flat()
	}
	if v.Producer == nil || v.Index != 0 || depth == 0 || !elementwise(v.Producer) {
		return nil
	}
	y := t.run(v.Producer, depth-1)
	if y != nil {
		t.at[v] = y
	}
	return y
}

// gathered sums function values under the weights of the rule.
func gathered(m *moments, y *Val) *moments {
	out := &moments{m.dims, make([]float64, len(m.mean)), make([]float64, len(m.mean))}
	for i := range out.mean {
		sum, squares, total := 0.0, 0.0, 0.0
		for k := i * perRule; k < (i+1)*perRule; k++ {
			w, x := ruleWeight(k), y.lo[k]/2+y.hi[k]/2
			if math.IsInf(x, 0) || math.IsNaN(x) {
				continue
			}
			sum, squares, total = sum+w*x, squares+w*x*x, total+w
		}
		if total == 0 {
			return nil
		}
		out.mean[i] = sum / total
		out.vari[i] = math.Max(squares/total-out.mean[i]*out.mean[i], 0)
	}
	return out
}
