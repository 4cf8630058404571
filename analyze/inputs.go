package analyze

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amplint/amplint/config"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/samples"
	"github.com/amplint/amplint/witness"
)

// inputs is what is known of a model's inputs before it is analysed.
type inputs struct {
	ranges map[string]rangeprop.Given
	values map[string]*graph.Tensor // by value: they may be axes or shapes
	shapes map[string]graph.Shape
	given  []*samples.Sample // what --data names
	fed    []witness.Input   // of these, see feeds
	notes  []string
	missed []string // said, but not of this model
}

// gather collects ranges and values of the inputs. The order is the precedence, weakest first:
// metadata, data, config, command line.
func gather(m *graph.Model, opt *Options) (*inputs, error) {
	in := &inputs{ranges: map[string]rangeprop.Given{}, values: map[string]*graph.Tensor{}, shapes: map[string]graph.Shape{}}
	if err := in.metadata(m); err != nil {
		return nil, err
	}
	data := opt.Data
	if len(data) == 0 && opt.Config != nil {
		data = opt.Config.Data
	}
	if len(data) > 0 {
		if err := in.data(m, data); err != nil {
			return nil, err
		}
	}
	for _, r := range opt.Config.List() {
		if !in.declare(m, r) {
			in.missed = append(in.missed, fmt.Sprintf("config: %q is no input", r.Name))
		}
	}
	if err := in.dims(m, opt); err != nil {
		return nil, err
	}
	for _, r := range opt.Ranges {
		if in.declare(m, r) {
			continue
		}
		if !opt.Lenient {
			return nil, usagef("--range: %q is no input of %s; its inputs are %s", r.Name, m.Path, inputNames(m))
		}
		in.missed = append(in.missed, fmt.Sprintf("--range: %q is no input", r.Name))
	}
	return in, nil
}

// dims makes sure that the dimensions named are there: a typing error would bound nothing.
func (in *inputs) dims(m *graph.Model, opt *Options) error {
	known := map[string]bool{}
	for g := range m.Graphs() {
		for _, v := range g.Values {
			for _, d := range v.Type.Shape {
				known[d.Sym] = true
			}
		}
	}
	delete(known, "")
	if opt.Config != nil {
		for _, name := range slices.Sorted(maps.Keys(opt.Config.Dims)) {
			if !known[name] {
				in.missed = append(in.missed, fmt.Sprintf("config: %q is no dimension", name))
			}
		}
	}
	for _, d := range opt.Dims {
		switch {
		case known[d.Name]:
		case opt.Lenient:
			in.missed = append(in.missed, fmt.Sprintf("--dim: %q is no dimension", d.Name))
		default:
			return usagef("--dim: %q is no dimension of %s; its symbolic dimensions are %s", d.Name, m.Path,
				strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return nil
}

func inputNames(m *graph.Model) string {
	var list []string
	for _, v := range realInputs(m) {
		list = append(list, v.Name)
	}
	return strings.Join(list, ", ")
}

// realInputs are the inputs that a caller gives: files of IR versions below 4 list their
// initializers among the inputs too.
func realInputs(m *graph.Model) []*graph.Value {
	var list []*graph.Value
	for _, v := range m.Graph.Inputs {
		if v.Init == nil && v.Sparse == nil {
			list = append(list, v)
		}
	}
	return list
}

// metadata reads the ranges that the model carries itself.
func (in *inputs) metadata(m *graph.Model) error {
	for _, prefix := range []string{"onnxsim.range.", "amplint.range."} { // ours wins
		for _, e := range m.Meta {
			name, ok := strings.CutPrefix(e.Key, prefix)
			if !ok {
				continue
			}
			r, err := config.ParseMeta(e.Value)
			if err != nil {
				return fmt.Errorf("metadata %s: %w", e.Key, err)
			}
			if !in.declare(m, config.Range{Name: name, Range: r}) && !inner(m, name) {
				in.notes = append(in.notes, fmt.Sprintf("metadata %s: %q is no input", e.Key, name))
			}
		}
	}
	return nil
}

// inner tells whether a name is that of a value that the model computes. Such ranges are promises of
// another program, for its own use.
func inner(m *graph.Model, name string) bool {
	v := m.Graph.Lookup(name)
	return v != nil && v.Producer != nil
}

// declare notes a range that the user vouches for. It is false where nothing has that name.
func (in *inputs) declare(m *graph.Model, r config.Range) bool {
	v := m.Graph.Lookup(r.Name)
	if v == nil || v.Producer != nil {
		return false
	}
	delete(in.values, r.Name)
	in.ranges[r.Name] = rangeprop.Given{Range: r.Range, Basis: rangeprop.Declared}
	return true
}
