package refeval

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// opCase is a model of constants alone and what it computes: every output as [show] writes it, or
// the error.
type opCase struct {
	name  string
	opset int
	text  string // the model after its name and inputs
	want  string // outputs separated by "; ", or a part of an error after "error: "
}

func (oc opCase) run(t *testing.T, opt Options) string {
	t.Helper()
	text := fmt.Sprintf("<ir_version: 10, opset_import: [\"\" : %d, \"com.microsoft\" : 1, \"ai.onnx.preview\" : 1, \"ai.onnx.ml\" : 5]>\nm () => %s", oc.opset, oc.text)
	m := parse(t, text)
	opt.MaxMemory = 1 << 28
	r, err := New(m, opt)
	if err != nil {
		return "error: " + err.Error()
	}
	out, err := r.Run(context.Background(), nil)
	if err != nil {
		return "error: " + err.Error()
	}
	var parts []string
	for _, v := range m.Graph.Outputs {
		parts = append(parts, show(out[v.Name].Tensor))
	}
	return strings.Join(parts, "; ")
}

// show writes the type, the shape and the elements of a tensor.
func show(t *Tensor) string {
	var b strings.Builder
	b.WriteString(t.String())
	for i := range t.Len() {
		if t.S != nil {
			b.WriteString(" " + t.S[i])
			continue
		}
		fmt.Fprintf(&b, " %.5g", t.at64(i)+0) // no -0
	}
	return b.String()
}

func checkOps(t *testing.T, opt Options, cases []opCase) {
	t.Helper()
	for _, oc := range cases {
		got := oc.run(t, opt)
		part, isErr := strings.CutPrefix(oc.want, "error: ")
		if isErr && strings.HasPrefix(got, "error: ") && strings.Contains(got, part) {
			continue
		}
		if got != oc.want {
			t.Errorf("%s: got  %s\n\twant %s", oc.name, got, oc.want)
		}
	}
}
