// Package graph holds an ONNX model in memory: it reads and writes the binary format, links
// values to their makers and readers over all scopes, and edits the graph.
//
// A model is an index over its file, not a copy of it. Nodes, attributes and value infos are
// decoded; a tensor is its header and the place of its bytes. What an edit does not touch is
// written back byte for byte, fields unknown to this package included (see [Model.WriteTo]).
package graph
