package graph

import (
	"errors"
	"fmt"
)

// chunkBytes is how much of a tensor is held at a time: large enough that the system call does
// not count, small enough for a core's own cache. Elements of every size come out whole, those of 6
// bits too.
const chunkBytes = 3 << 16

// chunkFloats is the longest chunk of [Tensor.Floats]: it stays in the first cache.
const chunkFloats = 4 << 10

// Raw streams the elements as raw_data would hold them (little endian, types below 8 bits packed)
// whatever field or file they are stored in, in chunks of at most 192 KiB that hold whole
// elements. A chunk is valid until visit returns and must not be changed. An error of visit is
// returned as it is.
func (t *Tensor) Raw(visit func(chunk []byte) error) error {
	n, err := elements(t.Dims)
	switch {
	case err != nil:
		return t.wrap(err)
	case t.Elem == String:
		return t.wrap(errors.New("strings have no raw form"))
	case t.Elem.Bits() == 0:
		return t.wrap(fmt.Errorf("unknown element type %d", int32(t.Elem)))
	}
	want := rawLen(t.Elem, n)
	switch {
	case t.from != nil:
		return t.convert(visit)
	case t.base != nil:
		return t.turnedRaw(visit)
	case t.External != nil:
		return t.external(want, visit)
	case t.raw.Off != 0:
		return t.inFile(want, visit)
	case len(t.lists) > 0:
		return t.typed(want, visit)
	case int64(len(t.mem)) != want:
		return t.wrap(fmt.Errorf("%s%v takes %d bytes, it has %d", t.Elem, t.Dims, want, len(t.mem)))
	}
	return visitBytes(t.mem, visit)
}

// Bytes returns all elements as [Tensor.Raw] streams them.
func (t *Tensor) Bytes() ([]byte, error) {
	b := []byte{}
	err := t.Raw(func(chunk []byte) error {
		if cap(b) == 0 { // not before: only now it is known that the elements exist
			b = make([]byte, 0, t.RawLen())
		}
		b = append(b, chunk...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Floats streams the elements of any numeric type or bool as float32 (double rounds, integers
// above 2^24 round), in chunks of at most 4096 elements. A chunk is valid until visit returns and may
// be changed.
func (t *Tensor) Floats(visit func(chunk []float32) error) error {
	if f, ok := t.rounds(); ok {
		return t.from.Floats(func(chunk []float32) error {
			t.round(f, chunk)
			return visit(chunk)
		})
	}
	if t.base != nil {
		return t.turned(visit)
	}
	var buf []float32
	return t.blocks(func(raw []byte, n int) error {
		if cap(buf) < n {
			buf = make([]float32, n)
		}
		t.Elem.floats(buf[:n], raw)
		return visit(buf[:n])
	})
}

// Float64s returns all elements of any numeric type or bool.
func (t *Tensor) Float64s() ([]float64, error) { return collect(t, t.Elem.float64s) }

// Int64s returns all elements of an integer or bool tensor; uint64 wraps.
func (t *Tensor) Int64s() ([]int64, error) {
	if !t.Elem.IsInt() && t.Elem != Bool {
		return nil, t.wrap(fmt.Errorf("%s is no integer type", t.Elem))
	}
	return collect(t, t.Elem.int64s)
}

// collect gathers the decoded elements of all blocks.
func collect[T any](t *Tensor, decode func(dst []T, raw []byte)) ([]T, error) {
	all := []T{}
	err := t.blocks(func(raw []byte, n int) error {
		if cap(all) == 0 {
			all = make([]T, 0, t.Len())
		}
		at := len(all)
		all = all[:at+n]
		decode(all[at:], raw)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// blocks streams the elements of a numeric tensor in blocks of n <= chunkFloats elements.
func (t *Tensor) blocks(visit func(raw []byte, n int) error) error {
	if t.Elem == Complex64 || t.Elem == Complex128 {
		return t.wrap(fmt.Errorf("%s elements are no real numbers", t.Elem))
	}
	left := t.Len()
	size := int64(chunkFloats) * int64(t.Elem.Bits()) / 8
	return t.Raw(func(chunk []byte) error {
		for len(chunk) > 0 {
			k := min(int64(len(chunk)), size)
			n := min(left, k*8/int64(t.Elem.Bits()))
			if err := visit(chunk[:k], int(n)); err != nil {
				return err
			}
			chunk, left = chunk[k:], left-n
		}
		return nil
	})
}

// Strings returns the elements of a string tensor.
func (t *Tensor) Strings() ([]string, error) {
	if t.Elem != String {
		return nil, t.wrap(fmt.Errorf("%s elements are no strings", t.Elem))
	}
	list := t.strings
	if len(t.lists) > 0 {
		var err error
		if list, err = t.stringData(); err != nil {
			return nil, t.wrap(err)
		}
	}
	if n := t.Len(); n != int64(len(list)) {
		return nil, t.wrap(fmt.Errorf("string%v takes %d strings, it has %d", t.Dims, n, len(list)))
	}
	return list, nil
}

// wrap names the tensor and, where it has one, its file.
func (t *Tensor) wrap(err error) error {
	if t.src != nil && t.model != nil && t.model.Path != "" {
		return fmt.Errorf("%s: tensor %q: %w", t.model.Path, t.Name, err)
	}
	return fmt.Errorf("tensor %q: %w", t.Name, err)
}
