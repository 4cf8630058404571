package batch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func key(t *testing.T, c *Cache, content string) string {
	t.Helper()
	k, err := c.Key(func(w io.Writer) error { _, err := fmt.Fprint(w, content); return err })
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	c, err := OpenCache(dir, "1")
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	k := key(t, c, "model")
	if c.Get(k, &got) {
		t.Error("an empty cache has a result")
	}
	if err := c.Put(k, []float64{1, 2}); err != nil {
		t.Fatal(err)
	}
	if !c.Get(k, &got) || len(got) != 2 || got[1] != 2 {
		t.Errorf("got %v", got)
	}
	if key(t, c, "other") == k {
		t.Error("two contents have one key")
	}
	next, err := OpenCache(dir, "2")
	if err != nil {
		t.Fatal(err)
	}
	if next.Get(key(t, next, "model"), &got) {
		t.Error("another version has the result")
	}
	if _, err := c.Key(func(io.Writer) error { return errors.New("unreadable") }); err == nil {
		t.Error("what cannot be read has a key")
	}
}

// TestCorrupt shows that a damaged entry is no result, and that none leaves other files behind.
func TestCorrupt(t *testing.T) {
	c, err := OpenCache(t.TempDir(), "1")
	if err != nil {
		t.Fatal(err)
	}
	k := key(t, c, "model")
	if err := c.Put(k, "a result"); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(c.path(k))
	if err != nil {
		t.Fatal(err)
	}
	changed := append([]byte{}, whole...)
	changed[len(changed)-5] ^= 1
	for _, b := range [][]byte{nil, whole[:len(whole)/2], changed, []byte("{}")} {
		if err := os.WriteFile(c.path(k), b, 0o666); err != nil {
			t.Fatal(err)
		}
		var got string
		if c.Get(k, &got) {
			t.Errorf("%q is a result: %q", b, got)
		}
	}
	if err := c.Put(k, "a result"); err != nil {
		t.Fatal(err)
	}
	files := 0
	filepath.WalkDir(c.dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files++
		}
		return err
	})
	if files != 1 {
		t.Errorf("%d files for one result", files)
	}
}
