package graph

import (
	"strings"
	"testing"
)

func TestDecodeTensor(t *testing.T) {
	const header = "\x08\x02\x10\x02\x42\x01x" // dims: 2, uint8, name: x
	for _, c := range []struct{ name, bytes, err string }{
		{"whole", header + "\x4a\x02\x05\x06", ""},
		{"short", header + "\x4a\x01\x05", "takes 2 bytes"},
		{"external", header + "\x70\x01\x6a\x05\x0a\x03loc", "another file"},
		{"cut", header + "\x4a\x09\x05", "claims 9 bytes"},
	} {
		got, err := DecodeTensor([]byte(c.bytes))
		switch {
		case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		case c.err == "" && (got.Name != "x" || got.Elem != Uint8 || got.Len() != 2):
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
}
