package minimize

import (
	"math"
	"strconv"
	"strings"

	"github.com/amplint/amplint/graph"
)

// digits are how many digits of numbers are tried to be kept.
var digits = []int{1, 2, 3}

// simpler rounds the numbers of constants and ranges, which are easier to read then.
func (r *reducer) simpler() {
	for i := range r.best.Graph.Inits() {
		if r.left <= 0 {
			return
		}
		if r.try(withConstant(r.best, i, level)) {
			continue
		}
		for _, d := range digits {
			if r.left > 0 && r.try(withConstant(r.best, i, func(x []float64) { roundAll(x, d) })) {
				break
			}
		}
	}
	for i := range r.best.Meta {
		for _, d := range digits {
			if r.left > 0 && r.try(withRange(r.best, i, d)) {
				break
			}
		}
	}
}

// withConstant returns the part with other elements in a FLOAT initializer, nil where that changes
// nothing.
func withConstant(base *graph.Model, i int, change func([]float64)) (*graph.Model, error) {
	m := base.Clone()
	v := m.Graph.Inits()[i]
	if v.Init.Elem != graph.Float || v.Init.Len() > maxFolded {
		return nil, nil
	}
	x, err := v.Init.Float64s()
	if err != nil {
		return nil, err
	}
	change(x)
	for _, f := range x {
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, nil
		}
	}
	same := true
	old, err := v.Init.Float64s()
	if err != nil {
		return nil, err
	}
	out := make([]float32, len(x))
	for i := range x {
		out[i] = float32(x[i])
		same = same && x[i] == old[i]
	}
	if same {
		return nil, nil
	}
	v.SetInit(graph.FloatTensor(v.Name, v.Init.Dims, out...))
	return Reread(m)
}

// level gives all elements the mean magnitude, rounded, and lets them keep their signs: no sum of
// them grows in the mean.
func level(x []float64) {
	sum := 0.0
	for _, f := range x {
		sum += math.Abs(f)
	}
	mean := rounded(sum/float64(max(len(x), 1)), 2)
	for i, f := range x {
		x[i] = math.Copysign(mean, f)
	}
}

func roundAll(x []float64, digits int) {
	for i := range x {
		x[i] = rounded(x[i], digits)
	}
}

func rounded(x float64, digits int) float64 {
	f, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil {
		return x
	}
	return f
}

// withRange returns the part with a range rounded, nil where that changes nothing.
func withRange(base *graph.Model, i, digits int) (*graph.Model, error) {
	m := base.Clone()
	e := m.Meta[i]
	lo, hi, ok := strings.Cut(strings.Trim(e.Value, "[]"), ",")
	if !ok || !strings.HasPrefix(e.Key, rangeKey) {
		return nil, nil
	}
	var r Range
	for to, text := range map[*float64]string{&r.Lo: lo, &r.Hi: hi} {
		x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return nil, nil
		}
		*to = rounded(x, digits)
	}
	if r.String() == e.Value {
		return nil, nil
	}
	m.Meta[i].Value = r.String()
	return Reread(m)
}
