package graph

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// blocksRope has parts of every kind, at offsets that align with nothing, over several blocks.
func blocksRope(t *testing.T, dir string) rope {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, blockBytes)
	for i := range x {
		x[i] = float32(random.NormFloat64()) * 1e5
	}
	long := FloatTensor("long", []int64{int64(len(x))}, x...)
	doubles := FloatTensor("double", []int64{1000}, x[:1000]...).Converted(Double, false)
	raw, err := doubles.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "x.bin"), le32(x...))
	outside := &Tensor{Name: "outside", Elem: Float, Dims: []int64{int64(len(x)) - 3}, model: &Model{Dir: dir},
		External: []Entry{{"location", "x.bin"}, {"offset", "12"}}}
	listed := func(n int) *Tensor {
		m := decoded(t, modelBytes(blob(graphName, "g"), sub(graphInitializer, tensorBytes("l", Float, []uint64{uint64(n)},
			blob(tensorFloatData, string(le32(x[:n]...)))))))
		return m.Graph.Inits()[0].Init
	}
	var r rope
	r.bytes([]byte("odd"))
	for _, tensor := range []*Tensor{long, long.Converted(Float16, false), outside, outside.Converted(BFloat16, true),
		listed(5), listed(blockBytes), listed(blockBytes).Converted(Float16, true), long.Converted(Float16, true).Converted(Float, false),
		NewTensor("double", Double, []int64{1000}, raw).Converted(Float16, false), FloatTensor("none", []int64{0}),
		long.Converted(Float8E4M3FN, true), NewTensor("odd", Int8, []int64{3}, []byte{1, 2, 3})} {
		r.tensor(tensor)
		r.bytes([]byte{7})
	}
	src := bytesSource(le32(x...))
	r.span(src, Span{5, 3*blockBytes + 11})
	return r
}

// TestBlocks: what is written block by block is what a stream gives.
func TestBlocks(t *testing.T) {
	dir := t.TempDir()
	r := blocksRope(t, dir)
	var want bytes.Buffer
	if _, err := r.writeTo(&want); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "out")
	if err := writtenTo(path, r); err != nil {
		t.Fatal(err)
	}
	if got := get(t, path); !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%d bytes, want %d, or others", len(got), want.Len())
	}
}

// TestBlocksCutOff: a file that ends too early is an error that names the tensor.
func TestBlocksCutOff(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "x.bin"), make([]byte, 4*blockBytes))
	m := &Model{Dir: dir}
	x := &Tensor{Name: "outside", Elem: Float, Dims: []int64{2 * blockBytes}, model: m, External: []Entry{{"location", "x.bin"}}}
	var r rope
	r.tensor(x.Converted(Float16, false))
	if err := writtenTo(filepath.Join(dir, "out"), r); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Errorf("error %v", err)
	}
}

func writtenTo(path string, r rope) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return r.writeFile(context.Background(), f, nil)
}
