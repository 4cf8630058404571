package refeval

import (
	"slices"
)

// lossOps are losses.
func lossOps() []entry {
	return []entry{
		op("NegativeLogLikelihoodLoss", func(c *Call) error { return c.loss(c.classRows(), 0) }),
		op("SoftmaxCrossEntropyLoss", crossEntropy),
	}
}

// classRows returns input 0, [N, C, …], with the classes of an element in a row.
func (c *Call) classRows() *Tensor {
	x := c.In(0)
	if x.Rank() < 2 || x.I != nil {
		refuse("%s holds no scores of classes", x)
	}
	t, _ := c.rows(x, []int{1})
	return t
}

// crossEntropy is the loss of the logarithm of the softmax over the classes, which is output 1.
func crossEntropy(c *Call) error {
	x := c.In(0)
	t := c.classRows()
	y := c.Temp(t.Elem, t.Dims)
	n, a := x.Dims[1], c.accum()
	if y.Len() > 0 {
		c.parallel(t.Len()/n, 16*n, func(lo, hi int) {
			if t.F != nil {
				softmaxRows(a, y.F[lo*n:hi*n], t.F[lo*n:hi*n], n, true)
				return
			}
			softmaxRows(a, y.D[lo*n:hi*n], t.D[lo*n:hi*n], n, true)
		})
	}
	if c.Wants(1) {
		c.unrows(y, []int{1}, x.Dims)
		c.Set(1, c.out[0])
	}
	return c.loss(y, 0)
}

// loss sets output 0 to the loss of logarithms of probabilities in rows of classes: of each element
// the negative one at its target, times the weight of that class. Ignored targets weigh nothing.
func (c *Call) loss(logs *Tensor, out int) error {
	x, target := c.In(0), c.In(1)
	dims := slices.Delete(slices.Clone(x.Dims), 1, 2)
	if !slices.Equal(target.Dims, dims) {
		refuse("targets %s for scores %s", target, x)
	}
	losses, weights := c.Temp(x.Elem, dims), c.Temp(x.Elem, dims)
	w := c.targetWeights()
	for i, k := range target.ints() {
		v, use := w.at(k, x.Dims[1])
		if !use {
			continue
		}
		weights.put64(i, v)
		losses.put64(i, -logs.at64(i*x.Dims[1]+k)*v)
	}
	if losses.F != nil {
		c.accum().roundAll(losses.F)
	}
	c.reduceLoss(out, losses, weights)
	return nil
}

// targetWeights is what the target of an element weighs.
type targetWeights struct {
	weight  *Tensor // by class, nil for 1
	ignored bool
	ignore  int // the target that counts nothing, if any does
}

func (c *Call) targetWeights() targetWeights {
	return targetWeights{weight: c.In(2), ignored: c.hasAttr("ignore_index"), ignore: c.Int("ignore_index")}
}

// at returns the weight of a target among so many classes; use is false for one that is ignored.
func (w *targetWeights) at(k, classes int) (weight float64, use bool) {
	switch {
	case w.ignored && k == w.ignore:
		return 0, false
	case k < 0 || k >= classes:
		refuse("target %d of %d classes", k, classes)
	case w.weight != nil:
		return w.weight.at64(k), true
	}
	return 1, true
}

// reduceLoss sets output i to the losses, their sum, or their mean by weights.
func (c *Call) reduceLoss(i int, losses, weights *Tensor) {
	reduction := c.Str("reduction")
	if reduction == "none" {
		c.Set(i, TensorValue(losses))
		return
	}
	y := c.Out(i, losses.Elem, []int{})
	additive{}.into(c, y, losses, losses.Len())
	if reduction == "sum" {
		return
	}
	w := c.Temp(weights.Elem, []int{})
	additive{}.into(c, w, weights, weights.Len())
	y.put64(0, y.at64(0)/w.at64(0))
}
