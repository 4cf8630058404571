package graph

// AttrType is AttributeProto.AttributeType.
type AttrType int32

// The attribute types of the standard.
const (
	AttrUndefined AttrType = iota
	AttrFloat
	AttrInt
	AttrString
	AttrTensor
	AttrGraph
	AttrFloats
	AttrInts
	AttrStrings
	AttrTensors
	AttrGraphs
	AttrSparseTensor
	AttrSparseTensors
	AttrTypeProto
	AttrTypeProtos
)

// Attr is one attribute of a node. The field that belongs to Type holds the value.
type Attr struct {
	Name    string
	Type    AttrType
	Ref     string // inside a function: the name of the attribute of the call that gives the value
	Doc     string
	F       float32
	I       int64
	S       string
	Tensor  *Tensor
	Graph   *Graph
	Floats  []float32
	Ints    []int64
	Strings []string
	Tensors []*Tensor
	Graphs  []*Graph
	Sparse  *SparseInit
	Types   []Type // of AttrTypeProto (one) and AttrTypeProtos

	at Span
}

// Attr returns the attribute of the name, nil where the node does not have it.
func (n *Node) Attr(name string) *Attr {
	for _, a := range n.Attrs {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Int returns an integer attribute or its default.
func (n *Node) Int(name string, def int64) int64 {
	if a := n.Attr(name); a != nil && a.Type == AttrInt {
		return a.I
	}
	return def
}

// Float returns a float attribute or its default.
func (n *Node) Float(name string, def float32) float32 {
	if a := n.Attr(name); a != nil && a.Type == AttrFloat {
		return a.F
	}
	return def
}

// Str returns a string attribute or its default.
func (n *Node) Str(name, def string) string {
	if a := n.Attr(name); a != nil && a.Type == AttrString {
		return a.S
	}
	return def
}

// Ints returns an integer-list attribute, nil where the node does not have it.
func (n *Node) Ints(name string) []int64 {
	if a := n.Attr(name); a != nil && a.Type == AttrInts {
		return a.Ints
	}
	return nil
}

// Floats returns a float-list attribute, nil where the node does not have it.
func (n *Node) Floats(name string) []float32 {
	if a := n.Attr(name); a != nil && a.Type == AttrFloats {
		return a.Floats
	}
	return nil
}

// Body returns a graph attribute, nil where the node does not have it.
func (n *Node) Body(name string) *Graph {
	if a := n.Attr(name); a != nil {
		return a.Graph
	}
	return nil
}
