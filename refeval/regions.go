package refeval

import (
	"cmp"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// roi is a region of RoiAlign along one dimension.
type roi struct {
	start, bin float64 // of the first bin; the width of one
	grid       int     // samples in a bin
}

// samplePrice is about how many operations a sample takes.
const samplePrice = 32

// roiAlign averages samples in each bin of each region, or takes the largest.
func roiAlign(c *Call) error {
	x, rois, batch := c.In(0), c.In(1), c.In(2)
	if x.Rank() != 4 || rois.Rank() != 2 || rois.Dims[1] != 4 || batch.Len() != rois.Dims[0] {
		refuse("regions %s of %s", rois, x)
	}
	h, w := c.IntOr("output_height", 1), c.IntOr("output_width", 1)
	y := c.Out(0, x.Elem, []int{rois.Dims[0], x.Dims[1], h, w})
	images := batch.indices(x.Dims[0])
	largest := c.Str("mode") == "max"
	for i := range y.Len() {
		at := unravel(i, y.Dims)
		rows := c.roi(rois.at64(at[0]*4+1), rois.at64(at[0]*4+3), h)
		cols := c.roi(rois.at64(at[0]*4), rois.at64(at[0]*4+2), w)
		if max(rows.grid, cols.grid) > 1<<20 || rows.grid*cols.grid > 1<<20 {
			refuse("%d x %d samples in a bin", rows.grid, cols.grid)
		}
		c.spend(rows.grid * cols.grid * samplePrice)
		b := bin{x: x, plane: (images[at[0]]*x.Dims[1] + at[1]) * x.Dims[2] * x.Dims[3], rows: rows, cols: cols}
		y.put64(i, b.value(at[2], at[3], largest))
	}
	return nil
}

// roi reads a region along one dimension that is cut into n bins.
func (c *Call) roi(from, to float64, n int) roi {
	scale, offset := c.Float("spatial_scale"), 0.0
	half := c.Str("coordinate_transformation_mode") == "half_pixel"
	if half {
		offset = 0.5
	}
	r := roi{start: from*scale - offset, grid: c.Int("sampling_ratio")}
	width := to*scale - offset - r.start
	if !half {
		width = max(width, 1)
	}
	r.bin = width / float64(n)
	if r.grid <= 0 {
		r.grid = int(min(max(math.Ceil(r.bin), 0), 1<<21))
	}
	return r
}

// at returns where sample k of a bin lies.
func (r *roi) at(bin, k int) float64 {
	return r.start + float64(bin)*r.bin + (float64(k)+0.5)*r.bin/float64(r.grid)
}

// bin is where RoiAlign reads.
type bin struct {
	x          *Tensor
	plane      int
	rows, cols roi
}

// value reduces the samples of one bin.
func (b *bin) value(i, j int, largest bool) float64 {
	var sum float64
	most := math.Inf(-1)
	for u := range b.rows.grid {
		for v := range b.cols.grid {
			s, m := b.sample(b.rows.at(i, u), b.cols.at(j, v))
			sum += s
			most = max(most, m)
		}
	}
	n := b.rows.grid * b.cols.grid
	switch {
	case n == 0:
		return 0
	case largest:
		return most
	}
	return sum / float64(n)
}

// sample returns the sum and the largest of the four weighted elements around a place; outside the
// image both are zero.
func (b *bin) sample(y, x float64) (sum, most float64) {
	h, w := b.x.Dims[2], b.x.Dims[3]
	if !(y >= -1 && y <= float64(h) && x >= -1 && x <= float64(w)) {
		return 0, 0
	}
	rows, cols := clamped(y, h), clamped(x, w)
	most = math.Inf(-1)
	for i, r := range rows.at {
		for j, k := range cols.at {
			v := rows.weight[i] * cols.weight[j] * b.x.at64(b.plane+r*w+k)
			sum += v
			most = max(most, v)
		}
	}
	return sum, most
}

// clamped returns the two elements around a place that is moved into a dimension of n.
func clamped(x float64, n int) taps {
	x = max(x, 0)
	low := int(x)
	if low >= n-1 {
		return taps{[]int{n - 1, n - 1}, []float64{1, 0}}
	}
	f := x - float64(low)
	return taps{[]int{low, low + 1}, []float64{1 - f, f}}
}

// box is a box of NonMaxSuppression by its corners.
type box struct{ x0, y0, x1, y1 float64 }

// nonMaxSuppression chooses the boxes of highest score that do not overlap a chosen one too much.
func nonMaxSuppression(c *Call) error {
	boxes, scores := c.In(0), c.In(1)
	if boxes.Rank() != 3 || boxes.Dims[2] != 4 || scores.Rank() != 3 || scores.Dims[0] != boxes.Dims[0] || scores.Dims[2] != boxes.Dims[1] {
		refuse("boxes %s with scores %s", boxes, scores)
	}
	limit := func(i int, def float64) float64 {
		if !c.Has(i) || c.In(i).Len() == 0 {
			return def
		}
		return c.In(i).scalar()
	}
	most, iou, least := int(limit(2, 0)), limit(3, 0), limit(4, math.Inf(-1))
	var chosen []int64
	n, classes := boxes.Dims[1], scores.Dims[1]
	for i := range boxes.Dims[0] * classes {
		b := i / classes
		var found []box
		for _, k := range candidates(scores, i*n, n, least, c.Has(4)) {
			if len(found) >= most {
				break
			}
			next := boxOf(boxes, b*n+k, c.Int("center_point_box") != 0)
			if !slices.ContainsFunc(found, func(f box) bool { return next.overlap(f) > iou }) {
				found = append(found, next)
				chosen = append(chosen, int64(b), int64(i%classes), int64(k))
			}
		}
	}
	copy(c.Out(0, graph.Int64, []int{len(chosen) / 3, 3}).I, chosen)
	return nil
}

// candidates returns the boxes whose score is above the least, from the highest score on.
func candidates(scores *Tensor, from, n int, least float64, bounded bool) []int {
	var list []int
	for k := range n {
		if !bounded || scores.at64(from+k) > least {
			list = append(list, k)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(scores.at64(from+b), scores.at64(from+a)) })
	return list
}

// boxOf reads a box: two corners in any order, or its middle and its size.
func boxOf(t *Tensor, i int, center bool) box {
	a, b, c, d := t.at64(4*i), t.at64(4*i+1), t.at64(4*i+2), t.at64(4*i+3)
	if center {
		return box{a - c/2, b - d/2, a + c/2, b + d/2}
	}
	return box{min(b, d), min(a, c), max(b, d), max(a, c)}
}

func (b box) area() float64 { return (b.x1 - b.x0) * (b.y1 - b.y0) }

// overlap returns the area that two boxes share over that which they cover, 0 for empty boxes.
func (b box) overlap(o box) float64 {
	w, h := min(b.x1, o.x1)-max(b.x0, o.x0), min(b.y1, o.y1)-max(b.y0, o.y0)
	if w <= 0 || h <= 0 || b.area() <= 0 || o.area() <= 0 {
		return 0
	}
	return w * h / (b.area() + o.area() - w*h)
}
