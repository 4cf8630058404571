package refeval

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
)

func TestImageOps(t *testing.T) {
	const x4 = `float[1,1,1,4] x = {1, 2, 3, 4}`
	checkOps(t, Options{}, []opCase{
		{"nearest", 19, `(float[A,B,C,D] y) <` + x4 + `, float[4] s = {1, 1, 1, 0.5}> { y = Resize(x, , s) }`, "float[1,1,1,2] 1 3"},
		{"nearest strings", 19, `(string[A] y) <string[2] x = {"a", "b"}, int64[1] n = {4}> { y = Resize(x, , , n) }`, "string[4] a a b b"},
		{"linear", 11, `(float[A] y) <float[2] x = {1, 3}, float[2] r = {0, 1}, float[1] s = {2}> { y = Resize<mode = "linear">(x, r, s) }`, "float[4] 1 1.5 2.5 3"},
		{"linear, corners aligned", 19, `(float[A] y) <float[2] x = {1, 3}, int64[1] n = {3}> { y = Resize<mode = "linear", coordinate_transformation_mode = "align_corners">(x, , , n) }`, "float[3] 1 2 3"},
		{"cubic", 19, `(float[A,B,C,D] y) <` + x4 + `, float[4] s = {1, 1, 1, 0.5}> { y = Resize<mode = "cubic", coordinate_transformation_mode = "half_pixel">(x, , s) }`, "float[1,1,1,2] 1.4062 3.5938"},
		{"antialias", 19, `(float[A] y) <float[4] x = {1, 2, 3, 4}, float[1] s = {0.5}> { y = Resize<mode = "linear", antialias = 1>(x, , s) }`, "float[2] 1.625 3.375"},
		{"cropped", 19, `(float[A] y) <float[3] x = {1, 2, 3}, float[2] r = {0.5, 1.5}, int64[1] n = {3}> { y = Resize<mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize", extrapolation_value = 9.0>(x, r, , n) }`, "float[3] 2 3 9"},
		{"not larger", 19, `(float[A,B] y) <float[1,2] x = {1, 2}, int64[2] n = {3, 4}> { y = Resize<keep_aspect_ratio_policy = "not_larger">(x, , , n) }`, "float[2,4] 1 1 2 2 1 1 2 2"},
		{"integers are rounded and stay in range", 19, `(uint8[A] y) <uint8[2] x = {0, 255}, float[1] s = {2}> { y = Resize<mode = "cubic">(x, , s) }`, "uint8[4] 0 58 197 255"},
		{"resize of opset 10 takes the ceiling on the way down", 10, `(float[A] y) <float[4] x = {1, 2, 3, 4}, float[1] s = {0.6}> { y = Resize(x, s) }`, "float[2] 1 3"},
		{"upsample", 9, `(float[A] y) <float[2] x = {1, 3}, float[1] s = {2}> { y = Upsample<mode = "linear">(x, s) }`, "float[4] 1 2 3 3"},
		{"upsample of opset 1", 1, `(float[A,B,C,D] y) <float[1,1,1,2] x = {1, 3}> { y = Upsample<height_scale = 2.0, width_scale = 1.0>(x) }`, "float[1,1,2,2] 1 3 1 3"},
		{"places are computed in float", 13, `(float[A] y) <float[6] x = {0, 1, 2, 3, 4, 5}, float[1] s = {1.3333334}> { y = Resize<coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(x, , s) }`, "float[8] 0 0 1 2 3 3 4 5"},
		{"no scales", 19, `(float[A] y) <float[2] x = {1, 3}> { y = Resize(x) }`, "error: neither scales nor sizes"},
		{"a grid of a map", 20, `(float[A,B,C,D] y) <float[1,2,3] m = {1, 0, 0, 0, 1, 10}, int64[4] s = {1, 1, 2, 2}> { y = AffineGrid(m, s) }`, "float[1,2,2,2] -0.5 9.5 0.5 9.5 -0.5 10.5 0.5 10.5"},
		{"its corners", 20, `(float[A,B,C,D] y) <float[1,2,3] m = {2, 0, 0, 0, 1, 0}, int64[4] s = {1, 1, 1, 2}> { y = AffineGrid<align_corners = 1>(m, s) }`, "float[1,1,2,2] -2 -1 2 -1"},
		{"read by a grid", 16, `(float[A,B,C,D] y) <` + x4 + `, float[1,1,3,2] g = {-0.75, 0, 0, 0, 1, 0}> { y = GridSample(x, g) }`, "float[1,1,1,3] 1 2.5 2"},
		{"the border", 20, `(float[A,B,C,D] y) <` + x4 + `, float[1,1,2,2] g = {1, 0, 9, 0}> { y = GridSample<padding_mode = "border">(x, g) }`, "float[1,1,1,2] 4 4"},
		{"mirrored", 20, `(float[A,B,C,D] y) <` + x4 + `, float[1,1,2,2] g = {1.25, 0, -1.75, 0}> { y = GridSample<padding_mode = "reflection", mode = "nearest">(x, g) }`, "float[1,1,1,2] 4 2"},
		{"cubic, corners aligned", 20, `(float[A,B,C,D] y) <` + x4 + `, float[1,1,1,2] g = {0, 0}> { y = GridSample<mode = "cubic", align_corners = 1>(x, g) }`, "float[1,1,1,1] 2.5"},
		{"nowhere", 20, `(float[A,B,C,D] y) <` + x4 + `, float[1,1,2,2] g = {nan, 0, inf, 0}> { y = GridSample(x, g) }`, "float[1,1,1,2] 0 0"},
		{"regions, aligned", 16, `(float[A,B,C,D] y) <float[1,1,2,2] x = {1, 2, 3, 4}, float[1,4] r = {0, 0, 2, 2}, int64[1] b = {0}> { y = RoiAlign<output_height = 2, output_width = 2>(x, r, b) }`, "float[1,1,2,2] 1 2 3 4"},
		{"regions of opset 10, the largest", 10, `(float[A,B,C,D] y) <float[1,1,2,2] x = {1, 2, 3, 4}, float[1,4] r = {0, 0, 1, 1}, int64[1] b = {0}> { y = RoiAlign<mode = "max", sampling_ratio = 1>(x, r, b) }`, "float[1,1,1,1] 1"},
		{"boxes that overlap", 11, `(int64[A,B] y) <float[1,3,4] b = {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11}, float[1,1,3] s = {0.9, 0.95, 0.5}, int64[1] n = {3}, float[1] i = {0.5}> { y = NonMaxSuppression(b, s, n, i) }`, "int64[2,3] 0 0 1 0 0 2"},
		{"boxes by their middle, above a score", 11, `(int64[A,B] y) <float[1,2,4] b = {0.5, 0.5, 1, 1, 10.5, 0.5, 1, 1}, float[1,1,2] s = {0.9, 0.4}, int64[1] n = {3}, float[1] i = {0.5}, float[1] t = {0.4}> { y = NonMaxSuppression<center_point_box = 1>(b, s, n, i, t) }`, "int64[1,3] 0 0 0"},
	})
}

