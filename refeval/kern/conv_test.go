package kern

import (
	"math/rand/v2"
	"testing"

	"github.com/amplint/amplint/numfmt"
)

func convs() []Conv {
	one, two := []int{1, 1}, []int{2, 2}
	list := []Conv{
		{Batch: 2, In: 3, Out: 5, Groups: 1, Size: []int{7, 9}, Kernel: []int{3, 3}, Stride: one, Dilation: one, Begin: one, End: one},
		{Batch: 1, In: 4, Out: 6, Groups: 2, Size: []int{8, 11}, Kernel: []int{3, 2}, Stride: two, Dilation: []int{1, 2}, Begin: []int{0, 2}, End: two},
		{Batch: 1, In: 4, Out: 3, Groups: 1, Size: []int{6, 5}, Kernel: one, Stride: one, Dilation: one, Begin: []int{0, 0}, End: []int{0, 0}},
		{Batch: 2, In: 4, Out: 6, Groups: 2, Size: []int{6, 5}, Kernel: one, Stride: two, Dilation: one, Begin: []int{0, 0}, End: []int{0, 0}},
		{Batch: 1, In: 6, Out: 6, Groups: 6, Size: []int{13, 40}, Kernel: []int{3, 3}, Stride: one, Dilation: one, Begin: one, End: one},
		{Batch: 1, In: 6, Out: 6, Groups: 6, Size: []int{13, 40}, Kernel: []int{5, 5}, Stride: two, Dilation: one, Begin: two, End: two},
		{Batch: 1, In: 6, Out: 3, Groups: 3, Size: []int{9, 9}, Kernel: []int{3, 3}, Stride: []int{3, 1}, Dilation: []int{2, 1}, Begin: one, End: one},
		{Batch: 2, In: 3, Out: 4, Groups: 1, Size: []int{50}, Kernel: []int{7}, Stride: []int{3}, Dilation: []int{2}, Begin: []int{4}, End: []int{5}},
		{Batch: 1, In: 2, Out: 3, Groups: 1, Size: []int{4, 5, 6}, Kernel: []int{2, 3, 2}, Stride: []int{1, 2, 1}, Dilation: []int{1, 1, 2}, Begin: []int{1, 1, 1}, End: []int{0, 1, 1}},
		{Batch: 1, In: 32, Out: 14, Groups: 1, Size: []int{40, 30}, Kernel: []int{3, 3}, Stride: one, Dilation: one, Begin: one, End: one},
		{Batch: 1, In: 2, Out: 2, Groups: 1, Size: []int{5, 5}, Kernel: one, Stride: one, Dilation: one, Begin: []int{-1, 0}, End: []int{0, -2}},
		{Batch: 1, In: 2, Out: 2, Groups: 1, Size: []int{2, 2}, Kernel: []int{3, 3}, Stride: one, Dilation: one, Begin: []int{0, 0}, End: []int{0, 0}},
		{Batch: 3, In: 5, Out: 2, Groups: 1, Size: nil},
	}
	if testing.Short() {
		return list
	}
	for i := range len(list) {
		c := list[i]
		c.Sum = Sum{Format: numfmt.FP16}
		list = append(list, c)
	}
	return append(list, // in stripes
		Conv{Batch: 1, In: 80, Out: 3, Groups: 1, Size: []int{20, 100}, Kernel: []int{3, 3}, Stride: one, Dilation: one, Begin: one, End: one},
		Conv{Batch: 1, In: 60, Out: 4, Groups: 2, Size: []int{41, 150}, Kernel: []int{3, 3}, Stride: two, Dilation: one, Begin: one, End: []int{0, 1}},
		Conv{Batch: 1, In: 100, Out: 2, Groups: 1, Size: []int{1500}, Kernel: []int{3}, Stride: []int{1}, Dilation: []int{2}, Begin: []int{1}, End: []int{3}},
	)
}

