package refeval

import (
	"math"
	"slices"
)

// voter is a support vector classifier: each pair of classes has its own machine.
type voter struct {
	*machine
	classes  int
	per      []int // vectors of a class
	starts   []int // of the vectors of a class
	vectorsN int
	probA    []float32
	probB    []float32
}

// svmClassifier votes among pairs of classes, or takes the best of linear scores where there are
// no support vectors.
func svmClassifier(c *Call) error {
	x, rows, cols := c.features(0)
	labels := c.classLabels("classlabels_ints")
	v := &voter{machine: c.machine(cols), classes: 1, per: c.Ints("vectors_per_class"),
		probA: c.Floats("prob_a"), probB: c.Floats("prob_b")}
	if labels != nil {
		v.classes = labels.Len()
	}
	for _, n := range v.per {
		v.starts = append(v.starts, v.vectorsN)
		v.vectorsN += n
	}
	scores, classes := make([][]float64, rows), make([]int, rows)
	for r := range rows {
		s, k, add := v.row(x.floatRow(r, cols))
		classes[r] = k
		if add == opposite && c.Str("post_transform") != "NONE" {
			add = complement
		}
		scores[r] = scoresOf(c.Str("post_transform"), s, add)
	}
	if labels != nil && labels.Len() == 1 {
		labels = nil
	}
	c.labelRows(labels, classes)
	c.scoreRows(1, scores)
	return nil
}

// row returns the scores and the class of a row.
func (v *voter) row(x []float64) (scores []float64, class int, add second) {
	if v.vectorsN == 0 {
		v.kernel = "LINEAR"
		for j := range v.classes {
			scores = append(scores, float64(v.rho[0])+v.dot(x, v.coefs[j*v.cols:]))
		}
		return v.decide(scores, nil)
	}
	scores, votes := v.pairs(x)
	if len(v.probA) > 0 {
		return v.decide(v.probabilities(scores), votes)
	}
	return v.decide(scores, votes)
}

// pairs returns the score of each pair of classes, and how many pairs each class won.
func (v *voter) pairs(x []float64) (scores []float64, votes []float64) {
	k := make([]float64, v.vectorsN)
	for i := range k {
		k[i] = v.dot(x, v.vector(i))
	}
	votes = make([]float64, v.classes)
	for i := range v.classes {
		for j := i + 1; j < v.classes; j++ {
			s := float64(v.rho[len(scores)]) + v.share(k, j-1, i) + v.share(k, i, j)
			scores = append(scores, s)
			votes[pick(s > 0, i, j)]++
		}
	}
	return scores, votes
}

// share sums what the vectors of a class add to a score, by a row of coefficients.
func (v *voter) share(k []float64, row, class int) float64 {
	var s float64
	for n := v.starts[class]; n < v.starts[class]+v.per[class]; n++ {
		s += float64(v.coefs[row*v.vectorsN+n]) * k[n]
	}
	return s
}

// decide picks the class.
func (v *voter) decide(scores, votes []float64) ([]float64, int, second) {
	best := scores
	if votes != nil {
		best = votes
	}
	class := slices.Index(best, slices.Max(best))
	if len(v.rho) != 1 {
		return scores, class, noSecond
	}
	if v.classes != 2 {
		return scores, int(bit(best[class] > 0)), noSecond
	}
	return scores, class, opposite
}

// probabilities couples those of all pairs (Wu, Lin and Weng, as in libsvm).
func (v *voter) probabilities(scores []float64) []float64 {
	k := v.classes
	r := make([][]float64, k)
	for i := range r {
		r[i] = make([]float64, k)
	}
	at := 0
	for i := range k {
		for j := i + 1; j < k; j++ {
			p := 1 - sigmoid(scores[at]*float64(v.probA[at])+float64(v.probB[at]))
			p = min(max(p, 1e-7), 1-1e-7)
			r[i][j], r[j][i] = p, 1-p
			at++
		}
	}
	return couple(r)
}

// couple returns the probabilities of classes that fit those of pairs best.
func couple(r [][]float64) []float64 {
	k := len(r)
	q, qp, p := make([][]float64, k), make([]float64, k), make([]float64, k)
	for t := range k {
		p[t] = 1 / float64(k)
		q[t] = make([]float64, k)
		for j := range k {
			if j != t {
				q[t][t] += r[j][t] * r[j][t]
				q[t][j] = -r[j][t] * r[t][j]
			}
		}
	}
	for range max(100, k) {
		whole := 0.0
		for t := range k {
			qp[t] = 0
			for j := range k {
				qp[t] += q[t][j] * p[j]
			}
			whole += p[t] * qp[t]
		}
		worst := 0.0
		for t := range k {
			worst = max(worst, math.Abs(qp[t]-whole))
		}
		if worst < 0.005/float64(k) {
			break
		}
		sweep(q, qp, p, whole)
	}
	return p
}

// sweep moves each probability to its best, given the others.
func sweep(q [][]float64, qp, p []float64, whole float64) {
	for t := range p {
		d := (whole - qp[t]) / q[t][t]
		p[t] += d
		whole = (whole + d*(d*q[t][t]+2*qp[t])) / (1 + d) / (1 + d)
		for j := range p {
			qp[j] = (qp[j] + d*q[t][j]) / (1 + d)
			p[j] /= 1 + d
		}
	}
}
