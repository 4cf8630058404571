package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func signalOps() map[string]operator {
	return merged(
		map[string]operator{"DFT": dft, "STFT": stft, "MelWeightMatrix": melWeights},
		each(windowFunction, "BlackmanWindow", "HammingWindow", "HannWindow"),
	)
}

// dft transforms one axis, an attribute before opset 20; the last axis holds real and imaginary part.
func dft(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if s == nil {
		return nil
	}
	if len(s) < 2 {
		return c.errorf("input 0 has shape %s, rank 2 or more is wanted", s)
	}
	axis := intNum(c.n.Int("axis", 1))
	if c.ver >= 20 {
		axis = intNum(-2)
		if c.has(2) {
			axis = c.scalar(2)
		}
	}
	if axis.k != numInt {
		c.set(0, c.freshShape(len(s)))
		return nil
	}
	k, err := c.axis(axis.i, len(s))
	if err != nil {
		return err
	}
	onesided, inverse := c.n.Int("onesided", 0) != 0, c.n.Int("inverse", 0) != 0
	size := c.num(s[k])
	if onesided && inverse { // from n/2+1 values of the spectrum
		size = mulNum(subNum(size, intNum(1)), intNum(2))
	}
	if c.has(1) {
		size = c.scalar(1)
	}
	if onesided && !inverse {
		size = addNum(c.floorDivNum(size, 2), intNum(1))
	}
	s[len(s)-1] = graph.Dim{N: 2}
	if onesided && inverse {
		s[len(s)-1] = graph.Dim{N: 1}
	}
	if s[k], err = c.sizeOf(size); err != nil {
		return err
	}
	c.set(0, s)
	return nil
}

// stft transforms frames of a signal [batch, length, 1 or 2].
func stft(c *ctx) error {
	s := c.shape(0)
	if s == nil {
		return nil
	}
	if len(s) < 2 {
		return c.errorf("input 0 has shape %s, rank 3 is wanted", s)
	}
	size := num{}
	switch w := c.shape(2); {
	case c.has(3):
		size = c.scalar(3)
	case len(w) == 1:
		size = c.num(w[0])
	}
	frames := num{}
	if step := c.scalar(1); step.k == numInt && step.i > 0 {
		frames = addNum(c.floorDivNum(subNum(c.num(s[1]), size), step.i), intNum(1))
	}
	bins := size
	if c.n.Int("onesided", 1) != 0 {
		bins = addNum(c.floorDivNum(size, 2), intNum(1))
	}
	f, err := c.sizeOf(frames)
	if err != nil {
		return err
	}
	c.set(0, graph.Shape{s[0], f, c.dim(bins), {N: 2}})
	return nil
}

func windowFunction(c *ctx) error {
	c.elem(0, graph.ElemType(c.n.Int("output_datatype", int64(graph.Float))))
	n, err := c.sizeOf(c.scalar(0).integral())
	c.set(0, graph.Shape{n})
	return err
}

func melWeights(c *ctx) error {
	c.elem(0, graph.ElemType(c.n.Int("output_datatype", int64(graph.Float))))
	bins, err := c.sizeOf(c.scalar(0).integral())
	if err != nil {
		return err
	}
	rows, err := c.sizeOf(addNum(c.floorDivNum(c.scalar(1).integral(), 2), intNum(1)))
	c.set(0, graph.Shape{rows, bins})
	return err
}

// rfft adds an axis of real and imaginary part and keeps half of the spectrum.
func rfft(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if len(s) == 0 {
		return nil
	}
	k := len(s) - 1
	if c.n.Int("onesided", 1) != 0 {
		s[k] = c.dim(addNum(c.floorDivNum(c.num(s[k]), 2), intNum(1)))
	}
	c.set(0, append(s, graph.Dim{N: 2}))
	return nil
}

func irfft(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if len(s) < 2 {
		return nil
	}
	s = s[:len(s)-1]
	k := len(s) - 1
	if c.n.Int("onesided", 1) != 0 {
		s[k] = c.dim(mulNum(subNum(c.num(s[k]), intNum(1)), intNum(2)))
	}
	c.set(0, s)
	return nil
}