// columns lays out what each result of an image's group is made of: one row for each weight.
func columns(c *Conv, x []float32, out []int) []float32 {
	n := product(out)
	cols := make([]float32, 0, product(c.Kernel)*n*c.In/c.Groups)
	for ch := range c.In / c.Groups {
		count(c.Kernel, func(k []int) {
			count(out, func(o []int) {
				at, inside := 0, true
				for d := range o {
					p := o[d]*c.Stride[d] + k[d]*c.Dilation[d] - c.Begin[d]
					inside = inside && p >= 0 && p < c.Size[d]
					at = at*c.Size[d] + p
				}
				v := float32(0)
				if inside {
					v = x[ch*product(c.Size)+at]
				}
				cols = append(cols, v)
			})
		})
	}
	return cols
}

func convByDefinition(y, x, w, bias []float32, c *Conv) {
	out := c.OutSize()
	m, k, n := c.Out/c.Groups, c.In/c.Groups*product(c.Kernel), product(out)
	in := c.In / c.Groups * product(c.Size)
	for i := range c.Batch * c.Groups {
		cols := columns(c, x[i*in:][:in], out)
		g := i % c.Groups
		part := y[i*m*n:][:m*n]
		sumByDefinition(c.Sum, part, w[g*m*k:][:m*k], cols, m, n, k)
		for r := range m {
			for j := range n {
				v := []float32{part[r*n+j] + bias[g*m+r]}
				if c.Sum.low() {
					roundGo(c.Sum.Format, c.Sum.Flush, v)
				}
				part[r*n+j] = v[0]
			}
		}
	}
}

func TestConvIsTheProductOfItsColumns(t *testing.T) {
	engines(t, func(t *testing.T, e *Engine) {
		r := rand.New(rand.NewPCG(11, 12))
		for i, c := range convs() {
			n := product(c.OutSize())
			x := randoms(r, c.Batch*c.In*product(c.Size))
			w := randoms(r, c.Out*c.In/c.Groups*product(c.Kernel))
			bias := randoms(r, c.Out)
			want, got := nans(c.Batch*c.Out*n+slack), nans(c.Batch*c.Out*n+slack)
			convByDefinition(want, x, w, bias, &c)
			e.Conv(got, x, w, bias, &c)
			if j, ok := sameBits(got, want); !ok {
				t.Fatalf("case %d: element %d is %v, want %v", i, j, got[j], want[j])
			}
		}
	})
}

// TestConvTransposeIsTheAdjoint holds <conv(x), y> = <x, transposed(y)>.
func TestConvTransposeIsTheAdjoint(t *testing.T) {
	engines(t, func(t *testing.T, e *Engine) {
		r := rand.New(rand.NewPCG(13, 14))
		for i, c := range convs() {
			if product(c.OutSize()) == 0 || c.Sum.low() {
				continue
			}
			x := randoms(r, c.Batch*c.In*product(c.Size))
			w := randoms(r, c.Out*c.In/c.Groups*product(c.Kernel))
			y := randoms(r, c.Batch*c.Out*product(c.OutSize()))
			down, up := nans(len(y)), nans(len(x))
			e.Conv(down, x, w, nil, &c)
			back := c
			back.In, back.Out, back.Size = c.Out, c.In, c.OutSize()
			e.ConvTranspose(up, y, w, nil, &back, c.Size)
			if p, q := dot(down, y), dot(x, up); p-q > 1e-3 || q-p > 1e-3 || p != p || q != q {
				t.Errorf("case %d: %g against %g", i, p, q)
			}
		}
	})
}

func dot(x, y []float32) float64 {
	var s float64
	for i, v := range x {
		s += float64(v) * float64(y[i])
	}
	return s
}

func TestConvTransposeInLowPrecision(t *testing.T) {
	e := New(1)
	c := Conv{Batch: 1, In: 1, Out: 1, Groups: 1, Size: []int{2}, Kernel: []int{2}, Stride: []int{1}, Dilation: []int{1},
		Begin: []int{0}, End: []int{0}, Sum: Sum{Format: numfmt.FP16}}
	y := make([]float32, 3)
	e.ConvTranspose(y, []float32{2048, 1}, []float32{1, 1}, []float32{1}, &c, []int{3})
	if want := []float32{2048, 2048, 2}; y[0] != want[0] || y[1] != want[1] || y[2] != want[2] {
		t.Errorf("got %v, want %v", y, want)
	}
}
