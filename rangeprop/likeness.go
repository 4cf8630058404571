package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph/pattern"
)

// kernelUnit is by how much the weights of a window may add up to more than 1.
const kernelUnit = 1e-6

// likeness bounds a product of quotients of the kind of SSIM. Variances and a covariance are differences of means
// that may lose all their digits: what each of them is off by is held against the constant beside them.
func (p *pass) likeness(q *pattern.Likeness, x *Val) *Val {
	off := 0.0
	if q.Spread {
		m := 0.0
		for _, v := range q.Of {
			if p.val(v).special() || p.val(v).nan {
				return x
			}
			m = math.Max(m, p.val(v).Hull().MaxAbs())
		}
		off = 4 * (meanShortfall(float64(q.Count)) + kernelUnit) * m * m
		if !(off < q.Floor/2) {
			return x
		}
		off = 2 * off / (q.Floor - off)
	}
	if len(p.copies(q.Output)) > 0 || p.unitBehind(q.Output, nil) > accumUnit {
		return x
	}
	return x.limit(mul(Range{-1 - off, 1 + off}, p.factors(q.Output, q.Coef, q.Scales)), 1e-5)
}