// decodeImage runs ImageDecoder on a file.
func decodeImage(t *testing.T, raw []byte, format string) (*graph.Tensor, error) {
	t.Helper()
	m := parse(t, "<ir_version: 9, opset_import: [\"\" : 20]>\nm (uint8[N] x) => (uint8[H,W,C] y) { y = ImageDecoder<pixel_format = \""+format+"\">(x) }")
	out, err := Eval(m.Graph.Nodes[0], []*graph.Tensor{graph.NewTensor("x", graph.Uint8, []int64{int64(len(raw))}, raw)})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

func TestImageDecoder(t *testing.T) {
	bmp := slices.Concat([]byte("BM"), make([]byte, 8), []byte{54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 24, 0}, make([]byte, 24), []byte{9, 8, 7, 0, 3, 2, 1, 0})
	tiff := slices.Concat([]byte("II*\x00\x08\x00\x00\x00\x07\x00"),
		tiffField(256, 1), tiffField(257, 2), tiffField(258, 8), tiffField(262, 2), tiffField(277, 3), tiffField(273, 94), tiffField(279, 6),
		[]byte{1, 2, 3, 7, 8, 9})
	img := image.NewNRGBA(image.Rect(0, 0, 1, 2))
	img.Set(0, 0, color.NRGBA{1, 2, 3, 255})
	img.Set(0, 1, color.NRGBA{7, 8, 9, 255})
	var p bytes.Buffer
	if err := png.Encode(&p, img); err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string][]byte{"bmp": bmp, "png": p.Bytes(), "pnm": []byte("P6 # one by two\n1 2 255\n\x01\x02\x03\x07\x08\x09"), "tiff": tiff} {
		for format, want := range map[string][]byte{"RGB": {1, 2, 3, 7, 8, 9}, "BGR": {3, 2, 1, 9, 8, 7}, "Grayscale": {2, 8}} {
			got, err := decodeImage(t, raw, format)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if b, err := got.Bytes(); err != nil || !bytes.Equal(b, want) {
				t.Errorf("%s as %s: %v, want %v (%v)", name, format, b, want, err)
			}
		}
		for n := range raw { // nothing that is cut off brings the decoder down
			if _, err := decodeImage(t, raw[:n], "RGB"); err == nil && n < len(raw)-16 {
				t.Errorf("%s: %d of %d bytes are an image", name, n, len(raw))
			}
		}
	}
	_, err := decodeImage(t, []byte("nothing"), "RGB")
	if err == nil || !strings.Contains(err.Error(), "none of the formats") {
		t.Errorf("error %v", err)
	}
}

func tiffField(tag int, value byte) []byte {
	return []byte{byte(tag), 1, 4, 0, 1, 0, 0, 0, value, 0, 0, 0}
}

// TestJPEGColours: an even area keeps its colour, also where colours are shared by pixels.
func TestJPEGColours(t *testing.T) {
	img := image.NewYCbCr(image.Rect(0, 0, 7, 5), image.YCbCrSubsampleRatio420)
	for i := range img.Y {
		img.Y[i] = 100
	}
	for i := range img.Cb {
		img.Cb[i], img.Cr[i] = 90, 160
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 100}); err != nil {
		t.Fatal(err)
	}
	got, err := decodeImage(t, b.Bytes(), "RGB")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := got.Bytes()
	if err != nil || len(raw) != 7*5*3 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	for i, v := range raw {
		if want := []byte{145, 90, 33}[i%3]; max(v, want)-min(v, want) > 2 {
			t.Fatalf("byte %d is %d, want %d", i, v, want)
		}
	}
}
