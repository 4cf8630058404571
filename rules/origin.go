package rules

import (
	"strings"

	"github.com/amplint/amplint/graph"
)

// Source is where a node comes from in the program that the model was exported from. What the
// exporter left no trace of is empty.
type Source struct {
	Module string // path of the module or layer, such as "encoder.layer.0.attention"
	File   string // as the exporter wrote it, mostly an absolute path
	Line   int    // counted from 1; 0 where File is ""
}

// SourceOf reads the traces that exporters leave at a node. What a node inside a branch, a body or
// a function does not say itself the node around it says.
func SourceOf(n *graph.Node) Source {
	var s Source
	for ; n != nil && (s.Module == "" || s.File == ""); n = n.Graph.Owner {
		if s.Module == "" {
			s.Module = moduleOf(n)
		}
		if s.File == "" {
			s.File, s.Line = codeOf(n)
		}
	}
	return s
}

// moduleOf returns the path of the module that a node was written for: what torch's exporter keeps
// in metadata, else the scopes of the node's name, else the owner of a weight that it reads.
func moduleOf(n *graph.Node) string {
	for _, e := range n.Meta {
		switch e.Key {
		case "pkg.torch.onnx.name_scopes":
			return lastScope(pythonList(e.Value))
		case "namespace":
			return lastScope(namespace(e.Value))
		}
	}
	if m := scopeOfName(n.Name); m != "" {
		return m
	}
	for _, v := range n.Inputs {
		if m := ownerOfWeight(v); m != "" {
			return m
		}
	}
	return ""
}

// lastScope returns the innermost module of a list of scopes from the root, which is "", down to
// the operator itself.
func lastScope(scopes []string) string {
	if len(scopes) < 2 {
		return ""
	}
	return scopes[len(scopes)-2]
}

// pythonList reads the repr of a list of strings. Names of modules hold no quotes.
func pythonList(s string) []string {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "[") || !strings.HasSuffix(s, "]") {
		return nil
	}
	var list []string
	for part := range strings.SplitSeq(s[1:len(s)-1], ", ") {
		list = append(list, strings.Trim(part, `'"`))
	}
	return list
}

// namespace reads "name: class/name: class": the root has no name.
func namespace(s string) []string {
	var list []string
	for part := range strings.SplitSeq(s, "/") {
		name, _, ok := strings.Cut(part, ": ")
		if !ok {
			return nil
		}
		list = append(list, name)
	}
	return list
}

// scopeOfName reads the scopes of names such as "/encoder/layer.0/attention/MatMul", as torch writes
// them, and "model/dense_1/BiasAdd", which stays as it is since TensorFlow's users know their layers
// so.
func scopeOfName(name string) string {
	name = strings.TrimPrefix(name, "StatefulPartitionedCall/")
	at := strings.LastIndexByte(name, '/')
	if at <= 0 {
		return ""
	}
	inner, torch := strings.CutPrefix(name[:at], "/")
	if !torch {
		return inner
	}
	var list []string
	for part := range strings.SplitSeq(inner, "/") {
		// The member of a list or a Sequential repeats the name of its owner: "b/b.1" is b.1.
		if n := len(list); n > 0 && strings.HasPrefix(part, list[n-1]+".") {
			list = list[:n-1]
		}
		list = append(list, part)
	}
	return strings.Join(list, ".")
}

// weightNames are the names that torch's modules give their parameters.
var weightNames = []string{".weight", ".bias", ".running_mean", ".running_var", ".in_proj_weight", ".in_proj_bias"}

func ownerOfWeight(v *graph.Value) string {
	if v == nil || v.Init == nil {
		return ""
	}
	for _, w := range weightNames {
		if m, ok := strings.CutSuffix(v.Name, w); ok {
			return m
		}
	}
	return ""
}
