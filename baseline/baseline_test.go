package baseline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/rules"
)

// load writes a baseline beside the folder of its model and reads it.
func load(t *testing.T, entries ...Entry) (*Set, string) {
	t.Helper()
	dir := t.TempDir()
	m := Model{Path: "models/m.onnx"}
	for _, e := range entries {
		m.Add(e)
	}
	var b strings.Builder
	if err := (&File{Models: []Model{m}}).Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "base.json")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s, filepath.Join(dir, "models", "m.onnx")
}

// TestTake uses up what is known: as many of a kind as there were, and none that is worse.
func TestTake(t *testing.T) {
	twice := Entry{Rule: "r", Severity: "warning", Fingerprint: "f", Message: "m"}
	s, path := load(t, twice, twice, Entry{Rule: "q", Severity: "error", Fingerprint: "g", Message: "n"})
	k := s.Of(path)
	for i, c := range []struct {
		fingerprint string
		severity    rules.Severity
		want        bool
	}{
		{"f", rules.Error, false}, // it was a warning
		{"f", rules.Warning, true},
		{"f", rules.Note, true},
		{"f", rules.Note, false}, // there were two
		{"h", rules.Note, false},
	} {
		if got := k.Take(c.fingerprint, c.severity); got != c.want {
			t.Errorf("%d: %s as %s is known: %t", i, c.fingerprint, c.severity, got)
		}
	}
	want := []Entry{{Rule: "q", Severity: "error", Fingerprint: "g", Message: "n", Count: 1}}
	if d := cmp.Diff(want, k.Gone()); d != "" {
		t.Error(d)
	}
	if k := s.Of(path + "x"); k.Take("g", rules.Note) || k.Gone() != nil {
		t.Error("another model has the findings of this one")
	}
	if k := (*Set)(nil).Of(path); k.Take("g", rules.Note) {
		t.Error("something is known without a baseline")
	}
}
