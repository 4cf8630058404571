package graph

import (
	"fmt"
	"path/filepath"

	"google.golang.org/protobuf/encoding/protowire"
)

// Open reads the model of a file: its structure, not its weights. The file stays open until
// [Model.Close], since tensors are read when they are asked for.
func Open(path string) (*Model, error) { return openIn(path, path, filepath.Dir(path)) }

// Decode reads a model from memory. dir is where its external data lies.
func Decode(b []byte, dir string) (*Model, error) { return read(bytesSource(b), dir) }

func read(s *Source, dir string) (*Model, error) {
	d := &decoder{cursor: newCursor(s), m: &Model{src: s, Dir: dir}}
	if err := d.model(); err != nil {
		return nil, err
	}
	if err := d.m.link(); err != nil {
		return nil, err
	}
	return d.m, nil
}

// decoder turns fields into the objects of this package.
type decoder struct {
	*cursor
	m     *Model
	depth int // of graphs inside attributes and of nested types
}

// maxDepth bounds nesting; exporters stay below ten, only hostile files go deeper.
const maxDepth = 64

func (d *decoder) enter() error {
	if d.depth++; d.depth > maxDepth {
		return d.errorf("nested more than %d deep", maxDepth)
	}
	return nil
}

func (d *decoder) model() error {
	var graph field
	var functions []field
	err := d.each(Span{0, d.src.size}, func(f field) (err error) {
		switch f.num {
		case modelIRVersion:
			err = d.setInt(&d.m.IRVersion, f)
		case modelProducerName:
			err = d.setStr(&d.m.Producer, f)
		case modelProducerVersion:
			err = d.setStr(&d.m.Version, f)
		case modelDomain:
			err = d.setStr(&d.m.Domain, f)
		case modelVersion:
			err = d.setInt(&d.m.ModelVersion, f)
		case modelOpsetImport:
			d.m.Opsets, err = d.opset(f, d.m.Opsets)
		case modelMetadata:
			d.m.Meta, err = d.entry(f, d.m.Meta)
		case modelGraph:
			if err = d.single(f, graph.at.Off != 0); err == nil {
				graph = f
			}
		case modelFunctions:
			if f.typ == protowire.BytesType {
				functions = append(functions, f)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("not a readable ONNX model: %w", err)
	}
	if graph.at.Off == 0 {
		return fmt.Errorf("not an ONNX model: it holds no graph")
	}
	return d.bodies(graph, functions)
}

// single refuses a second message where there is to be one. Readers of protobuf would merge the two,
// which no writer of ONNX means.
func (d *decoder) single(f field, have bool) error {
	switch {
	case f.typ != protowire.BytesType:
		return wrongType{d.errorf("field %d has wire type %d, not a message", f.num, f.typ)}
	case have:
		return d.errorf("field %d stands twice", f.num)
	}
	return nil
}

func (d *decoder) bodies(graph field, functions []field) (err error) {
	if d.m.Graph, err = d.graph(graph, MainGraph); err != nil {
		return err
	}
	for i, f := range functions {
		fn, err := d.function(f)
		if err != nil {
			return fmt.Errorf("function %d: %w", i, err)
		}
		d.m.Functions = append(d.m.Functions, fn)
	}
	return nil
}

func (d *decoder) opset(f field, list []Opset) ([]Opset, error) {
	var o Opset
	err := d.message(f, func(f field) (err error) {
		switch f.num {
		case opsetDomain:
			err = d.setStr(&o.Domain, f)
		case opsetVersion:
			err = d.setInt(&o.Version, f)
		}
		return err
	})
	if o.Domain == "ai.onnx" {
		o.Domain = ""
	}
	if err != nil {
		return list, err
	}
	return append(list, o), nil
}

func (d *decoder) entry(f field, list []Entry) ([]Entry, error) {
	var e Entry
	err := d.message(f, func(f field) (err error) {
		switch f.num {
		case entryKey:
			err = d.setStr(&e.Key, f)
		case entryValue:
			err = d.setStr(&e.Value, f)
		}
		return err
	})
	if err != nil {
		return list, err
	}
	return append(list, e), nil
}

func (d *decoder) function(f field) (*Function, error) {
	fn := &Function{at: f.at}
	g := &Graph{Kind: FunctionBody, Model: d.m, byName: map[string]*Value{}}
	fn.Body = g
	var in, out []string
	err := d.message(f, func(f field) (err error) {
		switch f.num {
		case functionName:
			err = d.setStr(&fn.Name, f)
		case functionDomain:
			err = d.setStr(&fn.Domain, f)
		case functionOverload:
			err = d.setStr(&fn.Overload, f)
		case functionInput:
			in, err = d.strs(f, in)
		case functionOutput:
			out, err = d.strs(f, out)
		case functionAttribute:
			fn.Attrs, err = d.strs(f, fn.Attrs)
		case functionOpset:
			fn.Opsets, err = d.opset(f, fn.Opsets)
		case functionAttrProto:
			fn.Defaults, err = d.attribute(f, fn.Defaults)
		case functionNode:
			err = d.addNode(g, f)
		case functionValueInfo:
			g.infos, err = d.info(f, g.infos)
		case functionMetadata:
			g.Meta, err = d.entry(f, g.Meta)
		}
		return err
	})
	g.Name, g.opsets = fn.Name, fn.Opsets
	g.inInfos, g.outInfos = named(in), named(out)
	return fn, err
}

func (d *decoder) strs(f field, list []string) ([]string, error) {
	s, err := d.str(f)
	if err != nil {
		return list, err
	}
	return append(list, s), nil
}

// named makes declarations without a type, as functions have for their inputs and outputs.
func named(names []string) []*ValueInfo {
	list := make([]*ValueInfo, len(names))
	for i, name := range names {
		list[i] = &ValueInfo{Name: name}
	}
	return list
}
