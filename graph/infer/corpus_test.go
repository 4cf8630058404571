package infer

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
)

// truth is what onnx's own inference finds for one model, as benchmarks/infer_truth.py writes it.
type truth struct {
	Accepted bool
	Error    string
	Values   map[string][2]json.RawMessage
}

// TestCorpus compares with onnx's inference on the models of the files that AMPLINT_CORPUS lists. Wherever onnx
// finds a number, we must find the same one.
func TestCorpus(t *testing.T) {
	list := os.Getenv("AMPLINT_CORPUS")
	if list == "" {
		t.Skip("AMPLINT_CORPUS names no files")
	}
	for _, path := range strings.Split(list, ",") {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		models := map[string]truth{}
		if err := json.Unmarshal(raw, &models); err != nil {
			t.Fatal(err)
		}
		var s corpusScore
		for _, name := range sorted(models) {
			s.model(t, name, models[name])
		}
		t.Logf("%s: %d of %d accepted models analysed, %d refused of %d others; %d values: %d dimensions agree, %d open, %d more here, %d differ",
			path, s.analysed, s.accepted, s.refused, s.others, s.values, s.agree, s.open, s.more, s.differ)
	}
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

type corpusScore struct {
	accepted, analysed, others, refused int
	values, agree, open, more, differ   int
}

func (s *corpusScore) model(t *testing.T, path string, want truth) {
	info, m, err := runFile(path)
	if want.Accepted {
		s.accepted++
	} else {
		s.others++
	}
	if err != nil {
		if want.Accepted {
			t.Errorf("%s: %v", path, err)
		} else {
			s.refused++
		}
		return
	}
	if want.Accepted {
		s.analysed++
	}
	defer m.Close()
	for _, u := range info.Unknown {
		t.Logf("%s: unknown operator %s (%d)", path, u.Op, u.Count)
	}
	for _, n := range info.Notes {
		t.Logf("%s: note: %s", path, n)
	}
	made := 0
	defer func() {
		if made > 0 {
			t.Logf("%s: %d unnamed dimensions or ranks", path, made)
		}
	}()
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if v.Type.Kind == graph.KindTensor && v.Type.Shape == nil || v.Type.Kind == graph.KindUnknown {
				made++
			}
			for _, d := range v.Type.Shape {
				if strings.Contains(d.Sym, "_d") {
					made++
				}
			}
		}
		for _, v := range g.Values {
			if pair, ok := want.Values[v.Key()]; ok {
				s.value(t, path, v, pair)
			}
		}
	}
}

func runFile(path string) (*Info, *graph.Model, error) {
	m, err := graph.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := Run(m, Options{})
	if err != nil {
		m.Close()
		return nil, nil, err
	}
	return info, m, nil
}

func (s *corpusScore) value(t *testing.T, path string, v *graph.Value, pair [2]json.RawMessage) {
	var elem graph.ElemType
	var dims []*int64
	if json.Unmarshal(pair[0], &elem) != nil || json.Unmarshal(pair[1], &dims) != nil {
		t.Fatalf("%s: %s", path, pair)
	}
	s.values++
	if elem != v.Type.Elem && elem != 0 {
		s.differ++
		t.Errorf("%s: %s is %s, want elements of %s", path, v.Key(), v.Type, elem)
	}
	if dims == nil {
		return
	}
	if v.Type.Shape == nil || len(dims) != len(v.Type.Shape) {
		s.differ++
		t.Errorf("%s: %s is %s, want rank %d", path, v.Key(), v.Type, len(dims))
		return
	}
	for i, d := range dims {
		s.dim(t, path, v, i, d)
	}
}

func (s *corpusScore) dim(t *testing.T, path string, v *graph.Value, i int, want *int64) {
	have := v.Type.Shape[i]
	switch {
	case want == nil && have.Known():
		s.more++
	case want == nil:
		s.open++
	case have.Known() && have.N == *want:
		s.agree++
	default:
		s.differ++
		t.Errorf("%s: %s is %s, want %d at %d", path, v.Key(), v.Type, *want, i)
	}
}
