package refeval

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// flexAttention lets graphs of the model change the scores and the probabilities, in the type of
// the softmax.
func flexAttention(c *Call) error {
	a := &attention{c: c, q: c.In(0), k: c.In(1), v: c.In(2), e: c.steps(c.In(0).Elem)}
	if a.q.Rank() != 4 {
		refuse("queries %s", a.q)
	}
	a.scale = c.FloatOr("scale", 1/math.Sqrt(float64(a.q.Dims[3])))
	soft := graph.Float
	if a.q.Elem == graph.Double {
		soft = graph.Double
	}
	if c.hasAttr("softmax_precision") {
		soft = c.heldAs(c.elemAttr("softmax_precision"))
	}
	a.soft = c.steps(soft).accumIn(soft)
	scores, err := c.modified("score_mod", c.as(a.scores(), soft))
	if err != nil {
		return err
	}
	p := c.Clone(scores)
	if n := scores.Dims[3]; p.F != nil && n > 0 {
		softmaxRows(a.soft, p.F, scores.F, n, false)
	} else if n > 0 {
		softmaxRows(a.soft, p.D, scores.D, n, false)
	}
	if p, err = c.modified("prob_mod", p); err != nil {
		return err
	}
	c.Set(0, TensorValue(c.as(a.mix(p), a.v.Elem)))
	return nil
}

// modified runs a graph attribute on a tensor, if there is one; the result is of the same shape
// and type.
func (c *Call) modified(name string, t *Tensor) (*Tensor, error) {
	if !c.hasBody(name) {
		return t, nil
	}
	outs, err := c.Body(name).Run(TensorValue(t))
	if err != nil {
		return nil, err
	}
	if len(outs) != 1 || outs[0] == nil || outs[0].Tensor == nil ||
		!slices.Equal(outs[0].Tensor.Dims, t.Dims) || outs[0].Tensor.Elem != t.Elem {
		refuse("%s does not give a tensor like %s", name, t)
	}
	return outs[0].Tensor, nil
}
