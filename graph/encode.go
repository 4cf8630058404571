package graph

import (
	"fmt"
	"io"
	"os"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// encoder turns a model into a rope, bottom up, so that every length is known in time.
type encoder struct {
	m      *Model
	src    *Source
	d      *decoder // reads the original fields, nil for a model without a source
	places map[*Tensor]Place
	err    error // the first that occurred
}

// newEncoder makes an encoder that writes the tensors of places outside the model's file.
func newEncoder(m *Model, places map[*Tensor]Place) *encoder {
	e := &encoder{m: m, src: m.src, places: places}
	if m.src != nil {
		e.d = &decoder{cursor: newCursor(m.src), m: m}
	}
	return e
}

// check runs a reader of the source and keeps its error.
func check[T any](e *encoder, read func() (T, error)) T {
	v, err := read()
	if err != nil && e.err == nil {
		e.err = err
	}
	return v
}

func (e *encoder) str(f original) string {
	return check(e, func() (string, error) { return e.d.str(f.field) })
}

// open begins a message that was decoded from the span, or a new one.
func (e *encoder) open(at Span) *message {
	w := &message{e: e}
	if at.Off != 0 && e.src != nil {
		w.at = at
		w.load()
	}
	return w
}

// load walks the fields of the source.
func (w *message) load() {
	check(w.e, func() (struct{}, error) {
		return struct{}{}, w.e.d.each(w.at, func(f field) error {
			w.fields = append(w.fields, original{f, w.e.d.off, len(w.fields)})
			return nil
		})
	})
}

// maxProto is the largest message that other readers of protobuf accept.
const maxProto = 1<<31 - 1

// WriteTo writes the model: every byte that no edit touched as the source has it. Tensors with
// external data stay external, where they were; converted ones go into the model.
func (m *Model) WriteTo(w io.Writer) (int64, error) {
	r, err := m.encode(nil)
	if err != nil {
		return 0, err
	}
	if r.n > maxProto && (m.src == nil || r.n > m.src.size) {
		return 0, fmt.Errorf("the model would take %d bytes, more than the 2 GiB of a protobuf message", r.n)
	}
	return r.writeTo(w)
}

// WriteOutline writes the model to a new file as WriteTo does, but for the elements of tensors that
// are converted or new: their places stay holes. What it costs is then what the graph costs.
func (m *Model) WriteOutline(f *os.File) error {
	r, err := m.encode(nil)
	if err != nil {
		return err
	}
	for _, p := range r.parts {
		if p.t != nil {
			_, err = f.Seek(p.t.RawLen(), io.SeekCurrent)
		} else {
			_, err = rope{parts: []part{p}, n: p.len()}.writeTo(f)
		}
		if err != nil {
			return err
		}
	}
	return f.Truncate(r.n)
}

func (m *Model) encode(places map[*Tensor]Place) (rope, error) {
	for g := range m.Graphs() {
		if g.edited {
			return rope{}, fmt.Errorf("the call %q was changed but not inlined", g.Owner.Key())
		}
	}
	e := newEncoder(m, places)
	r := e.model()
	return r, e.err
}

func (e *encoder) model() rope {
	m := e.m
	w := &message{e: e}
	if e.src != nil {
		w.whole, w.at = true, Span{0, e.src.size}
		w.load()
	}
	w.number(modelIRVersion, m.IRVersion, true)
	w.str(modelProducerName, m.Producer)
	w.str(modelProducerVersion, m.Version)
	w.str(modelDomain, m.Domain)
	w.number(modelVersion, m.ModelVersion, false)
	body, same := e.graph(m.Graph)
	w.one(modelGraph, child{m.Graph.at, body, same})
	w.opsets(modelOpsetImport, m.Opsets)
	w.entries(modelMetadata, m.Meta)
	w.children(modelFunctions, childrenOf(m.Functions, func(f *Function) child {
		body, same := e.function(f)
		return child{f.at, body, same}
	}))
	r, _ := w.done()
	return r
}

// childrenOf makes the children of a list of objects.
func childrenOf[T any](objects []T, encode func(T) child) []child {
	c := []child{}
	for _, o := range objects {
		c = append(c, encode(o))
	}
	return c
}

func (e *encoder) graph(g *Graph) (rope, bool) {
	w := e.open(g.at)
	w.children(graphNode, childrenOf(g.written(), e.nodeChild))
	w.str(graphName, g.Name)
	w.children(graphInitializer, childrenOf(g.inits, func(v *Value) child { return e.tensorChild(v.Init, v.Name) }))
	w.str(graphDoc, g.Doc)
	w.children(graphInput, childrenOf(declared(g.inInfos, g.Inputs), e.infoChild))
	w.children(graphOutput, childrenOf(declared(g.outInfos, g.Outputs), e.infoChild))
	w.children(graphValueInfo, childrenOf(g.infos, e.infoChild))
	w.children(graphSparseInit, childrenOf(g.sparse, e.sparseChild))
	w.entries(graphMetadata, g.Meta)
	return w.done()
}

// written returns the nodes in the order they are written in: that of the file where they were
// only sorted.
func (g *Graph) written() []*Node {
	if g.fileOrder != nil && slices.Equal(g.Nodes, g.order) {
		return g.fileOrder
	}
	return g.Nodes
}

// declared returns the declarations of inputs or outputs under the names that the values have.
func declared(infos []*ValueInfo, values []*Value) []*ValueInfo {
	out := make([]*ValueInfo, len(values))
	for i, v := range values {
		switch {
		case i >= len(infos) && v == nil:
			out[i] = &ValueInfo{}
		case i >= len(infos):
			out[i] = &ValueInfo{Name: v.Name, Type: v.Type}
		case v != nil && v.Name != infos[i].Name:
			k := *infos[i]
			k.Name = v.Name
			out[i] = &k
		default:
			out[i] = infos[i]
		}
	}
	return out
}

func (e *encoder) function(f *Function) (rope, bool) {
	w, g := e.open(f.at), f.Body
	w.str(functionName, f.Name)
	w.strs(functionInput, infoNames(declared(g.inInfos, g.Inputs)))
	w.strs(functionOutput, infoNames(declared(g.outInfos, g.Outputs)))
	w.strs(functionAttribute, f.Attrs)
	w.children(functionNode, childrenOf(g.written(), e.nodeChild))
	w.opsets(functionOpset, f.Opsets)
	w.domain(functionDomain, f.Domain)
	w.children(functionAttrProto, childrenOf(f.Defaults, e.attrChild))
	w.children(functionValueInfo, childrenOf(g.infos, e.infoChild))
	w.str(functionOverload, f.Overload)
	w.entries(functionMetadata, g.Meta)
	return w.done()
}

func infoNames(infos []*ValueInfo) []string {
	var names []string
	for _, vi := range infos {
		names = append(names, vi.Name)
	}
	return names
}

// domain sets a domain; the source may call the standard's own "ai.onnx".
func (w *message) domain(num protowire.Number, domain string) {
	if list := w.messages(num); domain == "" && len(list) > 0 && w.e.str(list[len(list)-1]) == "ai.onnx" {
		return
	}
	w.str(num, domain)
}

func (e *encoder) nodeChild(n *Node) child {
	w := e.open(n.at)
	w.strs(nodeInput, valueNames(n.Inputs))
	w.strs(nodeOutput, valueNames(n.Outputs))
	w.str(nodeName, n.Name)
	w.str(nodeOpType, n.Op)
	w.children(nodeAttribute, childrenOf(n.Attrs, e.attrChild))
	w.str(nodeDoc, n.Doc)
	w.domain(nodeDomain, n.Domain)
	w.str(nodeOverload, n.Overload)
	w.entries(nodeMetadata, n.Meta)
	body, same := w.done()
	return child{n.at, body, same}
}

func valueNames(values []*Value) []string {
	var names []string
	for _, v := range values {
		if v == nil {
			names = append(names, "")
		} else {
			names = append(names, v.Name)
		}
	}
	return names
}
