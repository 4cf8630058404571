package refeval

import (
	"math"
	"slices"
)

func contribProductOps() []entry {
	return []entry{
		op("com.microsoft.FusedConv", fusedConv),
		op("com.microsoft.FusedGemm", fusedGemm),
		op("com.microsoft.FusedMatMul", fusedMatMul),
		op("com.microsoft.FusedMatMulActivation", fusedMatMul),
		op("com.microsoft.Inverse", inverse),
		op("com.microsoft.NhwcConv", nhwcConv),
		op("com.microsoft.NhwcFusedConv", nhwcConv),
		op("com.microsoft.TransposeMatMul", fusedMatMul),
	}
}

// fusedMatMul multiplies stacks of matrices that are turned first, and scales the result.
func fusedMatMul(c *Call) error {
	y := c.matmul(c.turnStack(c.In(0), "A"), c.turnStack(c.In(1), "B"))
	c.scale(y, c.FloatOr("alpha", 1))
	c.Set(0, TensorValue(y))
	c.fusedActivation(y)
	return nil
}

// turnStack turns the matrices of a stack, and moves the first dimension behind those of the stack,
// as the attributes of an operand say.
func (c *Call) turnStack(t *Tensor, operand string) *Tensor {
	n := t.Rank()
	if n < 2 {
		return t
	}
	perm := allAxes(n)
	if c.Int("transBatch"+operand) != 0 && n > 2 {
		perm = slices.Concat(perm[1:n-1], []int{0, n - 1})
	}
	if c.Int("trans"+operand) != 0 {
		perm[n-1], perm[n-2] = perm[n-2], perm[n-1]
	}
	if slices.IsSorted(perm) {
		return t
	}
	return c.reordered(t, perm)
}

func fusedGemm(c *Call) error {
	err := gemmNode(c)
	c.fusedActivation(c.out[0].Tensor)
	return err
}

// fusedConv may add a second input before the activation.
func fusedConv(c *Call) error {
	if err := conv(c); err != nil {
		return err
	}
	y := c.out[0].Tensor
	if c.Has(3) {
		c.affine(y, nil, c.In(3))
	}
	c.fusedActivation(y)
	return nil
}

// fusedActivation applies the activation of a fused operator in place.
func (c *Call) fusedActivation(y *Tensor) {
	name := c.Str("activation")
	if name == "" {
		return
	}
	f := c.activationNamed(name)
	for i := range y.Len() {
		y.put64(i, f(y.at64(i)))
	}
}

// activationNamed returns an activation with its parameters: of a list, or of attributes.
func (c *Call) activationNamed(name string) activation {
	param := func(i int, attr string, def float64) float64 {
		if list := c.Floats("activation_params"); i < len(list) {
			return float64(list[i])
		}
		return c.FloatOr(attr, def)
	}
	switch name {
	case "Clip":
		lo, hi := param(0, "activation_alpha", math.Inf(-1)), param(1, "activation_beta", math.Inf(1))
		return func(x float64) float64 { return min(max(x, lo), hi) }
	case "HardSwish":
		return func(x float64) float64 { return x * max(0, min(1, x/6+0.5)) }
	case "Gelu":
		return erfGelu
	}
	k := actNamed(name)
	alpha, beta := param(0, "activation_alpha", k.alpha), param(1, "activation_beta", k.beta)
	return func(x float64) float64 { return k.f(x, alpha, beta) }
}

// nhwcConv has the channels of image and result last; its weights are those of Conv.
func nhwcConv(c *Call) error {
	n := c.In(0).Rank()
	if n < 3 {
		refuse("%s is no image", c.In(0))
	}
	x := c.reordered(c.In(0), slices.Concat([]int{0, n - 1}, allAxes(n)[1:n-1]))
	w := c.In(1)
	checkImage(x, w)
	g := c.window(x.Dims[2:], c.kernelShape(w.Dims[2:]))
	y := c.convBiased(x, w, c.In(2), g, max(c.Int("group"), 1))
	y = c.reordered(y, append(append([]int{0}, allAxes(n)[2:]...), 1))
	if c.Has(3) {
		c.affine(y, nil, c.In(3))
	}
	c.Set(0, TensorValue(y))
	c.fusedActivation(y)
	return nil
}

// inverse inverts matrices by elimination, in double. One that has no inverse is refused.
func inverse(c *Call) error {
	x := c.In(0)
	rank := x.Rank()
	if rank < 2 || x.Dims[rank-1] != x.Dims[rank-2] || x.I != nil {
		refuse("%s is no square matrix", x)
	}
	n := x.Dims[rank-1]
	y := c.Out(0, x.Elem, x.Dims)
	for i := 0; i < x.Len(); i += n * n {
		m, inv := make([]float64, n*n), make([]float64, n*n)
		for k := range m {
			m[k] = x.at64(i + k)
			inv[k] = pick(k/n == k%n, 1.0, 0)
		}
		invert(m, inv, n)
		for k, v := range inv {
			y.put64(i+k, v)
		}
	}
	return nil
}

// invert turns m into the unit matrix by operations on rows that turn inv into its inverse.
func invert(m, inv []float64, n int) {
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(m[i*n+k]) > math.Abs(m[p*n+k]) {
				p = i
			}
		}
		f := m[p*n+k]
		if f == 0 {
			refuse("a matrix has no inverse")
		}
		for _, a := range [][]float64{m, inv} {
			for j := range n {
				a[k*n+j], a[p*n+j] = a[p*n+j], a[k*n+j]
				a[k*n+j] /= f
			}
		}
		for i := range n {
			if i == k {
				continue
			}
			g := m[i*n+k]
			for j := range n {
				m[i*n+j] -= g * m[k*n+j]
				inv[i*n+j] -= g * inv[k*n+j]
			}
		}
	}
}
