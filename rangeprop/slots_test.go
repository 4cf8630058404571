package rangeprop_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/samples"
)

// slot is an input with what it takes.
type slot struct {
	v     *graph.Value
	elem  graph.ElemType
	dims  []int
	items int // of a sequence; 0 for a tensor
	r     rangeprop.Range
	nan   bool           // the sample holds it
	inf   bool           // or an infinity
	fixed *graph.Tensor  // the same in every run
	value *refeval.Value // what is given in every run where no number can be drawn
}

// taken says how inputs are taken about which a sample or the way they are read leave a choice.
type taken struct {
	ids     float64 // the largest of integers without a sample
	byValue bool    // integers of a sample are those of every run
	open    int     // the length of open dimensions, 2 where it is 0
}

// slotsOf finds what each input takes.
func slotsOf(p *trial, path string, how taken) ([]slot, error) {
	info, err := infer.Run(p.m, infer.Options{})
	if err != nil {
		return nil, err
	}
	res, err := rangeprop.Analyze(p.m, info, rangeprop.Options{NoBalls: true, NoMoments: true})
	if err != nil {
		return nil, err
	}
	hints, sample := hintsOf(path), sampleOf(p.m, path)
	guess := map[*graph.Value]rangeprop.InputRange{}
	for _, in := range res.Inputs() {
		guess[in.Value] = in
	}
	var list []slot
	for _, v := range p.m.Graph.Inputs {
		if v.Init != nil || v.Sparse != nil {
			continue
		}
		s, err := slotOf(v, sample[v.Name], hints[v.Name], guess[v], how)
		if err != nil {
			return nil, err
		}
		if s.elem.IsFloat() && s.value == nil {
			s.r = p.scaled(s.r, s.elem)
		}
		list = append(list, s)
	}
	return list, nil
}

func slotOf(v *graph.Value, x *samples.Value, h *hint, g rangeprop.InputRange, how taken) (slot, error) {
	s := slot{v: v, elem: tensorType(v.Type).Elem, r: rangeprop.Range{Lo: -1, Hi: 1}}
	if !s.elem.IsFloat() {
		s.r = rangeprop.Range{Lo: 0, Hi: how.ids}
	}
	if v.Type.Kind == graph.KindSequence || v.Type.Kind == graph.KindOptional {
		s.items = 3
	}
	for _, d := range tensorType(v.Type).Shape {
		size := max(how.open, 2)
		if d.Known() {
			size = int(d.N)
		}
		s.dims = append(s.dims, size)
	}
	if s.items > 0 && len(s.dims) == 0 {
		s.dims = []int{2, 3}
	}
	if g.Value != nil && g.Basis != rangeprop.Unknown && g.Range.Bounded() && g.Range.MaxAbs() < 1e6 {
		s.r = g.Range
	}
	if h != nil {
		s.r = rangeprop.Range{Lo: h.Lo, Hi: h.Hi}
		if s.dims = h.Shape; s.dims == nil {
			s.dims = []int{}
		}
		if len(h.Shape) != len(v.Type.Shape) && v.Type.Shape != nil {
			return s, fmt.Errorf("the hint of %q has %d dimensions, not %d", v.Name, len(h.Shape), len(v.Type.Shape))
		}
		return s, nil
	}
	if x == nil {
		return s, nil
	}
	return s.sampled(x, g, how)
}

// sampled takes size and hull from a sample; integers that index a table may be any of its rows.
func (s slot) sampled(x *samples.Value, g rangeprop.InputRange, how taken) (slot, error) {
	var err error
	if s.value, err = refeval.FromSample(x); err != nil {
		return s, err
	}
	list := x.Tensors()
	if x.Kind != graph.KindTensor || len(list) != 1 || s.elem == graph.String || s.elem == graph.Undefined || s.elem.Bits() == 0 {
		return s.steady(list)
	}
	h, err := list[0].Hull()
	if err != nil || h.Empty() || h.NaN || math.IsInf(h.Lo, 0) || math.IsInf(h.Hi, 0) {
		return s.steady(list)
	}
	s.dims = []int{}
	for _, d := range list[0].Dims {
		s.dims = append(s.dims, int(d))
	}
	s.r = rangeprop.Range{Lo: h.Lo, Hi: h.Hi}
	if s.elem.IsFloat() {
		s.value = nil
		return s, nil
	}
	if how.byValue {
		s.fixed, err = list[0].Tensor()
		return s, err
	}
	s.value = nil
	if g.Basis != rangeprop.Unknown && g.Range.Bounded() && g.Range.Contains(s.r) {
		s.r = g.Range
	}
	return s, nil
}

// steady keeps what a sample holds: its hull is known, and its elements in any order are not asked for.
func (s slot) steady(list []*samples.Array) (slot, error) {
	all := samples.NoHull
	for _, a := range list {
		h, err := a.Hull()
		if err != nil {
			return s, err
		}
		all = all.Join(h)
	}
	s.r = rangeprop.Range{Lo: all.Lo, Hi: all.Hi}
	if s.nan, s.inf = all.NaN, math.IsInf(all.Lo, 0) || math.IsInf(all.Hi, 0); all.Empty() {
		s.r = rangeprop.Range{Lo: math.Inf(-1), Hi: math.Inf(1)}
	}
	return s, nil
}

// tensorType is the type of the tensors in a sequence or an optional value.
func tensorType(t graph.Type) graph.Type {
	for t.Of != nil {
		t = *t.Of
	}
	return t
}

// scaled widens a range, or makes a point of it.
func (k knobs) scaled(r rangeprop.Range, e graph.ElemType) rangeprop.Range {
	most := elementRange(e)
	if k.as != numfmt.Invalid {
		most = rangeprop.Range{Lo: -k.as.Max(), Hi: k.as.Max()}
	}
	if k.scale == 0 {
		c := r.Lo + 0.75*(r.Hi-r.Lo)
		r = rangeprop.Range{Lo: c, Hi: c}
	} else {
		r = rangeprop.Range{Lo: r.Lo * k.scale, Hi: r.Hi * k.scale}
	}
	hold := func(x float64) float64 {
		x = min(max(x, most.Lo), most.Hi)
		if f, ok := e.Format(); ok {
			x = f.RoundSat(x)
		}
		if k.as != numfmt.Invalid {
			x = k.as.RoundSat(x)
		}
		return x
	}
	return rangeprop.Range{Lo: hold(r.Lo), Hi: hold(r.Hi)}
}

// hint is a range and a size that somebody wrote down for an input.
type hint struct {
	Shape  []int
	Lo, Hi float64
}

// hintsOf reads NAME.json beside NAME.onnx: {"inputs": {name: {"shape", "lo", "hi"}}}.
func hintsOf(path string) map[string]*hint {
	raw, err := os.ReadFile(path[:len(path)-len(".onnx")] + ".json")
	if err != nil {
		return nil
	}
	var file struct{ Inputs map[string]*hint }
	if json.Unmarshal(raw, &file) != nil {
		return nil
	}
	return file.Inputs
}

// sampleOf reads the first sample beside a model, nil where there is none.
func sampleOf(m *graph.Model, path string) map[string]*samples.Value {
	dir := filepath.Dir(path)
	for _, at := range []string{path[:len(path)-len(".onnx")] + ".npz", filepath.Join(dir, "inputs.npz"), filepath.Join(dir, "test_data_set_0")} {
		if list, err := samples.Load(at, m.Graph.Inputs); err == nil && len(list) > 0 {
			return list[0].Inputs
		}
	}
	return nil
}
