package samples

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/amplint/amplint/graph"
)

// maxHeader bounds the text before the elements. numpy itself refuses to read longer ones.
const maxHeader = 1 << 20

// readHeader reads what stands before the elements of a .npy file and returns its text.
func readHeader(r io.Reader) (string, error) {
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil || string(start[:6]) != "\x93NUMPY" {
		return "", fmt.Errorf("not an array of numpy")
	}
	var n uint32
	var err error
	switch start[6] {
	case 1:
		var short uint16
		err = binary.Read(r, binary.LittleEndian, &short)
		n = uint32(short)
	case 2, 3:
		err = binary.Read(r, binary.LittleEndian, &n)
	default:
		return "", fmt.Errorf("version %d of the array format is unknown", start[6])
	}
	if err != nil || n > maxHeader {
		return "", fmt.Errorf("the array's header is damaged")
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", fmt.Errorf("the array's header is cut off")
	}
	return string(text), nil
}

// parseHeader turns a header's text, a Python dictionary that numpy always writes in one form, into
// an array. declared is the type of the model's input, which decides what numpy has no name for:
// bfloat16 and float8 are written as void.
func parseHeader(text string, declared graph.ElemType) (*Array, error) {
	descr, fortran, shape := dictEntry(text, "descr"), dictEntry(text, "fortran_order"), dictEntry(text, "shape")
	if strings.HasPrefix(descr, "[") {
		return nil, fmt.Errorf("structured arrays are not supported")
	}
	descr, ok := between(descr, "'", "'")
	shape, known := between(shape, "(", ")")
	if !ok || !known || fortran == "" {
		return nil, fmt.Errorf("the array's header %.80q cannot be read", text)
	}
	a := &Array{npy: &npy{fortran: strings.HasPrefix(fortran, "True")}}
	if err := a.dtype(descr, declared); err != nil {
		return nil, err
	}
	return a, a.shape(shape)
}

// dictEntry returns the text that begins with the value of a key.
func dictEntry(text, key string) string {
	_, rest, _ := strings.Cut(text, "'"+key+"':")
	return strings.TrimSpace(rest)
}

func between(text, start, end string) (string, bool) {
	text, ok := strings.CutPrefix(text, start)
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(text, end)
	return inner, ok
}

func (a *Array) shape(text string) error {
	a.Dims = []int64{}
	total := int64(a.npy.size)
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSuffix(strings.TrimSpace(part), "L")
		if part == "" {
			continue
		}
		d, err := strconv.ParseInt(part, 10, 64)
		if err != nil || d < 0 {
			return fmt.Errorf("the array's shape (%s) cannot be read", text)
		}
		if d > 0 && total > math.MaxInt64/d {
			return fmt.Errorf("the array's shape (%s) is too large", text)
		}
		total *= max(d, 1)
		a.Dims = append(a.Dims, d)
	}
	return nil
}

// numbers are the types of numpy that the standard has too.
var numbers = map[string]graph.ElemType{
	"b1": graph.Bool, "i1": graph.Int8, "i2": graph.Int16, "i4": graph.Int32, "i8": graph.Int64,
	"u1": graph.Uint8, "u2": graph.Uint16, "u4": graph.Uint32, "u8": graph.Uint64,
	"f2": graph.Float16, "f4": graph.Float, "f8": graph.Double, "c8": graph.Complex64, "c16": graph.Complex128,
}

// dtype reads a type string such as "<f4": byte order, kind and width.
func (a *Array) dtype(descr string, declared graph.ElemType) error {
	name := strings.TrimLeft(descr, "<>|=")
	if name == "" {
		return fmt.Errorf("the array's type %q cannot be read", descr)
	}
	width, err := strconv.Atoi(name[1:])
	if err != nil || width < 1 || width > chunkBytes/4 {
		return a.refuse(descr)
	}
	p := a.npy
	p.size = width
	switch name[0] {
	case 'S', 'a':
		a.Elem = graph.String
		return nil
	case 'U':
		a.Elem, p.wide, p.size = graph.String, true, 4*width
		a.order(descr, 4)
		return nil
	case 'V':
		if declared.Bits() != 8*width && !(declared.Bits() < 8 && width == 1) || declared.Bits() == 0 {
			return fmt.Errorf("an array of type %q does not fit an input of type %s", descr, declared)
		}
		a.Elem = declared
		return nil
	}
	e, ok := numbers[name]
	if !ok {
		return a.refuse(descr)
	}
	a.Elem = e
	if e == graph.Complex64 || e == graph.Complex128 {
		width /= 2
	}
	a.order(descr, width)
	a.narrow(declared)
	return nil
}

func (a *Array) order(descr string, width int) {
	if descr[0] == '>' {
		a.npy.swap = width
	}
}

// narrow takes small integers as what the input declares, int4 for one: numpy has no such types.
func (a *Array) narrow(declared graph.ElemType) {
	if declared.Bits() > 0 && declared.Bits() < 8 && declared.IsInt() && a.npy.size == 1 && a.Elem.IsInt() {
		a.Elem = declared
	}
}

func (a *Array) refuse(descr string) error {
	if strings.Contains(descr, "O") {
		return fmt.Errorf("arrays of Python objects are not supported: they can run code when they are read")
	}
	return fmt.Errorf("arrays of type %q are not supported", descr)
}
