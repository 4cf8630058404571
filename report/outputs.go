package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/samples"
)

// maxShown is how many elements a summary spells out.
const maxShown = 8

// Outputs writes a summary of the outputs of a run: types, extremes, the first elements.
func Outputs(w io.Writer, sample string, list []samples.Named) error {
	p := &printer{w: w}
	if sample != "" {
		p.f("# %s\n", sample)
	}
	for _, n := range list {
		if err := p.output(n.Name, n.Value); err != nil {
			return fmt.Errorf("output %q: %w", n.Name, err)
		}
	}
	return p.err
}

// output prints a line for each tensor of a value.
func (p *printer) output(name string, v *samples.Value) error {
	switch {
	case v.Kind == graph.KindOptional:
		p.f("%s is an empty optional\n", name)
	case v.Tensor != nil:
		text, err := tensorText(v.Tensor)
		p.f("%s %s\n", name, text)
		return err
	case len(v.Items) == 0:
		p.f("%s is empty\n", name)
	}
	for i, item := range v.Items {
		if err := p.output(fmt.Sprintf("%s.%d", name, i), item); err != nil {
			return err
		}
	}
	return nil
}

// tensorText is the type of a tensor, the extremes of its elements and the first of them.
func tensorText(a *samples.Array) (string, error) {
	text := graph.TensorOf(a.Elem, graph.ShapeOf(a.Dims...)).String()
	t, err := a.Tensor()
	if err != nil {
		return text, err
	}
	if a.Elem == graph.String {
		list, err := t.Strings()
		return text + shown(len(list), func(i int) string { return fmt.Sprintf("%q", list[i]) }), err
	}
	if a.Elem == graph.Complex64 || a.Elem == graph.Complex128 {
		return text, nil
	}
	list, err := t.Float64s()
	if err != nil {
		return text, err
	}
	if a.Elem.IsFloat() {
		text += extremes(list)
	}
	return text + shown(len(list), func(i int) string { return fmt.Sprintf("%.6g", list[i]) }), nil
}

func shown(n int, elem func(i int) string) string {
	var parts []string
	for i := range min(n, maxShown) {
		parts = append(parts, elem(i))
	}
	if n > maxShown {
		parts = append(parts, "…")
	}
	return " {" + strings.Join(parts, ", ") + "}"
}

// extremes tells the range of the finite elements, and how many are not.
func extremes(list []float64) string {
	lo, hi, inf, nan := math.Inf(1), math.Inf(-1), 0, 0
	for _, x := range list {
		switch {
		case x != x:
			nan++
		case math.IsInf(x, 0):
			inf++
		default:
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	text := ""
	if lo <= hi {
		text = fmt.Sprintf(" in [%.6g, %.6g]", lo, hi)
	}
	if inf > 0 {
		text += fmt.Sprintf(", %d infinite", inf)
	}
	if nan > 0 {
		text += fmt.Sprintf(", %d NaN", nan)
	}
	return text
}
