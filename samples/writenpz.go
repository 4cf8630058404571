package samples

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/amplint/amplint/graph"
)

// WriteNPZ writes values as an archive of numpy. A sequence becomes the entries name.0, name.1 and
// so on, a map name.keys and name.values; an empty optional leaves no entry. bfloat16, float8 and
// what is smaller are written as [Load] reads them: as void, or one small integer in a byte.
func WriteNPZ(w io.Writer, list []Named) error {
	z := zip.NewWriter(w)
	for _, n := range list {
		if err := zipValue(z, n.Name, n.Value); err != nil {
			return fmt.Errorf("array %q: %w", n.Name, err)
		}
	}
	return z.Close()
}

func zipValue(z *zip.Writer, name string, v *Value) error {
	if v.Tensor != nil {
		return zipArray(z, name, v.Tensor)
	}
	if v.Keys != nil {
		if err := zipArray(z, name+".keys", v.Keys); err != nil {
			return err
		}
		name += ".values"
	}
	for i, item := range v.Items {
		if err := zipValue(z, name+"."+strconv.Itoa(i), item); err != nil {
			return err
		}
	}
	return nil
}

// zipArray stores an array without compression, as numpy.savez does.
func zipArray(z *zip.Writer, name string, a *Array) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		return err
	}
	if a.Elem == graph.String {
		return writeStrings(w, a)
	}
	descr, err := descrOf(a.Elem)
	if err != nil {
		return err
	}
	if _, err := w.Write(npyHeader(descr, a.Dims)); err != nil {
		return err
	}
	bits := a.Elem.Bits()
	if bits >= 8 {
		return a.raw(func(b []byte) error { _, err := w.Write(b); return err })
	}
	t, err := a.Tensor()
	if err != nil {
		return err
	}
	raw, err := t.Bytes()
	if err != nil {
		return err
	}
	_, err = w.Write(unpack(raw, bits, a.Elem.IsInt() && descr == "|i1", int(a.Len())))
	return err
}

// unpack gives each element below 8 bits a byte of its own, with its sign where it has one.
func unpack(raw []byte, bits int, signed bool, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		at := i * bits
		v := uint16(raw[at/8]) >> (at % 8)
		if at%8+bits > 8 {
			v |= uint16(raw[at/8+1]) << (8 - at%8)
		}
		out[i] = byte(v) & (1<<bits - 1)
		if signed {
			out[i] = byte(int8(out[i]<<(8-bits)) >> (8 - bits))
		}
	}
	return out
}

// descrOf returns what numpy calls a type.
func descrOf(e graph.ElemType) (string, error) {
	for descr, known := range numbers {
		if known != e {
			continue
		}
		if e.Bits() == 8 {
			return "|" + descr, nil
		}
		return "<" + descr, nil
	}
	switch {
	case e == graph.Int4 || e == graph.Int2:
		return "|i1", nil
	case e.IsInt():
		return "|u1", nil
	case e.Bits() > 0:
		return fmt.Sprintf("|V%d", max(e.Bits()/8, 1)), nil
	}
	return "", fmt.Errorf("numpy has no arrays of type %s", e)
}

// npyHeader returns what stands before the elements, aligned as numpy aligns it.
func npyHeader(descr string, dims []int64) []byte {
	var shape strings.Builder
	for _, d := range dims {
		fmt.Fprintf(&shape, "%d, ", d)
	}
	s := strings.TrimSuffix(shape.String(), " ")
	if len(dims) > 1 {
		s = strings.TrimSuffix(s, ",")
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, s)
	const align = 64
	text += strings.Repeat(" ", align-1-(10+len(text))%align) + "\n"
	b := append([]byte("\x93NUMPY"), 1, 0)
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(text))), text...)
}

// writeStrings pads strings to the longest, in UTF-32.
func writeStrings(w io.Writer, a *Array) error {
	t, err := a.Tensor()
	if err != nil {
		return err
	}
	list, err := t.Strings()
	if err != nil {
		return err
	}
	width := 1
	for _, s := range list {
		width = max(width, utf8.RuneCountInString(s))
	}
	b := npyHeader(fmt.Sprintf("<U%d", width), a.Dims)
	for _, s := range list {
		n := 0
		for _, r := range s {
			b = binary.LittleEndian.AppendUint32(b, uint32(r))
			n++
		}
		b = append(b, make([]byte, 4*(width-n))...)
	}
	_, err = w.Write(b)
	return err
}
