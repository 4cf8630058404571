package rangeprop

import "math"

// sums collects the moments of weighted sums while the weights are read: of the terms as if each varied
// by its own, and as if all varied together.
type sums struct {
	mean, own, all []float64
	rho            float64 // the correlation of the terms
}

func newSums(n int, rho float64) *sums {
	return &sums{mean: make([]float64, n), own: make([]float64, n), all: make([]float64, n), rho: rho}
}

// add adds a term to sum i: a weight times a value of mean m and variance v, in a share of the cases.
func (s *sums) add(i int, w, share, m, v float64) {
	s.mean[i] += w * share * m
	s.own[i] += share * w * w * v
	s.all[i] += share * w * math.Sqrt(v)
}

// moments returns those of the sums, whose terms are correlated by rho.
func (s *sums) moments() *moments {
	out := &moments{[]int{len(s.mean)}, s.mean, make([]float64, len(s.mean))}
	for i, v := range s.own {
		out.vari[i] = (1-s.rho)*v + s.rho*s.all[i]*s.all[i]
	}
	return out
}

// settle takes all terms so far for those of one group, which are correlated by rho, and what follows
// for others that vary by their own: what the groups vary stands in total.
func (s *sums) settle(i int, rho float64, total []float64) {
	total[i] += (1-rho)*s.own[i] + rho*s.all[i]*s.all[i]
	s.own[i], s.all[i] = 0, 0
}
