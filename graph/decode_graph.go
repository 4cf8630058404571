package graph

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// graph decodes a graph. Its inputs, outputs and edges exist as names until it is linked.
func (d *decoder) graph(f field, kind GraphKind) (*Graph, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer func() { d.depth-- }()
	g := &Graph{Kind: kind, Model: d.m, at: f.at, byName: map[string]*Value{}}
	err := d.message(f, func(f field) (err error) {
		switch f.num {
		case graphName:
			err = d.setStr(&g.Name, f)
		case graphDoc:
			err = d.setStr(&g.Doc, f)
		case graphNode:
			err = d.addNode(g, f)
		case graphInitializer:
			err = d.addInit(g, f)
		case graphSparseInit:
			err = d.addSparse(g, f)
		case graphInput:
			g.inInfos, err = d.info(f, g.inInfos)
		case graphOutput:
			g.outInfos, err = d.info(f, g.outInfos)
		case graphValueInfo:
			g.infos, err = d.info(f, g.infos)
		case graphMetadata:
			g.Meta, err = d.entry(f, g.Meta)
		}
		return err
	})
	return g, err
}

func (d *decoder) addInit(g *Graph, f field) error {
	t, err := d.tensor(f)
	if err != nil {
		return fmt.Errorf("initializer %d: %w", len(g.inits), err)
	}
	g.inits = append(g.inits, &Value{Name: t.Name, Graph: g, Init: t, Type: t.Type()})
	return nil
}

func (d *decoder) addSparse(g *Graph, f field) error {
	s, err := d.sparse(f)
	if err != nil {
		return fmt.Errorf("sparse initializer %d: %w", len(g.sparse), err)
	}
	g.sparse = append(g.sparse, s)
	return nil
}

func (d *decoder) info(f field, list []*ValueInfo) ([]*ValueInfo, error) {
	vi := &ValueInfo{at: f.at}
	err := d.message(f, func(f field) (err error) {
		switch f.num {
		case infoName:
			err = d.setStr(&vi.Name, f)
		case infoType:
			err = set(&vi.Type, f, d.typ)
		case infoDoc:
			err = d.setStr(&vi.Doc, f)
		case infoMetadata:
			vi.Meta, err = d.entry(f, vi.Meta)
		}
		return err
	})
	if err != nil {
		return list, fmt.Errorf("declaration of value %q: %w", vi.Name, err)
	}
	return append(list, vi), nil
}

func (d *decoder) addNode(g *Graph, f field) error {
	n := &Node{Graph: g, Index: len(g.Nodes), at: f.at}
	err := d.message(f, func(f field) (err error) {
		switch f.num {
		case nodeInput:
			n.inNames, err = d.strs(f, n.inNames)
		case nodeOutput:
			n.outNames, err = d.strs(f, n.outNames)
		case nodeName:
			err = d.setStr(&n.Name, f)
		case nodeOpType:
			err = d.setStr(&n.Op, f)
		case nodeAttribute:
			n.Attrs, err = d.attribute(f, n.Attrs)
		case nodeDoc:
			err = d.setStr(&n.Doc, f)
		case nodeDomain:
			err = d.setStr(&n.Domain, f)
		case nodeOverload:
			err = d.setStr(&n.Overload, f)
		case nodeMetadata:
			n.Meta, err = d.entry(f, n.Meta)
		}
		return err
	})
	if n.Domain == "ai.onnx" {
		n.Domain = ""
	}
	if err != nil {
		return fmt.Errorf("node %d (%s %q): %w", n.Index, printable(n.Op), n.Name, err)
	}
	g.Nodes = append(g.Nodes, n)
	return nil
}

// typ decodes a TypeProto.
func (d *decoder) typ(f field) (Type, error) {
	if err := d.enter(); err != nil {
		return Type{}, err
	}
	defer func() { d.depth-- }()
	var t Type
	err := d.message(f, func(f field) error {
		if f.typ != protowire.BytesType {
			return nil
		}
		switch f.num {
		case typeTensor:
			t.Kind = KindTensor
		case typeSparse:
			t.Kind = KindSparse
		case typeSequence:
			t.Kind = KindSequence
		case typeOptional:
			t.Kind = KindOptional
		case typeMap:
			t.Kind = KindMap
		case typeOpaque:
			t.Kind = KindOpaque
			return nil
		default:
			return nil
		}
		return d.message(f, func(f field) error { return d.typeField(&t, f) })
	})
	return t, err
}

func (d *decoder) typeField(t *Type, f field) error {
	container := t.Kind == KindSequence || t.Kind == KindOptional
	switch {
	case f.num == typeElem && !container:
		return set(&t.Elem, f, d.elem)
	case f.num == typeElem, f.num == typeShape && t.Kind == KindMap:
		of, err := d.typ(f)
		if err == nil {
			t.Of = &of
		}
		return err
	case f.num == typeShape && !container:
		return set(&t.Shape, f, d.shape)
	}
	return nil
}

func (d *decoder) shape(f field) (Shape, error) {
	s := Shape{}
	err := d.message(f, func(f field) error {
		if f.num != shapeDim {
			return nil
		}
		dim := UnknownDim
		err := d.message(f, func(f field) error { return d.dimension(&dim, f) })
		if err == nil {
			s = append(s, dim)
		}
		return err
	})
	return s, err
}

func (d *decoder) dimension(dim *Dim, f field) error {
	switch f.num {
	case dimValue:
		n, err := d.varint(f)
		if err == nil {
			*dim = Dim{N: max(n, -1)} // older exporters write -1 for "unknown"
		}
		return err
	case dimParam:
		s, err := d.str(f)
		if err == nil {
			*dim = Dim{Sym: s, N: -1}
		}
		return err
	}
	return nil
}

func (d *decoder) elem(f field) (ElemType, error) {
	e, err := d.varint(f)
	return ElemType(e), err
}
