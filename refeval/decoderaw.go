package refeval

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errImage = errors.New("the file is cut off")

// decodeBMP reads bitmaps of 8 bits with a palette, 24 and 32 bits, uncompressed.
func decodeBMP(raw []byte) (pixels, error) {
	if len(raw) < 54 {
		return pixels{}, errImage
	}
	le := binary.LittleEndian
	data, header := int(le.Uint32(raw[10:])), int(le.Uint32(raw[14:]))
	w, h := int(int32(le.Uint32(raw[18:]))), int(int32(le.Uint32(raw[22:])))
	bits, method := int(le.Uint16(raw[28:])), le.Uint32(raw[30:])
	up := h > 0
	if !up {
		h = -h
	}
	p, err := room(w, h)
	if err != nil {
		return p, err
	}
	if method != 0 || bits != 8 && bits != 24 && bits != 32 {
		return p, fmt.Errorf("a bitmap of %d bits, compressed by method %d", bits, method)
	}
	stride := (w*bits/8 + 3) &^ 3
	if data < 0 || data > len(raw) || stride*h > len(raw)-data || header > data {
		return p, errImage
	}
	for i := range w * h {
		row := i / w
		if up {
			row = h - 1 - row
		}
		px := raw[data+row*stride+i%w*bits/8:]
		if bits == 8 {
			from := 14 + header + 4*int(px[0])
			if from+3 > len(raw) {
				return p, errImage
			}
			px = raw[from:]
		}
		p.rgb[3*i], p.rgb[3*i+1], p.rgb[3*i+2] = px[2], px[1], px[0]
	}
	return p, nil
}

// decodePNM reads binary grey and colour maps of 8 bits.
func decodePNM(raw []byte) (pixels, error) {
	var head [3]int
	at := 2
	for i := range head {
		var ok bool
		if head[i], at, ok = pnmNumber(raw, at); !ok {
			return pixels{}, errImage
		}
	}
	p, err := room(head[0], head[1])
	if err != nil {
		return p, err
	}
	if head[2] != 255 {
		return p, fmt.Errorf("a map of %d levels", head[2]+1)
	}
	n := 1
	if raw[1] == '6' {
		n = 3
	}
	at++ // one byte of white space
	if len(raw)-at < n*p.w*p.h {
		return p, errImage
	}
	for i := range p.rgb {
		p.rgb[i] = raw[at+i/3*n+i%3%n]
	}
	return p, nil
}

// pnmNumber reads a number of a header, in which a comment runs from # to the end of the line.
func pnmNumber(raw []byte, at int) (n, next int, ok bool) {
	for at < len(raw) && (raw[at] < '0' || raw[at] > '9') {
		if raw[at] == '#' {
			for at < len(raw) && raw[at] != '\n' {
				at++
			}
			continue
		}
		at++
	}
	for ; at < len(raw) && raw[at] >= '0' && raw[at] <= '9'; at++ {
		if n = 10*n + int(raw[at]-'0'); n > maxPixels {
			return 0, at, false
		}
		ok = true
	}
	return n, at, ok
}

// tiff are the fields of an image file directory that matter here.
type tiff struct {
	raw    []byte
	order  binary.ByteOrder
	fields map[uint16][]int
}

// The tags of TIFF 6.0 that are read.
const (
	tagWidth       = 256
	tagHeight      = 257
	tagBits        = 258
	tagCompression = 259
	tagPhotometric = 262
	tagOffsets     = 273
	tagSamples     = 277
	tagCounts      = 279
	tagPlanar      = 284
)

// decodeTIFF reads uncompressed grey and colour images of 8 bits, in strips.
func decodeTIFF(raw []byte) (pixels, error) {
	t := tiff{raw: raw, order: binary.LittleEndian, fields: map[uint16][]int{}}
	if raw[0] == 'M' {
		t.order = binary.BigEndian
	}
	if err := t.read(); err != nil {
		return pixels{}, err
	}
	p, err := room(t.first(tagWidth, 0), t.first(tagHeight, 0))
	if err != nil {
		return p, err
	}
	n, photo := t.first(tagSamples, 1), t.first(tagPhotometric, 0)
	if t.first(tagCompression, 1) != 1 || t.first(tagBits, 1) != 8 || t.first(tagPlanar, 1) != 1 || photo > 2 || n != 1 && n < 3 {
		return p, fmt.Errorf("a TIFF of %d samples, compressed by method %d", n, t.first(tagCompression, 1))
	}
	var data []byte
	for i, from := range t.fields[tagOffsets] {
		if i >= len(t.fields[tagCounts]) || from < 0 || t.fields[tagCounts][i] > len(raw)-from {
			return p, errImage
		}
		data = append(data, raw[from:from+t.fields[tagCounts][i]]...)
	}
	if len(data) < n*p.w*p.h {
		return p, errImage
	}
	for i := range p.rgb {
		p.rgb[i] = data[i/3*n+min(i%3, n-1)]
		if photo == 0 { // white is zero
			p.rgb[i] = 255 - p.rgb[i]
		}
	}
	return p, nil
}

// first returns the first value of a field.
func (t *tiff) first(tag uint16, def int) int {
	if list := t.fields[tag]; len(list) > 0 {
		return list[0]
	}
	return def
}

// read reads the first directory; fields of other types than whole numbers are passed over.
func (t *tiff) read() error {
	if len(t.raw) < 8 {
		return errImage
	}
	at := int(t.order.Uint32(t.raw[4:]))
	if at < 8 || at+2 > len(t.raw) {
		return errImage
	}
	n := int(t.order.Uint16(t.raw[at:]))
	if at+2+12*n > len(t.raw) {
		return errImage
	}
	for i := range n {
		if err := t.field(t.raw[at+2+12*i:]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tiff) field(e []byte) error {
	width := map[uint16]int{1: 1, 3: 2, 4: 4}[t.order.Uint16(e[2:])]
	n := int(t.order.Uint32(e[4:]))
	if width == 0 || n > len(t.raw) {
		return nil
	}
	from := e[8:12]
	if n*width > 4 {
		off := int(t.order.Uint32(e[8:]))
		if off > len(t.raw) || n*width > len(t.raw)-off {
			return errImage
		}
		from = t.raw[off:]
	}
	list := make([]int, n)
	for i := range list {
		switch width {
		case 1:
			list[i] = int(from[i])
		case 2:
			list[i] = int(t.order.Uint16(from[2*i:]))
		default:
			list[i] = int(t.order.Uint32(from[4*i:]))
		}
	}
	t.fields[t.order.Uint16(e)] = list
	return nil
}
