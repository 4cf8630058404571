package refeval

import (
	"math"
	"math/rand/v2"

	"github.com/amplint/amplint/graph"
)

// randomOps are operators that draw random numbers, and Dropout. The standard leaves the stream to
// the implementation.
func randomOps() []entry {
	return []entry{
		op("Bernoulli", bernoulli),
		op("Dropout", dropout),
		op("Multinomial", multinomial),
		op("RandomNormal", draw(normal)),
		op("RandomNormalLike", draw(normal)),
		op("RandomUniform", draw(uniform)),
		op("RandomUniformLike", draw(uniform)),
	}
}

// normal and uniform are distributions under the attributes of a node.
func normal(c *Call) func(r *rand.Rand) float64 {
	mean, scale := c.Float("mean"), c.Float("scale")
	return func(r *rand.Rand) float64 { return mean + scale*r.NormFloat64() }
}

func uniform(c *Call) func(r *rand.Rand) float64 {
	low, high := c.Float("low"), c.Float("high")
	return func(r *rand.Rand) float64 { return low + (high-low)*r.Float64() }
}

// draw makes a kernel of a distribution. The shape is an attribute or that of an input, whose type
// holds where none is named.
func draw(dist func(c *Call) func(r *rand.Rand) float64) func(c *Call) error {
	return func(c *Call) error {
		e, dims := c.elemAttr("dtype"), c.Ints("shape")
		if like := c.In(0); like != nil {
			dims = like.Dims
			if e == graph.Undefined {
				e = like.Elem
			}
		}
		y, next, r := c.Out(0, e, dims), dist(c), c.Rand()
		for i := range y.Len() {
			y.put64(i, next(r))
		}
		return nil
	}
}

// bernoulli draws 1 with the probability that an element says, else 0.
func bernoulli(c *Call) error {
	x, e := c.In(0), c.elemAttr("dtype")
	if e == graph.Undefined {
		e = x.Elem
	}
	y, r := c.Out(0, e, x.Dims), c.Rand()
	for i := range y.Len() {
		if r.Float64() < x.at64(i) {
			y.put64(i, 1)
		}
	}
	return nil
}

// multinomial draws classes by the logarithms of their probabilities, which need not sum to 1.
func multinomial(c *Call) error {
	x, n := c.In(0), c.Int("sample_size")
	if x.Rank() != 2 || x.Dims[1] == 0 {
		refuse("%s is no matrix of classes", x)
	}
	y, r := c.Out(0, c.elemAttr("dtype"), []int{x.Dims[0], n}), c.Rand()
	classes := x.Dims[1]
	sum := make([]float64, classes)
	for row := range x.Dims[0] {
		most, total := math.Inf(-1), 0.0
		for k := range classes {
			most = max(most, x.at64(row*classes+k))
		}
		for k := range classes {
			total += math.Exp(x.at64(row*classes+k) - most)
			sum[k] = total
		}
		for i := range n {
			at, k := r.Float64()*total, 0
			for k < classes-1 && sum[k] <= at {
				k++
			}
			y.put64(row*n+i, float64(k))
		}
	}
	return nil
}

// dropout passes its input on, but for training, where it drops elements at random and scales the
// rest. Training was the default of the first versions, and is an input since opset 12.
func dropout(c *Call) error {
	x, ratio, training := c.In(0), c.Float("ratio"), c.Version < 7 && c.Int("is_test") == 0
	if c.Version >= 12 {
		ratio, training = 0.5, c.Has(2) && c.In(2).truth()
		if c.Has(1) {
			ratio = c.In(1).scalar()
		}
	}
	e := graph.Bool
	if c.Version < 10 {
		e = x.Elem
	}
	mask := c.Out(1, e, x.Dims)
	y := c.Out(0, x.Elem, x.Dims)
	copyRun(y, 0, x, 0, x.Len())
	if !training || ratio == 0 {
		for i := range mask.Len() {
			mask.put64(i, 1)
		}
		return nil
	}
	r := c.Rand()
	for i := range y.Len() {
		if r.Float64() < ratio {
			y.put64(i, 0)
			continue
		}
		mask.put64(i, 1)
		y.put64(i, x.at64(i)/(1-ratio))
	}
	return nil
}
