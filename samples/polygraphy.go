package samples

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/amplint/amplint/graph"
)

// loadPolygraphy reads inputs that Polygraphy saved (polygraphy run --save-inputs): a list of
// objects that map names to arrays, each a sample. An array is a .npy file in base64.
func loadPolygraphy(path string, inputs []*graph.Value) ([]*Sample, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		var one map[string]json.RawMessage
		if json.Unmarshal(b, &one) != nil {
			return nil, fmt.Errorf("no inputs of Polygraphy: %w", err)
		}
		list = append(list, one)
	}
	if len(list) == 0 {
		return nil, errors.New("no sample in it")
	}
	var out []*Sample
	for i, feed := range list {
		s := &Sample{Name: path, Inputs: map[string]*Value{}}
		if len(list) > 1 {
			s.Name += " (" + strconv.Itoa(i) + ")"
		}
		for _, in := range inputs {
			if feed[in.Name] == nil {
				continue
			}
			v, err := feedValue(feed[in.Name], in.Type)
			if err != nil {
				return nil, fmt.Errorf("array %q: %w", in.Name, err)
			}
			s.Inputs[in.Name] = v
		}
		out = append(out, s)
	}
	return out, nil
}

// feedValue decodes what one input is given.
func feedValue(b json.RawMessage, t graph.Type) (*Value, error) {
	for t.Kind == graph.KindOptional && t.Of != nil {
		t = *t.Of
	}
	var o struct{ Array, Tensor *string }
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fmt.Errorf("not an array of Polygraphy: %w", err)
	}
	switch {
	case o.Tensor != nil:
		return nil, errors.New("tensors of PyTorch are not supported: they can run code when they are read")
	case o.Array == nil:
		return nil, errors.New("not an array of Polygraphy: it has no key \"array\"")
	}
	raw, err := base64.StdEncoding.DecodeString(*o.Array)
	if err != nil { // old versions wrote the bytes as they are, one a letter
		raw = latin1(*o.Array)
	}
	r := bytes.NewReader(raw)
	text, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	a, err := parseHeader(text, t.Elem)
	if err != nil {
		return nil, err
	}
	body := raw[len(raw)-r.Len():]
	a.npy.open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	return &Value{Kind: graph.KindTensor, Tensor: a}, nil
}

func latin1(s string) []byte {
	var b strings.Builder
	for _, r := range s {
		b.WriteByte(byte(r))
	}
	return []byte(b.String())
}
