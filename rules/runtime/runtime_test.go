package runtime

import (
	"net/url"
	"strings"
	"testing"
)

// TestProfiles holds the data to what is promised of it: states that are known, a source for each
// runtime, and a source for everything that is not unknown.
func TestProfiles(t *testing.T) {
	list, err := Profiles()
	if err != nil {
		t.Fatal(err)
	}
	want := "onnxruntime-cuda tensorrt openvino-gpu directml webgpu coreml"
	if got := strings.Join(Names(), " "); got != want {
		t.Errorf("profiles %s, want %s", got, want)
	}
	for _, p := range list {
		if p.Title == "" || p.Accumulate == Unsaid || p.Flush == Unsaid || len(p.Notes) == 0 {
			t.Errorf("%s: title, states or notes are missing: %+v", p.Name, p)
		}
		if len(p.Sources) == 0 {
			t.Errorf("%s has no source", p.Name)
		}
		for _, s := range p.Sources {
			if u, err := url.Parse(s); err != nil || u.Scheme != "https" || u.Host == "" {
				t.Errorf("%s: source %q is no address", p.Name, s)
			}
		}
	}
}

func TestStates(t *testing.T) {
	for _, c := range []struct {
		name, op     string
		sums, inside State
	}{
		{"onnxruntime-cuda", "MatMul", Safe, Unknown},
		{"onnxruntime-cuda", "LayerNormalization", Safe, Safe},
		{"tensorrt", "MatMul", Unknown, Unknown},
		{"tensorrt", "InstanceNormalization", Safe, Safe},
		{"webgpu", "MatMul", Unsafe, Unsafe},
	} {
		p, err := Load(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Sums(c.op) != c.sums || p.Inside(c.op) != c.inside {
			t.Errorf("%s, %s: sums %d, inside %d", c.name, c.op, p.Sums(c.op), p.Inside(c.op))
		}
	}
	if _, err := Load("tensorflow"); err == nil || !strings.Contains(err.Error(), "want one of onnxruntime-cuda") {
		t.Errorf("error %v", err)
	}
	var none Profile
	if none.Sums("MatMul") != Unsaid || none.Inside("Softmax") != Unsaid {
		t.Error("a profile that nobody named says something")
	}
}
