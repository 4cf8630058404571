package report

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
)

// rangesFile is the JSON of a ranges report.
type rangesFile struct {
	Schema string      `json:"schema"`
	Model  string      `json:"model"`
	Values []rangeJSON `json:"values"`
}

type rangeJSON struct {
	Name  string   `json:"name"`
	Path  []string `json:"path,omitempty"`
	Dtype string   `json:"dtype"`
	Shape []any    `json:"shape"` // numbers, symbols, null where unknown; null for an unknown rank
	Lo    Number   `json:"lo"`
	Hi    Number   `json:"hi"`
	NaN   bool     `json:"nan"`
	Basis string   `json:"basis"`
	// The estimates are left out where there are none.
	Mean   *Number  `json:"mean,omitempty"`
	SD     *Number  `json:"sd,omitempty"`
	Likely []Number `json:"likely,omitempty"`
}

func rangesJSON(w io.Writer, r *analyze.Ranges) error {
	f := rangesFile{"amplint.ranges/1", r.Path, make([]rangeJSON, 0, len(r.Bounds))}
	for _, b := range r.Bounds {
		f.Values = append(f.Values, rangeOf(b))
	}
	buf := bufio.NewWriter(w)
	if err := json.NewEncoder(buf).Encode(f); err != nil {
		return err
	}
	return buf.Flush()
}

func rangeOf(b analyze.Bound) rangeJSON {
	v := b.Value
	j := rangeJSON{Name: v.Name, Path: v.Graph.Path(), Dtype: v.Type.Elem.String(), Shape: shape(v.Type.Shape),
		Lo: Number(b.Range.Lo), Hi: Number(b.Range.Hi), NaN: b.NaN, Basis: b.Basis.String()}
	if e := b.Estimate; e != nil {
		mean, sd := Number(e.Mean), Number(e.SD)
		j.Mean, j.SD, j.Likely = &mean, &sd, []Number{Number(e.Likely.Lo), Number(e.Likely.Hi)}
	}
	return j
}

func shape(s graph.Shape) []any {
	if s == nil {
		return nil
	}
	list := make([]any, len(s))
	for i, d := range s {
		switch {
		case d.Sym != "":
			list[i] = d.Sym
		case d.Known():
			list[i] = d.N
		}
	}
	return list
}

func rangesText(w io.Writer, r *analyze.Ranges) error {
	buf := bufio.NewWriter(w)
	p := &printer{w: buf}
	for _, b := range r.Bounds {
		boundText(p, b)
		p.f("\n")
	}
	if p.err != nil {
		return p.err
	}
	return buf.Flush()
}

// boundText writes a value and its bound, without the end of the line.
func boundText(p *printer, b analyze.Bound) {
	nan := ""
	if b.NaN {
		nan = " or NaN"
	}
	p.f("%s %s in [%.5g, %.5g]%s, %s", b.Value.Key(), b.Value.Type, b.Range.Lo, b.Range.Hi, nan, b.Basis)
}
