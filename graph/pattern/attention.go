package pattern

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// maskDepth is how far below zero a constant must reach to be a mask: exp(-1000) is 0 in FP32, and
// no bias or score of a trained model is as low.
const maskDepth = 1000

// logits walks back from the input of a softmax to the product that makes the logits, and to the
// masks it meets on the way.
func (f *finder) logits(end *graph.Node, input *graph.Value) {
	w := &walker{f: f, end: end, seen: map[*graph.Value]bool{}, masks: map[operand]int{}}
	w.logit = Logit{Softmax: end, Logits: input}
	w.back(input, 0)
}

type walker struct {
	f     *finder
	end   *graph.Node
	logit Logit
	seen  map[*graph.Value]bool
	masks map[operand]int // what was looked through for masks, and how deep below its node
}

// operand is a value that reaches a node, by way of others or not.
type operand struct {
	at *graph.Node
	v  *graph.Value
}

// maxBack bounds the nodes between logits and their softmax.
const maxBack = 24

// back follows the logits.
func (w *walker) back(v *graph.Value, depth int) {
	n := v.Producer
	if n == nil || depth > maxBack || w.seen[v] {
		return
	}
	w.seen[v] = true
	switch n.OpName() {
	case "Add", "Sub":
		w.joint(n, depth)
	case "Where":
		w.mask(n, n.In(1), 0)
		w.mask(n, n.In(2), 0)
		w.step(n, n.In(1), &w.logit.Mask, depth)
		w.step(n, n.In(2), &w.logit.Mask, depth)
	case "Mul", "Div":
		w.scaled(n, depth)
	case "Cast", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Identity", "Flatten", "Expand", "Slice", "Gather", "Max", "Min", "Clip", "Tanh":
		w.step(n, n.In(0), nil, depth)
	case "MatMul", "Gemm", "Einsum", "com.microsoft.FusedMatMul", "com.microsoft.TransposeMatMul":
		w.product(n)
	}
}

// step goes on behind a node and takes it into a list for as long as the walk lasts.
func (w *walker) step(n *graph.Node, v *graph.Value, list *[]*graph.Node, depth int) {
	if v == nil || v.Const != nil {
		return
	}
	if list != nil {
		old := *list
		*list = append(slices.Clone(old), n)
		defer func() { *list = old }()
	}
	w.back(v, depth+1)
}

// joint is the sum of logits and mask, of logits and bias, or of several scores.
func (w *walker) joint(n *graph.Node, depth int) {
	for i, v := range n.Inputs {
		if v != nil {
			w.mask(n, v, 0)
			w.step(n, n.Inputs[i], &w.logit.Mask, depth)
		}
	}
}

func (w *walker) scaled(n *graph.Node, depth int) {
	a, b := n.In(0), n.In(1)
	if a == nil || b == nil {
		return
	}
	if a.Const != nil || w.f.rankOf(a) == 0 && w.f.rankOf(b) != 0 && n.Op == "Mul" {
		a, b = b, a
	}
	w.step(n, a, &w.logit.Scale, depth)
}

func (f *finder) rankOf(v *graph.Value) int { return len(v.Type.Shape) }

// product enters logits made of two computed values: attention. Those of a classifier have a
// constant factor and are no hazard of their own.
func (w *walker) product(n *graph.Node) {
	a, b := n.In(0), n.In(1)
	if a == nil || b == nil || a.Const != nil || b.Const != nil || w.f.set.matmuls[n] != nil {
		return
	}
	l := w.logit
	l.MatMul = n
	w.f.set.Logits = append(w.f.set.Logits, &l)
	w.f.set.matmuls[n] = &l
}

// mask looks for constants far below zero in an operand that meets the logits.
func (w *walker) mask(at *graph.Node, v *graph.Value, depth int) {
	if v == nil || depth > maxBack {
		return
	}
	if v.Const != nil {
		if low := w.f.low(v.Const); low <= -maskDepth || depth > 0 && w.negated(v) {
			w.addMask(&Mask{Const: v, Value: low, At: at, Softmax: w.end})
		}
		return
	}
	n := v.Producer
	if n == nil || depth > 0 && w.seen[v] || w.looked(operand{at, v}, depth) {
		return
	}
	switch n.OpName() {
	case "Mul", "Where", "Sub", "Add", "Div", "Min":
		for _, in := range n.Inputs {
			w.mask(at, in, depth+1)
		}
	case "Cast", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Identity", "Flatten", "Expand", "Slice", "Gather", "Trilu", "Neg", "Tile", "Concat", "CastLike", "ScatterND", "Log":
		w.mask(at, n.In(0), depth+1)
	case "ConstantOfShape":
		w.ofShape(at, n)
	}
}

// looked tells whether an operand was looked through before, from no deeper: of nodes whose inputs are
// one value, as Where(b, b, b), the ways back double at each.
func (w *walker) looked(o operand, depth int) bool {
	before, ok := w.masks[o]
	if ok && before <= depth {
		return true
	}
	w.masks[o] = depth
	return false
}

// negated tells whether a constant far above zero stands where a subtraction turns it into a mask,
// as in (m - 1)·1e9.
func (w *walker) negated(v *graph.Value) bool {
	if v.Const.Len() != 1 || !v.Type.Elem.IsFloat() {
		return false
	}
	c, ok := w.f.number1(v)
	return ok && c >= maskDepth
}

// ofShape enters the fill value of a ConstantOfShape; the value it fills is the place.
func (w *walker) ofShape(at *graph.Node, n *graph.Node) {
	a := n.Attr("value")
	if a == nil || a.Tensor == nil || n.Out(0) == nil {
		return
	}
	if low := w.f.low(a.Tensor); low <= -maskDepth {
		w.addMask(&Mask{Const: n.Out(0), Value: low, At: at, Softmax: w.end})
	}
}

func (w *walker) addMask(m *Mask) {
	s := w.f.set
	for _, old := range s.maskedBy[m.Const] {
		if old.At == m.At {
			return
		}
	}
	s.Masks = append(s.Masks, m)
	s.maskedBy[m.Const] = append(s.maskedBy[m.Const], m)
}

// low returns the least element of a constant, 0 where it cannot be read or is not floating-point.
func (f *finder) low(t *graph.Tensor) float64 {
	if low, ok := f.lows[t]; ok {
		return low
	}
	low := 0.0
	if t.Elem.IsFloat() {
		if t.Elem == graph.Double {
			x, _ := t.Float64s()
			for _, c := range x {
				low = math.Min(low, c)
			}
		} else {
			_ = t.Floats(func(chunk []float32) error {
				for _, c := range chunk {
					low = min(low, float64(c))
				}
				return nil
			})
		}
	}
	f.lows[t] = low
	return low
}
