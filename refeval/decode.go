package refeval

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/amplint/amplint/graph"
)

// pixels is a decoded image, three bytes a pixel.
type pixels struct {
	w, h int
	rgb  []byte
}

// imageFormat is a kind of encoded images, known by how it begins.
type imageFormat struct {
	magic  string
	decode func(raw []byte) (pixels, error)
}

func imageFormats() []imageFormat {
	return []imageFormat{
		{"\xff\xd8\xff", decodeJPEG},
		{"\x89PNG", drawn(png.DecodeConfig, png.Decode)},
		{"GIF8", drawn(gif.DecodeConfig, gif.Decode)},
		{"BM", decodeBMP},
		{"P5", decodePNM},
		{"P6", decodePNM},
		{"II*\x00", decodeTIFF},
		{"MM\x00*", decodeTIFF},
	}
}

// imageDecoder reads an encoded image.
func imageDecoder(c *Call) error {
	raw := make([]byte, c.In(0).Len())
	for i, v := range c.In(0).I {
		raw[i] = byte(v)
	}
	for _, f := range imageFormats() {
		if !bytes.HasPrefix(raw, []byte(f.magic)) {
			continue
		}
		p, err := f.decode(raw)
		if err != nil {
			return fmt.Errorf("decoding the image: %w", err)
		}
		c.pixels(p)
		return nil
	}
	refuse("the image is in none of the formats JPEG, PNG, GIF, BMP, PNM and TIFF")
	return nil
}

// pixels makes output 0 of an image in the pixel format that the node asks for.
func (c *Call) pixels(p pixels) {
	format := c.Str("pixel_format")
	n := 3
	if format == "Grayscale" {
		n = 1
	}
	y := c.Out(0, graph.Uint8, []int{p.h, p.w, n})
	for i := range p.w * p.h {
		r, g, b := int64(p.rgb[3*i]), int64(p.rgb[3*i+1]), int64(p.rgb[3*i+2])
		switch format {
		case "RGB":
			y.I[3*i], y.I[3*i+1], y.I[3*i+2] = r, g, b
		case "BGR":
			y.I[3*i], y.I[3*i+1], y.I[3*i+2] = b, g, r
		case "Grayscale": // the weights of ITU-R 601 in 16 bits
			y.I[i] = (19595*r + 38470*g + 7471*b + 1<<15) >> 16
		default:
			refuse("unknown pixel_format %q", format)
		}
	}
}

// maxPixels bounds the images that are decoded, whatever their header claims.
const maxPixels = 1 << 26

// room makes an image of a size.
func room(w, h int) (pixels, error) {
	if w < 1 || h < 1 || w > maxPixels || h > maxPixels/w {
		return pixels{}, fmt.Errorf("an image of %d x %d", w, h)
	}
	return pixels{w, h, make([]byte, 3*w*h)}, nil
}

// drawn makes a decoder of those of the standard library.
func drawn(size func(io.Reader) (image.Config, error), decode func(io.Reader) (image.Image, error)) func(raw []byte) (pixels, error) {
	return func(raw []byte) (pixels, error) {
		conf, err := size(bytes.NewReader(raw))
		if err != nil {
			return pixels{}, err
		}
		p, err := room(conf.Width, conf.Height)
		if err != nil {
			return p, err
		}
		img, err := decode(bytes.NewReader(raw))
		if err != nil {
			return p, err
		}
		from := img.Bounds().Min
		for i := range p.w * p.h {
			r, g, b, _ := img.At(from.X+i%p.w, from.Y+i/p.w).RGBA()
			p.rgb[3*i], p.rgb[3*i+1], p.rgb[3*i+2] = byte(r>>8), byte(g>>8), byte(b>>8)
		}
		return p, nil
	}
}

// decodeJPEG spreads the colours over the pixels as libjpeg does, by a triangle filter; the
// standard library repeats them.
func decodeJPEG(raw []byte) (pixels, error) {
	conf, err := jpeg.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return pixels{}, err
	}
	p, err := room(conf.Width, conf.Height)
	if err != nil {
		return p, err
	}
	img, err := jpeg.Decode(bytes.NewReader(raw))
	if err != nil {
		return p, err
	}
	y, ok := img.(*image.YCbCr)
	if !ok {
		return drawn(jpeg.DecodeConfig, jpeg.Decode)(raw)
	}
	cb, cr := widened(y, y.Cb, p), widened(y, y.Cr, p)
	for i := range p.w * p.h {
		luma := y.Y[i/p.w*y.YStride+i%p.w]
		ycc(p.rgb[3*i:], int(luma), cb[i]-128, cr[i]-128)
	}
	return p, nil
}

// ycc converts one pixel, in the integers of libjpeg.
func ycc(rgb []byte, y, cb, cr int) {
	const half = 1 << 15
	rgb[0] = toByte(y + (91881*cr+half)>>16)
	rgb[1] = toByte(y + (-22554*cb-46802*cr+half)>>16)
	rgb[2] = toByte(y + (116130*cb+half)>>16)
}

func toByte(x int) byte { return byte(min(max(x, 0), 255)) }

// widened returns a colour plane at the size of the image.
func widened(y *image.YCbCr, plane []byte, p pixels) []int {
	across, down := subsampling(y.SubsampleRatio)
	w, h := (p.w+across-1)/across, (p.h+down-1)/down
	out := make([]int, p.w*p.h)
	at := func(r, x int) int { return int(plane[min(max(r, 0), h-1)*y.CStride+x]) }
	for r := range p.h {
		row := make([]int, w)
		for x := range row {
			row[x] = at(r/down, x)
			if down == 2 { // three parts of the near row, one of the other
				row[x] = 3*row[x] + at(r/2+2*(r%2)-1, x)
			}
		}
		for x := range p.w {
			out[r*p.w+x] = spreadColour(row, x, across, down, r%2)
		}
	}
	return out
}

// subsampling returns how many pixels share a colour across and down; what libjpeg does not filter
// is left to the nearest.
func subsampling(r image.YCbCrSubsampleRatio) (across, down int) {
	switch r {
	case image.YCbCrSubsampleRatio444:
		return 1, 1
	case image.YCbCrSubsampleRatio422:
		return 2, 1
	case image.YCbCrSubsampleRatio440:
		return 1, 2
	case image.YCbCrSubsampleRatio411:
		return 4, 1
	case image.YCbCrSubsampleRatio410:
		return 4, 2
	}
	return 2, 2
}

// spreadColour returns the colour of pixel x of a row whose colours are given, four times as large
// where two rows are mixed. The rounding alternates, so that it has no drift.
func spreadColour(row []int, x, across, down, odd int) int {
	switch {
	case across == 1 && down == 2:
		return (row[x] + 1 + odd) >> 2
	case across != 2:
		return row[x/across] / (3*(down-1) + 1)
	}
	k, last := x/2, len(row)-1
	near := row[min(max(k+2*(x%2)-1, 0), last)]
	if down == 2 {
		return (3*row[k] + near + 8 - x%2) >> 4
	}
	if k == 0 && x%2 == 0 || k == last && x%2 == 1 {
		return row[k]
	}
	return (3*row[k] + near + 1 + x%2) >> 2
}
