// Package samples reads the data that a user has for a model: NPZ archives of numpy and the
// folders of protobuf files that the ONNX standard ships its tests in. Arrays are located when a
// sample is loaded and read, in constant memory, when their hull is asked for.
package samples

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
)

// Sample is one set of inputs of a model.
type Sample struct {
	Name   string // the file or folder it came from
	Inputs map[string]*Value
}

// Value is what one input is given or an output holds: a tensor, a sequence of values, a map, or an
// empty optional.
type Value struct {
	Kind   graph.Kind // KindTensor, KindSequence, KindMap, or KindOptional for an empty one
	Tensor *Array
	Items  []*Value // of a sequence; the values of a map
	Keys   *Array   // of a map
}

// Tensors returns the tensors of the value, those of a sequence in its order.
func (v *Value) Tensors() []*Array {
	if v.Tensor != nil {
		return []*Array{v.Tensor}
	}
	var list []*Array
	for _, i := range v.Items {
		list = append(list, i.Tensors()...)
	}
	return list
}

// Load reads an NPZ archive, a file of Polygraphy's JSON, a folder of input_i.pb files, or a folder of
// any of them: several files or test_data_set folders, each a sample. Inputs are the graph's inputs
// in their order; what is named otherwise is passed over, but a sample that fits no input is an
// error. Files may hold the values of also, too.
func Load(path string, inputs []*graph.Value, also ...*graph.Value) ([]*Sample, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return loadFiles(inputs, also, path)
	}
	// A test of a model without inputs, or with none given, has outputs only.
	if one, _ := filepath.Glob(filepath.Join(escape(path), "*put_*.pb")); len(one) > 0 {
		return loadFiles(inputs, also, path)
	}
	var list []string
	for _, pattern := range []string{"test_data_set_*", "*.npz", "*.json"} {
		if pattern == "*.json" && len(list) > 0 {
			break // what lies beside samples of another kind need not be one
		}
		found, err := filepath.Glob(filepath.Join(escape(path), pattern))
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no input_*.pb, test_data_set_*, *.npz or *.json in it", path)
	}
	slices.Sort(list)
	return loadFiles(inputs, also, list...)
}

// escape makes a path safe inside a glob pattern.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func loadFiles(inputs, also []*graph.Value, paths ...string) ([]*Sample, error) {
	var list []*Sample
	for _, path := range paths {
		found, err := loadFile(inputs, also, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, s := range found {
			if len(s.Inputs) == 0 && slices.ContainsFunc(inputs, needed) {
				return nil, fmt.Errorf("%s: it holds no input of the model (%s)", s.Name, names(inputs))
			}
			if err := s.fits(slices.Concat(inputs, also)); err != nil {
				return nil, fmt.Errorf("%s: %w", s.Name, err)
			}
		}
		list = append(list, found...)
	}
	return list, nil
}

// loadFile reads the samples of one file or folder.
func loadFile(inputs, also []*graph.Value, path string) ([]*Sample, error) {
	all, load := slices.Concat(inputs, also), loadNPZ
	if filepath.Ext(path) == ".json" {
		return loadPolygraphy(path, all)
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		all, load = inputs, loadFolder
	}
	s, err := load(path, all)
	return []*Sample{s}, err
}

// fits refuses arrays that cannot stand for an input: numbers are taken in any width of their kind,
// since numpy's own defaults are double and int64, and in no other kind.
func (s *Sample) fits(inputs []*graph.Value) error {
	for _, in := range inputs {
		v, t := s.Inputs[in.Name], in.Type
		for t.Kind != graph.KindTensor && t.Kind != graph.KindMap && t.Of != nil {
			t = *t.Of
		}
		if v == nil || t.Kind != graph.KindTensor || t.Elem == graph.Undefined {
			continue
		}
		for _, a := range v.Tensors() {
			if kindOf(a.Elem) != kindOf(t.Elem) {
				return fmt.Errorf("input %q: %s%v is not of type %s", in.Name, a.Elem, a.Dims, t.Elem)
			}
		}
	}
	return nil
}

// kindOf tells real and whole numbers apart, and from all else.
func kindOf(e graph.ElemType) graph.ElemType {
	switch {
	case e.IsFloat():
		return graph.Float
	case e.IsInt() || e == graph.Bool:
		return graph.Int64
	case e == graph.Complex64 || e == graph.Complex128:
		return graph.Complex64
	}
	return e
}

// needed tells whether a model cannot run without an input.
func needed(v *graph.Value) bool { return v.Type.Kind != graph.KindOptional }

func names(inputs []*graph.Value) string {
	list := make([]string, len(inputs))
	for i, v := range inputs {
		list[i] = v.Name
	}
	return strings.Join(list, ", ")
}
