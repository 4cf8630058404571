package onnxtxt

import "github.com/amplint/amplint/graph"

// The syntax tree keeps what the wire format holds plus the offset of what errors and rules point
// to. It is encoded as a ModelProto, so it needs no edges.

type modelAST struct {
	irVersion, version    int64
	producer, producerVer string
	domain, doc           string
	has                   map[string]bool // header keys that stand in the text
	opsets                []graph.Opset
	meta                  []graph.Entry
	graph                 *graphAST
	functions             []*functionAST
}

type functionAST struct {
	pos                         int
	name, domain, overload, doc string
	opsets                      []graph.Opset
	attrs                       []string
	defaults                    []*attrAST
	inputs, outputs             []infoAST
	body                        *graphAST // nodes and value_info only
}

type graphAST struct {
	pos                    int
	name                   string
	inputs, outputs, infos []infoAST
	inits                  []*tensorAST
	sparse                 []*sparseAST
	nodes                  []*nodeAST
}

type infoAST struct {
	pos   int
	name  string
	typ   typeAST
	typed bool
}

// typeAST is a type as written. Unlike graph.Type it keeps the name of an opaque type.
type typeAST struct {
	kind         graph.Kind
	elem         graph.ElemType
	shape        []dimAST
	ranked       bool
	of           *typeAST
	domain, name string // opaque
}

type dimAST struct {
	sym   string
	n     int64
	known bool // n counts
}

type nodeAST struct {
	pos                        int
	name, domain, op, overload string
	named                      bool
	inputs, outputs            []idAST
	attrs                      []*attrAST
}

type idAST struct {
	pos  int
	name string
}

type attrAST struct {
	pos     int
	name    string
	typ     graph.AttrType
	ref     string
	f       []float32
	i       []int64
	s       []string
	tensors []*tensorAST
	graphs  []*graphAST
	sparse  []*sparseAST
	types   []typeAST
}

type tensorAST struct {
	pos      int
	name     string
	elem     graph.ElemType
	dims     []int64
	raw      []byte
	strings  []string
	external []graph.Entry
}

type sparseAST struct {
	values, indices *tensorAST
	dims            []int64
}
