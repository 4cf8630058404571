package samples

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/amplint/amplint/graph"
)

// Array is one array of a data file.
type Array struct {
	Elem graph.ElemType
	Dims []int64

	tensor *graph.Tensor // of a protobuf file
	npy    *npy          // of an NPZ archive
}

// Len returns the number of elements.
func (a *Array) Len() int64 {
	n := int64(1)
	for _, d := range a.Dims {
		n *= d
	}
	return n
}

// Tensor reads the whole array.
func (a *Array) Tensor() (*graph.Tensor, error) {
	if a.tensor != nil {
		return a.tensor, nil
	}
	var raw []byte
	err := a.npy.chunks(a.Len(), func(b []byte) error { raw = append(raw, b...); return nil })
	if err != nil {
		return nil, err
	}
	if a.npy.fortran {
		raw = transposed(raw, a.Dims, a.npy.size)
	}
	if a.Elem == graph.String {
		return graph.NewStrings("", a.Dims, a.npy.strings(raw)), nil
	}
	return graph.NewTensor("", a.Elem, a.Dims, pack(raw, a.Elem)), nil
}

// raw streams the elements as raw_data would hold them, in no particular order.
func (a *Array) raw(visit func([]byte) error) error {
	if a.tensor != nil {
		return a.tensor.Raw(visit)
	}
	return a.npy.chunks(a.Len(), func(b []byte) error { return visit(pack(b, a.Elem)) })
}

// pack joins elements below 8 bits, which numpy holds one in a byte.
func pack(raw []byte, e graph.ElemType) []byte {
	bits := e.Bits()
	if bits == 0 || bits >= 8 {
		return raw
	}
	per := 8 / bits
	out := make([]byte, (len(raw)+per-1)/per)
	for i, b := range raw {
		out[i/per] |= (b & (1<<bits - 1)) << (i % per * bits)
	}
	return out
}

// transposed brings elements in Fortran's order into C's.
func transposed(raw []byte, dims []int64, size int) []byte {
	out := make([]byte, 0, len(raw))
	at := make([]int64, len(dims))
	for range len(raw) / size {
		off := int64(0)
		for i, d := range slices.Backward(dims) {
			off = off*d + at[i]
		}
		out = append(out, raw[off*int64(size):(off+1)*int64(size)]...)
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < dims[i] {
				break
			}
			at[i] = 0
		}
	}
	return out
}

// npy is the body of a .npy file inside an archive.
type npy struct {
	open    func() (io.ReadCloser, error) // stands behind the header
	size    int                           // of an element
	swap    int                           // width of the big-endian numbers to swap, 0 for none
	fortran bool
	wide    bool // strings of UTF-32, else of bytes
}

// chunkBytes is how much is read at once.
const chunkBytes = 1 << 20

// chunks streams n elements in little-endian order. A file that ends early is an error.
func (p *npy) chunks(n int64, visit func([]byte) error) error {
	r, err := p.open()
	if err != nil {
		return err
	}
	defer r.Close()
	left := n * int64(p.size)
	buf := make([]byte, min(left, int64(max(1, chunkBytes/p.size)*p.size)))
	for left > 0 {
		b := buf[:min(left, int64(len(buf)))]
		if _, err := io.ReadFull(r, b); err != nil {
			return fmt.Errorf("the array is cut off %d bytes before its end: %w", left, err)
		}
		swap(b, p.swap)
		if err := visit(b); err != nil {
			return err
		}
		left -= int64(len(b))
	}
	return nil
}

func swap(b []byte, width int) {
	if width < 2 {
		return
	}
	for i := 0; i+width <= len(b); i += width {
		slices.Reverse(b[i : i+width])
	}
}

// strings cuts the fixed-width strings of numpy, which are padded with zeros.
func (p *npy) strings(raw []byte) []string {
	if p.size == 0 {
		return nil
	}
	var list []string
	for b := range slices.Chunk(raw, p.size) {
		if p.wide {
			list = append(list, utf32(b))
			continue
		}
		list = append(list, string(trimZeros(b)))
	}
	return list
}

func trimZeros(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}

func utf32(b []byte) string {
	var r []rune
	for i := 0; i+4 <= len(b); i += 4 {
		r = append(r, rune(binary.LittleEndian.Uint32(b[i:])))
	}
	for len(r) > 0 && r[len(r)-1] == 0 {
		r = r[:len(r)-1]
	}
	return string(r)
}
