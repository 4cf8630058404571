package analyze

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
)

// Std is the path that stands for stdin where a model is read and for stdout where one is written.
const Std = "-"

// packedExt is the extension of models that are compressed by gzip.
const packedExt = ".gz"

// Open reads a model: in the binary format or, by its extension, in the textual one; unpacked
// first where the path ends in .gz; from stdin where it is "-".
func Open(path string) (*graph.Model, error) {
	switch {
	case path == Std:
		return openStream(os.Stdin)
	case IsPacked(path):
		return openPacked(path)
	case onnxtxt.IsText(path):
		return onnxtxt.Open(path)
	}
	return graph.Open(path)
}

// IsPacked tells whether a path names a compressed model.
func IsPacked(path string) bool { return strings.EqualFold(filepath.Ext(path), packedExt) }

// openPacked unpacks a model into a temporary file, since it is read at any place. Its external data
// lie beside the packed file.
func openPacked(path string) (*graph.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return unpacked(f, path)
}

func unpacked(r io.Reader, path string) (*graph.Model, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("%s: unpacking: %w", path, err)
	}
	return spooled(bufio.NewReader(z), path, filepath.Dir(path))
}

// openStream reads a model that comes in a stream, in any of the forms of a file; its external data
// lie in the working folder.
func openStream(r io.Reader) (*graph.Model, error) {
	b := bufio.NewReader(r)
	if head, _ := b.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return unpacked(b, Std)
	}
	return spooled(b, Std, ".")
}

// spooled copies a model to a temporary file, in constant memory, and opens it. The file is gone
// when the model is closed.
func spooled(r *bufio.Reader, path, dir string) (*graph.Model, error) {
	if text(r) {
		src, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		m, err := onnxtxt.Parse(path, src)
		if err == nil {
			m.Path = path
		}
		return m, err
	}
	f, err := os.CreateTemp("", "amplint-*.onnx")
	if err != nil {
		return nil, err
	}
	remove := func() error { return os.Remove(f.Name()) }
	_, err = io.Copy(f, r)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: unpacking: %w", path, err), remove())
	}
	return graph.OpenAs(f.Name(), path, dir, remove)
}

// text tells whether a stream begins as the textual format does. None of these bytes can begin a
// binary model: as the tag of a field they have a wire type that no field of a model has.
func text(r *bufio.Reader) bool {
	head, _ := r.Peek(512)
	head = bytes.TrimLeft(head, " \t\r\n")
	return len(head) > 0 && (head[0] == '<' || head[0] == '/' || head[0] == '#')
}
