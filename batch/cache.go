package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Cache keeps results between runs, in files named after a hash of all that they depend on.
type Cache struct{ dir, tool string }

// OpenCache opens the cache of a folder, which is made where it is missing. version is the program's;
// results of another one, or of another build of it, are not found.
func OpenCache(dir, version string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	build, err := ownHash()
	if err != nil {
		return nil, fmt.Errorf("telling this build from others: %w", err)
	}
	return &Cache{dir, version + " " + build}, nil
}

// ownHash is the hash of the running program.
func ownHash() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// Key returns the key of what content writes.
func (c *Cache) Key(content func(w io.Writer) error) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", c.tool)
	if err := content(h); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// entry is a file of the cache. A file that was cut off or changed has another sum.
type entry struct {
	Sum    string          `json:"sum"`
	Result json.RawMessage `json:"result"`
}

func (c *Cache) path(key string) string { return filepath.Join(c.dir, key[:2], key+".json") }

// Get reads a result into a pointer. It is false where there is none, or none that is whole.
func (c *Cache) Get(key string, result any) bool {
	b, err := os.ReadFile(c.path(key))
	if err != nil {
		return false
	}
	var e entry
	if json.Unmarshal(b, &e) != nil || sum(e.Result) != e.Sum {
		return false
	}
	return json.Unmarshal(e.Result, result) == nil
}

// Put keeps a result. It appears whole or not at all, also where several programs share the folder.
func (c *Cache) Put(key string, result any) error {
	b, err := json.Marshal(result)
	if err != nil {
		return err
	}
	b, err = json.Marshal(entry{sum(b), b})
	if err != nil {
		return err
	}
	path := c.path(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return writeWhole(path, b)
}

func writeWhole(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // of no effect once it is renamed
	_, err = f.Write(b)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
