package rangeprop_test

import (
	"testing"

	"github.com/amplint/amplint/rangeprop"
)

// untried are operators whose inputs are neither tensors nor made of them.
var untried = map[string]string{
	"ImageDecoder": "reads the bytes of a picture", "ai.onnx.ml.CastMap": "reads a map",
	"ai.onnx.ml.DictVectorizer": "reads a map",
}

// TestEveryOperatorIsTried holds the table of transfer functions against the files: a new operator
// needs a model there.
func TestEveryOperatorIsTried(t *testing.T) {
	tried := map[string]bool{}
	for _, s := range sections(t) {
		for g := range s.model(t).Graphs() {
			for _, n := range g.Nodes {
				tried[n.OpName()] = true
			}
		}
	}
	for _, key := range rangeprop.Keys() {
		if !tried[key] && untried[key] == "" {
			t.Errorf("no file in testdata/operators has a model of %s", key)
		}
	}
}
