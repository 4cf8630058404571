package rangeprop

// window tells where the kernel of a convolution lies over its input. All slices have one entry for each
// spatial axis.
type window struct {
	in, out, kernel, stride, dilation, before []int
}

// meet is a tap that reads one position of the input for one of the output.
type meet struct {
	in, out int
	share   float64 // of the positions joined here, at which it does
}

// window reads the geometry of a convolution, nil where a size is neither known nor supposed.
func (c *call) window() *window {
	x, w, y := c.shape(0), c.shape(1), c.n.Out(0).Type.Shape
	if len(x) < 3 || len(w) != len(x) || len(y) != len(x) {
		return nil
	}
	n := len(x) - 2
	v := &window{before: make([]int, n), stride: orOnes(c.n.Ints("strides"), n), dilation: orOnes(c.n.Ints("dilations"), n)}
	for i := range n {
		a, k, b := c.sized(x[2+i]), w[2+i], c.sized(y[2+i])
		if !k.Known() || a < 1 || b < 1 || a > mostPlaces || b > mostPlaces {
			return nil
		}
		v.in, v.kernel, v.out = append(v.in, int(a)), append(v.kernel, int(k.N)), append(v.out, int(b))
	}
	v.pad(c.n.Str("auto_pad", "NOTSET"), c.n.Ints("pads"))
	return v
}

// mostPlaces is the length of an axis up to which it is looked where the taps of a kernel fall.
const mostPlaces = 1 << 16

// orOnes returns an attribute of n integers, 1 where it is left out.
func orOnes(a []int64, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
		if len(a) == n {
			out[i] = int(a[i])
		}
	}
	return out
}

// pad sets how far the kernel begins before the input.
func (w *window) pad(auto string, pads []int64) {
	for i := range w.in {
		total := (w.out[i]-1)*w.stride[i] + (w.kernel[i]-1)*w.dilation[i] + 1 - w.in[i]
		switch {
		case auto == "SAME_UPPER":
			w.before[i] = max(total, 0) / 2
		case auto == "SAME_LOWER":
			w.before[i] = (max(total, 0) + 1) / 2
		case auto != "VALID" && len(pads) == 2*len(w.in):
			w.before[i] = int(pads[i])
		}
	}
}

// places returns the number of positions.
func (w *window) places(sizes []int) int {
	n := 1
	for _, d := range sizes {
		n = min(n*d, mostPlaces+1)
	}
	return n
}

// at returns the position along axis i that tap k reads for position o, -1 in the padding.
func (w *window) at(i, o, k int) int {
	p := o*w.stride[i] - w.before[i] + k*w.dilation[i]
	if p < 0 || p >= w.in[i] {
		return -1
	}
	return p
}

// shares returns for every tap how often it reads the image and not its padding: never, for the outer
// rows of a kernel over a single one.
func (w *window) shares() [][]meet { return w.taps(w.joined) }

// meets returns for every tap which position it reads for each of the output's.
func (w *window) meets() [][]meet { return w.taps(w.along) }

// taps goes through the taps of the kernel in the order of the weights; extend adds tap k of axis i to
// what a tap of the axes before meets.
func (w *window) taps(extend func(list []meet, i, k int) []meet) [][]meet {
	list := [][]meet{{{share: 1}}}
	for i, taps := range w.kernel {
		var next [][]meet
		for _, m := range list {
			for k := range taps {
				next = append(next, extend(m, i, k))
			}
		}
		list = next
	}
	return list
}

// joined extends the share of a tap by axis i.
func (w *window) joined(list []meet, i, k int) []meet {
	n := 0
	for o := range w.out[i] {
		if w.at(i, o, k) >= 0 {
			n++
		}
	}
	return []meet{{share: list[0].share * float64(n) / float64(w.out[i])}}
}

// along extends what a tap meets by axis i.
func (w *window) along(list []meet, i, k int) []meet {
	var out []meet
	for _, m := range list {
		for o := range w.out[i] {
			if p := w.at(i, o, k); p >= 0 {
				out = append(out, meet{in: m.in*w.in[i] + p, out: m.out*w.out[i] + o, share: m.share})
			}
		}
	}
	return out
}
