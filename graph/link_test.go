package graph

import (
	"strings"
	"testing"
)

// Operators of damaged files must not break the one line an error is.
func TestErrorsStayOneLine(t *testing.T) {
	m := NewModel(8, Opset{"", 17})
	m.Graph.AddNodeNamed("Re\nLu\x1b", "", "", []string{"nowhere"}, []string{"y"})
	err := m.Link()
	if err == nil {
		t.Fatal("an undefined input was accepted")
	}
	if s := err.Error(); strings.ContainsAny(s, "\n\x1b") || !strings.Contains(s, `"Re\nLu\x1b"`) {
		t.Errorf("error %q, want the operator quoted on one line", s)
	}
}
