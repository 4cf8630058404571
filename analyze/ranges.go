package analyze

import (
	"context"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
)

// Bound is one float value of a model and what is known of it.
type Bound struct {
	Value *graph.Value
	Range rangeprop.Range
	NaN   bool
	Basis rangeprop.Basis
	// Estimate is nil where there is none.
	Estimate *Estimate
}

// Estimate is what a value most likely is: mean and standard deviation over all its elements, and
// the hull over its channels of mean ± 8 deviations.
type Estimate struct {
	Mean, SD float64
	Likely   rangeprop.Range
}

// Ranges are the bounds of all float values of a model, in graph order.
type Ranges struct {
	Path   string
	Bounds []Bound
	Notes  []string
}

// RangesOf bounds every float value of the model of a file.
func RangesOf(ctx context.Context, path string, opt Options) (*Ranges, error) {
	a, err := load(ctx, path, &opt, false)
	if err != nil {
		return nil, err
	}
	defer a.model.Close()
	r := &Ranges{Path: path, Bounds: []Bound{}, Notes: a.allNotes()}
	for g := range a.model.Graphs() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, v := range g.Values {
			if v.Type.Float() {
				r.Bounds = append(r.Bounds, a.bound(v))
			}
		}
	}
	return r, nil
}

func (a *analysis) bound(v *graph.Value) Bound {
	x := a.ranges.Val(v)
	if x == nil {
		return Bound{Value: v, Range: rangeprop.Range{Lo: math.Inf(-1), Hi: math.Inf(1)}, NaN: true, Basis: rangeprop.Unknown}
	}
	b := Bound{Value: v, Range: x.Hull(), NaN: x.NaN(), Basis: x.Basis()}
	if mean, sd, ok := x.Moments(); ok {
		b.Estimate = &Estimate{mean, sd, x.Likely()}
	}
	return b
}
