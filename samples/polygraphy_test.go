package samples

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/graph"
)

func writeJSON(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// feed is what Polygraphy writes for an array.
func feed(npy string) string {
	return fmt.Sprintf(`{"array": %q, "polygraphy_class": "ndarray"}`, base64.StdEncoding.EncodeToString([]byte(npy)))
}

func TestPolygraphy(t *testing.T) {
	one := npyFile("<f4", "2,", false, "\x00\x00\x80\x3f\x00\x00\x00\xc0") // 1, -2
	two := npyFile("<f2", "1,", false, "\x00\x44")                         // 4
	old := `{"array": "` + strings.NewReplacer("\x93", "\\u0093", "\n", "\\n", "\x00", "\\u0000", "\x01", "\\u0001", "\x07", "\\u0007").Replace(npyFile("|u1", "1,", false, "\x07")) + `"}`
	x := []*graph.Value{input("x", graph.Float)}
	for _, c := range []struct {
		text   string
		of     []*graph.Value
		values [][]float64
	}{
		{`[{"x": ` + feed(one) + `, "other": 3}, {"x": ` + feed(two) + `}]`, x, [][]float64{{1, -2}, {4}}},
		{`{"x": ` + feed(one) + `}`, x, [][]float64{{1, -2}}},
		{`[{"x": ` + old + `}]`, []*graph.Value{input("x", graph.Uint8)}, [][]float64{{7}}},
	} {
		list, err := Load(writeJSON(t, t.TempDir(), "a.json", c.text), c.of)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		var got [][]float64
		for _, s := range list {
			got = append(got, must(must(s.Inputs["x"].Tensor.Tensor()).Float64s()))
		}
		if d := cmp.Diff(c.values, got); d != "" {
			t.Errorf("%s: %s", c.text, d)
		}
	}
}

// TestFolderOfFiles takes the files of a folder for samples, JSON only where nothing else is there.
func TestFolderOfFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.json", "b.json"} {
		writeJSON(t, dir, name, `[{"x": `+feed(npyFile("|u1", "1,", false, "\x07"))+`}]`)
	}
	for _, want := range []int{2, 1} {
		if list, err := Load(dir, []*graph.Value{input("x", graph.Uint8)}); err != nil || len(list) != want {
			t.Errorf("%d samples, want %d; %v", len(list), want, err)
		}
		if err := os.Rename(archive(t, "x", npyFile("|u1", "1,", false, "\x05")), filepath.Join(dir, "a.npz")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPolygraphyRefused(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                            "no sample",
		`3`:                             "no inputs of Polygraphy",
		`{"x": 3}`:                      "not an array of Polygraphy",
		`{"x": {"shape": [1]}}`:         `no key "array"`,
		`{"x": {"tensor": "UEsDBA=="}}`: "PyTorch",
		`{"x": {"array": "AAAA"}}`:      "not an array of numpy",
		`{"y": {"array": "AAAA"}}`:      "no input of the model (x)",
	} {
		_, err := Load(writeJSON(t, t.TempDir(), "a.json", text), []*graph.Value{input("x", graph.Float)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}
