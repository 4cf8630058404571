package graph

import (
	"bytes"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"testing"
)

// exercise reads a model that may be damaged, its elements, and writes it. None of this may panic;
// errors are fine.
func exercise(b []byte, dir string) error {
	m, err := Decode(b, dir)
	if err != nil {
		return err
	}
	for t := range m.tensors() {
		if t.Elem == String {
			t.Strings()
		} else {
			t.Raw(func([]byte) error { return nil })
		}
	}
	m.Problems()
	for n := range m.Nodes() {
		n.Key()
	}
	k := m.Clone()
	for _, n := range k.Graph.Nodes {
		n.Doc = "touched"
		if n.Call != nil {
			k.Inline(n)
			break
		}
	}
	if _, err := k.WriteTo(io.Discard); err != nil {
		return err
	}
	var out bytes.Buffer
	if _, err := m.WriteTo(&out); err == nil && !bytes.Equal(out.Bytes(), b) {
		panic("an untouched model changed")
	}
	return nil
}

// mutate damages a file: it is cut, bits are flipped, or bytes are replaced or doubled.
func mutate(r *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	switch r.IntN(4) {
	case 0:
		return b[:r.IntN(len(b)+1)]
	case 1:
		for range 1 + r.IntN(8) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
	case 2:
		for range 1 + r.IntN(8) {
			b[r.IntN(len(b))] = byte(r.UintN(256))
		}
	case 3:
		at := r.IntN(len(b))
		return append(b[:at:at], b[max(0, at-r.IntN(64)):]...)
	}
	return b
}

func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	read := 0
	models := smallModels(t)
	for _, name := range slices.Sorted(maps.Keys(models)) {
		b := models[name]
		for i := range 1500 {
			k := mutate(r, b)
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Fatalf("%s, mutant %d: panic: %v\n%q\n%s", name, i, p, k, debug.Stack())
					}
				}()
				if exercise(k, "") == nil {
					read++
				}
			}()
		}
	}
	if read == 0 {
		t.Error("no mutant was readable: the test does not reach what it is for")
	}
}

// TestLies checks that headers which claim more than there is are refused before anything is
// allocated for them.
func TestLies(t *testing.T) {
	const huge = 1 << 40
	cases := map[string][]byte{
		"raw":        tensorBytes("w", Float, []uint64{huge}, blob(tensorRawData, "1234")),
		"list":       tensorBytes("w", Float, []uint64{huge}, packed(tensorFloatData, 1)),
		"external":   tensorBytes("w", Float, []uint64{huge}, vint(tensorLocation, 1), sub(tensorExternal, blob(entryKey, "location"), blob(entryValue, "w"))),
		"strings":    tensorBytes("w", String, []uint64{huge}, blob(tensorStringData, "a")),
		"product":    tensorBytes("w", Float, []uint64{1 << 32, 1 << 32}),
		"negative":   tensorBytes("w", Float, []uint64{1<<64 - 1}),
		"many":       tensorBytes("w", Int4, []uint64{huge}, packed(tensorInt32Data, 1)),
		"no element": tensorBytes("w", Float, []uint64{2}),
	}
	dir := t.TempDir()
	put(t, dir+"/w", []byte("1234"))
	for name, w := range cases {
		m, err := Decode(modelBytes(sub(graphInitializer, w)), dir)
		if err == nil {
			w := m.Graph.inits[0].Init
			if w.Elem == String {
				_, err = w.Strings()
			} else {
				_, err = w.Float64s()
			}
		}
		if err == nil {
			t.Errorf("%s: read without an error", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, b := range smallModels(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { exercise(b, "") })
}

// TestCorpusDamaged damages the smaller models of the corpus.
func TestCorpusDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, path := range corpus(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) == 0 || len(b) > 1<<20 {
			continue
		}
		for i := range 6 {
			k := mutate(r, b)
			func() {
				defer func() {
					if p := recover(); p != nil {
						out, _ := os.CreateTemp("", "mutant-*.onnx")
						out.Write(k)
						out.Close()
						t.Errorf("%s, mutant %d (%s): panic: %v", path, i, out.Name(), p)
					}
				}()
				exercise(k, "")
			}()
		}
	}
}
