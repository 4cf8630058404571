package refeval

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// modelOps are linear models and support vector machines.
func modelOps() []entry {
	return []entry{
		op("ai.onnx.ml.LinearClassifier", linearClassifier),
		op("ai.onnx.ml.LinearRegressor", linearRegressor),
		op("ai.onnx.ml.SVMClassifier", svmClassifier),
		op("ai.onnx.ml.SVMRegressor", svmRegressor),
	}
}

// second is how the score of a single column becomes those of two classes.
type second uint8

const (
	noSecond   second = iota
	complement        // 1 - s and s: the score is a probability
	opposite          // -s and s
)

// scores applies a post transform to the scores of one row.
func scoresOf(transform string, s []float64, add second) []float64 {
	if len(s) == 1 {
		switch {
		case transform == "PROBIT":
			return []float64{probit(s[0])}
		case add != noSecond && transform == "LOGISTIC":
			return []float64{sigmoid(-s[0]), sigmoid(s[0])}
		case add == complement:
			return []float64{1 - s[0], s[0]}
		case add == opposite:
			return []float64{-s[0], s[0]}
		}
		return s // onnxruntime leaves a single score alone
	}
	switch transform {
	case "LOGISTIC":
		return each(s, sigmoid)
	case "PROBIT":
		return each(s, probit)
	case "SOFTMAX":
		return softmaxOf(s, false)
	case "SOFTMAX_ZERO":
		return softmaxOf(s, true)
	}
	return s
}

func each(s []float64, f func(x float64) float64) []float64 {
	out := make([]float64, len(s))
	for i, v := range s {
		out[i] = f(v)
	}
	return out
}

// softmaxOf leaves zeros what they are where zero says so.
func softmaxOf(s []float64, zero bool) []float64 {
	most, sum := slices.Max(s), 0.0
	out := each(s, func(x float64) float64 {
		if zero && math.Abs(x) <= 1e-7 {
			return 0
		}
		e := math.Exp(x - most)
		sum += e
		return e
	})
	return each(out, func(x float64) float64 { return x / sum })
}

// probit is the inverse of the normal distribution.
func probit(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// scoreRows writes rows of scores as an output of type float.
func (c *Call) scoreRows(i int, rows [][]float64) {
	cols := 0
	if len(rows) > 0 {
		cols = len(rows[0])
	}
	y := c.Out(i, graph.Float, []int{len(rows), cols})
	for r, row := range rows {
		for k, v := range row {
			y.F[r*cols+k] = float32(v)
		}
	}
}

// classLabels returns the labels of a classifier.
func (c *Call) classLabels(ints string) *Tensor {
	if t := c.list("", ints, "classlabels_strings", ""); t != nil && t.Len() > 0 {
		return t
	}
	return nil
}

// labelRows makes output 0 of the classes of the rows.
func (c *Call) labelRows(labels *Tensor, classes []int) {
	e := graph.Int64
	if labels != nil {
		e = labels.Elem
	}
	y := c.Out(0, e, []int{len(classes)})
	for i, k := range classes {
		if labels == nil {
			y.I[i] = int64(k)
			continue
		}
		copyRun(y, i, labels, k, 1)
	}
}

// linear returns coefficients · x + intercepts for each row: a score for each row of coefficients.
func (c *Call) linear(x *Tensor, rows, cols, n int) [][]float64 {
	w, b, a := c.Floats("coefficients"), c.Floats("intercepts"), c.accum()
	if n < 1 || len(w) != n*cols || len(b) != 0 && len(b) != n {
		refuse("%d coefficients and %d intercepts for %d columns", len(w), len(b), cols)
	}
	out := make([][]float64, rows)
	row := make([]float32, cols)
	for r := range out {
		for k := range row {
			row[k] = float32(x.at64(r*cols + k))
		}
		for t := range n {
			s := a.dot(row, w[t*cols:(t+1)*cols])
			if len(b) > 0 {
				s = a.round(s + b[t])
			}
			out[r] = append(out[r], float64(s))
		}
	}
	return out
}

func linearRegressor(c *Call) error {
	x, rows, cols := c.features(0)
	scores := c.linear(x, rows, cols, c.Int("targets"))
	for i, s := range scores {
		scores[i] = scoresOf(c.Str("post_transform"), s, noSecond)
	}
	c.scoreRows(0, scores)
	return nil
}

func linearClassifier(c *Call) error {
	x, rows, cols := c.features(0)
	labels := c.classLabels("classlabels_ints")
	scores := c.linear(x, rows, cols, len(c.Floats("coefficients"))/max(cols, 1))
	classes := make([]int, rows)
	for i, s := range scores {
		add := noSecond
		if len(s) == 1 {
			classes[i] = int(bit(s[0] > 0))
			if labels != nil && labels.Len() == 2 {
				add = complement
			}
		} else {
			classes[i] = max(slices.Index(s, slices.Max(s)), 0) // of NaN none is the greatest
		}
		scores[i] = scoresOf(c.Str("post_transform"), s, add)
	}
	if labels != nil && labels.Len() == 1 {
		labels = nil // of one column the class is 1 or 0
	}
	c.labelRows(labels, classes)
	c.scoreRows(1, scores)
	return nil
}

// machine is a support vector machine.
type machine struct {
	kernel              string
	gamma, coef, degree float64
	vectors             []float32
	coefs, rho          []float32
	cols                int
}

func (c *Call) machine(cols int) *machine {
	m := &machine{kernel: c.Str("kernel_type"), vectors: c.Floats("support_vectors"), coefs: c.Floats("coefficients"),
		rho: c.Floats("rho"), cols: cols}
	if p := c.Floats("kernel_params"); len(p) == 3 {
		m.gamma, m.coef, m.degree = float64(p[0]), float64(p[1]), float64(p[2])
	}
	if len(m.rho) == 0 {
		refuse("no rho")
	}
	return m
}

// dot is the kernel of a row and a vector.
func (m *machine) dot(x []float64, v []float32) float64 {
	var s float64
	for i, a := range x {
		if m.kernel == "RBF" {
			d := a - float64(v[i])
			s += d * d
			continue
		}
		s += a * float64(v[i])
	}
	switch m.kernel {
	case "RBF":
		return math.Exp(-m.gamma * s)
	case "POLY":
		return math.Pow(m.gamma*s+m.coef, m.degree)
	case "SIGMOID":
		return math.Tanh(m.gamma*s + m.coef)
	}
	return s
}

// vector returns support vector i.
func (m *machine) vector(i int) []float32 { return m.vectors[i*m.cols : (i+1)*m.cols] }

func svmRegressor(c *Call) error {
	x, rows, cols := c.features(0)
	m, n := c.machine(cols), c.Int("n_supports")
	scores := make([][]float64, rows)
	for r := range scores {
		row := x.floatRow(r, cols)
		s := float64(m.rho[0])
		for j := range n {
			s += float64(m.coefs[j]) * m.dot(row, m.vector(j))
		}
		if n == 0 {
			m.kernel = "LINEAR"
			s += m.dot(row, m.coefs)
		}
		if c.Int("one_class") != 0 {
			s = pick(s > 0, 1.0, -1)
		}
		scores[r] = scoresOf(c.Str("post_transform"), []float64{s}, noSecond)
	}
	c.scoreRows(0, scores)
	return nil
}

// floatRow returns row r as float64.
func (t *Tensor) floatRow(r, cols int) []float64 {
	row := make([]float64, cols)
	for k := range row {
		row[k] = t.at64(r*cols + k)
	}
	return row
}
