package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// weighed gathers the moments of a product with a matrix.
type weighed struct {
	*sums
	x       *moments
	flip    bool
	ordered visitor // takes the rows in order, nil where any order will do
}

// productOf returns what gathers the moments of a product with a matrix of rows that are summed over
// from its elements as they are stored, flipped or not.
func (c *call) productOf(x *moments, rows, cols int, flip bool) *weighed {
	keep := make([]bool, len(x.dims))
	if len(keep) > 0 {
		keep[len(keep)-1] = true
	}
	x = x.collapse(keep)
	if len(x.mean) != rows {
		x = x.flat().repeated(rows)
	}
	g := &weighed{sums: newSums(cols, 0), x: x, flip: flip}
	if f := c.frames(rows); f > 0 && f*cols <= maxFrames {
		g.ordered = framed(g.sums, x, f, cols, flip)
	}
	return g
}

func (g *weighed) add(row, from int, part []float64) {
	switch {
	case g.ordered != nil:
		g.ordered(row, from, part)
	case g.flip:
		mean, vari := g.x.mean[from:from+len(part)], g.x.vari[from:from+len(part)]
		for i, w := range part {
			g.mean[row] += w * mean[i]
			g.own[row] += w * w * vari[i]
		}
	default:
		m, v := g.x.mean[row], g.x.vari[row]
		mean, vari := g.mean[from:from+len(part)], g.own[from:from+len(part)]
		for i, w := range part {
			mean[i] += w * m
			vari[i] += w * w * v
		}
	}
}

func (g *weighed) addRows(int, int, []float32) bool { return false }

func (g *weighed) fork() gatherer {
	switch {
	case g.ordered != nil:
		return nil
	case g.flip: // no two sections touch one sum
		return g
	}
	return &weighed{sums: newSums(len(g.mean), g.rho), x: g.x}
}

func (g *weighed) join(o gatherer) {
	if x := o.(*weighed); x != g {
		addTo(g.mean, x.mean)
		addTo(g.own, x.own)
	}
}

// maxFrames limits what is remembered of the frames before.
const maxFrames = 1 << 22

// frames tells whether the first factor is an input of the model, a series of rows of features, laid out
// flat: it returns the number of features in a row, else 0. Such rows are frames of a signal, whose
// windows overlap, so that a feature differs little from one to the next.
func (c *call) frames(rows int) int {
	v := c.n.In(0)
	if v == nil || v.Producer == nil {
		return 0
	}
	switch v.Producer.OpName() {
	case "Flatten", "Reshape":
	default:
		return 0
	}
	in := v.Producer.In(0)
	if in == nil || !in.Input || in.Const != nil || in.Graph.Kind != graph.MainGraph || len(in.Type.Shape) != 3 {
		return 0
	}
	t, f := in.Type.Shape[1], in.Type.Shape[2]
	if !t.Known() || !f.Known() || t.N < 2 || f.N < 1 || t.N*f.N != int64(rows) {
		return 0
	}
	return int(f.N)
}

// framed takes terms of which every f-th is a sample of the same feature.
func framed(s *sums, x *moments, f, cols int, flip bool) visitor {
	before := make([]float64, f*cols) // the terms read, each weighted by its correlation with the next
	return func(row, from int, part []float64) {
		for i, w := range part {
			in, out := row, from+i
			if flip {
				in, out = from+i, row
			}
			b, d := &before[in%f*cols+out], w*math.Sqrt(x.vari[in])
			s.mean[out] += w * x.mean[in]
			s.own[out] += d * (d + 2**b)
			*b = samples * (*b + d)
		}
	}
}
