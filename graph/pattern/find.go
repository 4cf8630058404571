package pattern

import "github.com/amplint/amplint/graph"

// Find recognises the patterns of a model, those in subgraphs and function calls included.
func Find(m *graph.Model) *Set {
	s := &Set{
		norms: map[*graph.Value]*Norm{}, vars: map[*graph.Value]*Norm{}, parts: map[*graph.Node]*Norm{}, squares: map[*graph.Value]*Square{},
		shifts: map[*graph.Value]*Shift{}, sums: map[*graph.Value]*ExpSum{}, softmax: map[*graph.Value]*Softmax{},
		ratios: map[*graph.Value]*Ratio{}, matmuls: map[*graph.Node]*Logit{}, maskedBy: map[*graph.Value][]*Mask{},
		entropy: map[*graph.Value]*Entropy{}, blends: map[*graph.Value]*Blend{}, gaps: map[*graph.Value]*Gap{}, cancels: map[*graph.Value]*Cancel{}, shares: map[*graph.Value]*Shares{}, spreads: map[*graph.Value]*graph.Value{}, trained: map[*graph.Node]bool{},
		squareSums: map[*graph.Value]bool{}, rotations: map[*graph.Value]*Rotation{}, rises: map[*graph.Value]*graph.Value{}, falls: map[*graph.Value]*graph.Value{},
		crests: map[*graph.Value]*Crest{}, merges: map[*graph.Value]*Merge{}, copies: map[*graph.Value]*Copies{}, portions: map[*graph.Value]*Portions{},
		remainders: map[*graph.Value]*Remainder{}, centers: map[*graph.Value]*Centered{}, weighedSpreads: map[*graph.Value]*WeightedSpread{},
		likenesses: map[*graph.Value]*Likeness{},
	}
	f := &finder{set: s, roots: map[factor]*graph.Value{}, ids: map[*graph.Value]*graph.Value{}, lows: map[*graph.Tensor]float64{},
		prods: map[*graph.Value]*product{}, scalar: map[*graph.Tensor]*float64{}, zero: map[*graph.Value]bool{},
		through: map[*graph.Value]*graph.Value{}}
	f.number(m)
	for n := range m.Nodes() {
		f.node(n)
	}
	f.softmaxLogits()
	f.findCopies(m)
	return s
}

// node looks at what a node completes.
func (f *finder) node(n *graph.Node) {
	v := n.Out(0)
	if v == nil || v.Const != nil || n.In(0) == nil || n.Domain != "" {
		return
	}
	switch n.Op {
	case "Mul", "Div":
		f.variance(v)
		f.expSum(v)
		f.square(v)
		f.norm(v)
		f.ratio(v)
		if f.set.ratios[v] == nil {
			f.cosine(v)
		}
		if f.set.ratios[v] == nil {
			f.span(v)
		}
		if f.set.ratios[v] == nil {
			f.windows(v)
		}
		if f.set.ratios[v] == nil && f.set.norms[v] == nil {
			f.legs(v)
		}
		if f.set.ratios[v] == nil && f.set.norms[v] == nil {
			f.powers(v)
		}
		if num, den, ok := f.quotient(v); ok {
			f.quotients(v, num, den)
		}
		if f.set.ratios[v] == nil {
			f.perCount(v)
		}
		if f.set.ratios[v] == nil && f.set.norms[v] == nil {
			f.likeness(v)
		}
		if f.set.ratios[v] == nil && f.set.norms[v] == nil {
			f.portioned(v)
		}
		f.linear(v)
		if n.Op == "Mul" {
			if f.set.ratios[v] == nil {
				f.byTable(v)
			}
			f.entropy(v)
		}
	case "Pow":
		f.square(v)
	case "Sub", "Add", "Sum", "Neg":
		f.shift(v)
		f.merge(v)
		f.logSoftmax(v)
		f.foldedNorm(v)
		f.blend(v)
		if f.set.blends[v] == nil {
			f.portions(v)
		}
		f.gap(v)
		f.cancel(v)
		f.apart(v)
		f.rotation(v)
	case "ReduceMean", "GlobalAveragePool", "AveragePool":
		f.variance(v)
		f.expSum(v)
	case "ReduceLogSum":
		f.logSum(v)
	case "ReduceSum", "MatMul", "Einsum", "Gemm", "Conv":
		f.linear(v)
		if f.set.ratios[v] == nil && n.Op == "ReduceSum" {
			f.cosine(v)
		}
		f.ofItself(v)
		f.weighedSpread(v)
		f.variance(v)
		f.expSum(v)
	case "Exp":
		f.expOfLog(v)
	case "BatchNormalization":
		f.batchStats(n)
	case "RotaryEmbedding":
		f.rotated(n)
	case "Softmax", "LogSoftmax":
		f.nativeSoftmax(n)
	}
}

// quotients looks at what a quotient may be, if it is none of the ratios yet.
func (f *finder) quotients(v, num, den *graph.Value) {
	for _, read := range []func(v, num, den *graph.Value){f.overlap, f.augmented, f.agreement, f.angles, f.prefixes, f.harmonic, f.parts} {
		if f.set.ratios[v] == nil {
			read(v, num, den)
		}
	}
}

// square enters x·x and Pow(x, 2).
func (f *finder) square(v *graph.Value) {
	n := v.Producer
	a, b := n.In(0), n.In(1)
	if b == nil {
		return
	}
	if c, ok := f.number1(f.same(b)); !(n.Op == "Pow" && ok && c == 2) && !(n.Op == "Mul" && f.same(a) == f.same(b)) {
		return
	}
	q := &Square{Base: a, Output: v, Node: n}
	f.set.Squares = append(f.set.Squares, q)
	f.set.squares[v] = q
}

// softmaxLogits walks back from every softmax and every other exponential that ends attention.
func (f *finder) softmaxLogits() {
	for _, s := range f.set.Softmaxes {
		switch {
		case s.Node != nil:
			f.logits(s.Node, s.Input)
		case s.Exp != nil && f.shaped(s.Exp).Producer != nil:
			f.logits(f.shaped(s.Exp).Producer, s.Input)
		default:
			f.logits(s.Output.Producer, s.Input)
		}
	}
}
