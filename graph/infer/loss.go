package infer

import "github.com/amplint/amplint/graph"

func lossOps() map[string]operator {
	return map[string]operator{"NegativeLogLikelihoodLoss": loss, "SoftmaxCrossEntropyLoss": loss}
}

// loss is a scalar, or one number a target under reduction "none". The log probabilities beside it have the
// shape of the scores.
func loss(c *ctx) error {
	scores, targets := c.shape(0), c.shape(1)
	c.set(1, scores)
	if scores != nil && targets != nil && len(scores) != len(targets)+1 {
		return c.errorf("scores %s and targets %s do not fit", scores, targets)
	}
	if c.n.Str("reduction", "mean") != "none" {
		c.set(0, graph.Shape{})
		return nil
	}
	c.set(0, targets)
	return nil
}
