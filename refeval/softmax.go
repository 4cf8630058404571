package refeval

import "math"

// softmaxOps are the functions that make probabilities of scores.
func softmaxOps() []entry {
	return []entry{
		op("Hardmax", hardmax),
		op("LogSoftmax", func(c *Call) error { return c.softmax(true) }),
		op("Softmax", func(c *Call) error { return c.softmax(false) }),
	}
}

// softmaxAxes returns the axes that are normalised together: before opset 13 the named one and all
// behind it.
func (c *Call) softmaxAxes(rank int) []int {
	if rank == 0 {
		return nil
	}
	at := axis(c.Int("axis"), rank)
	if c.Version >= 13 {
		return []int{at}
	}
	return allAxes(rank)[at:]
}

func (c *Call) softmax(log bool) error {
	x, a := c.In(0), c.steps(c.In(0).Elem)
	c.eachRow(x, c.softmaxAxes(x.Rank()),
		func(dst, src []float32, n, _ int) { softmaxRows(a, dst, src, n, log) },
		func(dst, src []float64, n, _ int) { softmaxRows(a, dst, src, n, log) })
	return nil
}

// softmaxRows sets dst to the softmax of each row of n, or to its logarithm. dst may be src.
func softmaxRows[T floating](a accum, dst, src []T, n int, log bool) {
	if f, ok := any(src).([]float32); ok && !a.low() && !log && n > 0 {
		serial().Softmax(any(dst).([]float32), f, len(f)/n, n)
		return
	}
	for i := 0; i < len(src); i += n {
		most := largest(src[i : i+n])
		for k, v := range src[i : i+n] {
			dst[i+k] = v - most
		}
	}
	roundReal(a, dst)
	e := dst
	if log {
		e = make([]T, len(dst))
	}
	for i, v := range dst {
		e[i] = T(math.Exp(float64(v)))
	}
	roundReal(a, e)
	total := sums(a, e, n)
	if log {
		total = mapped(a, math.Log, total)
	}
	for i := range dst {
		if log {
			dst[i] -= total[i/n]
		} else {
			dst[i] /= total[i/n]
		}
	}
	roundReal(a, dst)
}

// largest returns the largest element of a row, NaN if there is one.
func largest[T floating](x []T) T { return x[bestReal(x, 1, false)] }

// hardmax marks the first of the largest elements.
func hardmax(c *Call) error {
	x := c.In(0)
	c.eachRow(x, c.softmaxAxes(x.Rank()), hardmaxRows[float32], hardmaxRows[float64])
	return nil
}

func hardmaxRows[T floating](dst, src []T, n, _ int) {
	clear(dst)
	for i := 0; i < len(src); i += n {
		dst[i+bestReal(src[i:i+n], 1, false)] = 1
	}
}
