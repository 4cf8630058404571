package rangeprop

import "math"

func randomOps() map[string]op {
	return map[string]op{
		"RandomNormal": rounded(normalOp), "RandomNormalLike": rounded(normalOp), "RandomUniform": rounded(uniformOp),
		"RandomUniformLike": rounded(uniformOp), "Bernoulli": choice(bernoulliOp), "Multinomial": choice(multinomialOp),
	}
}

// normalReach is how many deviations a normal generator can reach: √(-2 ln 2^-64) is 9.42 for one
// that starts from 64 random bits.
const normalReach = 9.5

func normalOp(c *call) *Val {
	mean, scale := float64(c.n.Float("mean", 0)), math.Abs(float64(c.n.Float("scale", 1)))
	return scalar(Range{mean - normalReach*scale, mean + normalReach*scale})
}

func uniformOp(c *call) *Val {
	return scalar(Range{float64(c.n.Float("low", 0)), float64(c.n.Float("high", 1))})
}

func bernoulliOp(c *call) *Val { return c.condition() }

func multinomialOp(c *call) *Val {
	if c.rank(0) == 2 {
		return c.index(1, true)
	}
	return c.index(0, false)
}
