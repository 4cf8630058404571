package refeval

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// treeOps are ensembles of decision trees.
func treeOps() []entry {
	return []entry{
		op("ai.onnx.ml.TreeEnsemble", treeEnsemble),
		op("ai.onnx.ml.TreeEnsembleClassifier", treeClassifier),
		op("ai.onnx.ml.TreeEnsembleRegressor", treeRegressor),
	}
}

// treeNode is a node of a tree: a comparison of a feature, or a leaf.
type treeNode struct {
	mode    int // of the numbers of TreeEnsemble; leafMode for a leaf
	feature int
	split   float64
	members []float64
	yes, no int
	nanYes  bool // the way of NaN
	votes   []vote
}

// vote adds a weight to a target.
type vote struct {
	target int
	weight float64
}

const (
	memberMode = 6
	leafMode   = 7
)

// modeNames are the modes as the older operators spell them.
func modeNames() []string {
	return []string{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"}
}

// forest is an ensemble.
type forest struct {
	nodes     []treeNode
	roots     []int
	targets   int
	aggregate string
	base      []float64
	double    bool
}

// takes tells which way a row goes at a node. NaN differs from every number, whatever is said of it.
func (n *treeNode) takes(x float64) bool {
	if x != x {
		return n.nanYes || n.mode == 5
	}
	switch n.mode {
	case 0:
		return x <= n.split
	case 1:
		return x < n.split
	case 2:
		return x >= n.split
	case 3:
		return x > n.split
	case 4:
		return x == n.split
	case 5:
		return x != n.split
	}
	return slices.Contains(n.members, x)
}

// leaf walks down a tree. A way longer than there are nodes goes in circles.
func (f *forest) leaf(root int, x []float64) *treeNode {
	at := root
	for range len(f.nodes) + 1 {
		n := &f.nodes[at]
		if n.mode == leafMode {
			return n
		}
		at = pick(n.takes(x[n.feature]), n.yes, n.no)
	}
	refuse("the tree of node %d has no leaf on a way", root)
	return nil
}

// tally is what the trees said of one target.
type tally struct {
	score float64
	any   bool
}

// row lets all trees vote on a row.
func (f *forest) row(x []float64) []tally {
	t := make([]tally, f.targets)
	for _, r := range f.roots {
		for _, v := range f.leaf(r, x).votes {
			t[v.target].add(f.aggregate, v.weight, f.double)
		}
	}
	if f.aggregate == "AVERAGE" {
		for i := range t {
			t[i].score /= float64(len(f.roots))
		}
	}
	return t
}

// add takes in a vote. Sums are in float but for double inputs: the class can hang on it.
func (t *tally) add(how string, w float64, double bool) {
	switch {
	case how == "MIN" && t.any:
		t.score = min(t.score, w)
	case how == "MAX" && t.any:
		t.score = max(t.score, w)
	case how == "MIN", how == "MAX":
		t.score = w
	default:
		t.score += w
	}
	if !double {
		t.score = float64(float32(t.score))
	}
	t.any = true
}

// scores returns the tallies plus the base values.
func (f *forest) scores(t []tally) []float64 {
	s := make([]float64, len(t))
	for i, v := range t {
		s[i] = v.score
		if len(f.base) == len(t) {
			s[i] += f.base[i]
		}
	}
	return s
}

// numbers returns a list attribute of floats, or the tensor that may stand for it.
func (c *Call) numbers(name string) []float64 {
	if t := c.Tensor(name + "_as_tensor"); t != nil {
		return t.floats64()
	}
	return each32(c.Floats(name))
}

func each32(list []float32) []float64 {
	var out []float64
	for _, v := range list {
		out = append(out, float64(v))
	}
	return out
}

// treeKey names a node of the older operators.
type treeKey struct{ tree, node int }

// forest reads the nodes of the older operators. Children are named within the tree; the root is
// the node that is no child.
func (c *Call) forest(prefix, targets string) *forest {
	f := &forest{aggregate: c.Str("aggregate_function"), base: c.numbers("base_values")}
	trees, ids, modes := c.Ints("nodes_treeids"), c.Ints("nodes_nodeids"), c.Strs("nodes_modes")
	yes, no := c.Ints("nodes_truenodeids"), c.Ints("nodes_falsenodeids")
	features, splits, nan := c.Ints("nodes_featureids"), c.numbers("nodes_values"), c.Ints("nodes_missing_value_tracks_true")
	place, child := map[treeKey]int{}, map[treeKey]bool{}
	for i, id := range ids {
		place[treeKey{trees[i], id}] = i
	}
	for i := range ids {
		n := treeNode{mode: slices.Index(modeNames(), modes[i]), feature: features[i], split: splits[i]}
		n.nanYes = i < len(nan) && nan[i] != 0
		if n.mode < 0 || n.mode == memberMode {
			refuse("unknown mode %q", modes[i])
		}
		if n.mode != leafMode {
			a, b := treeKey{trees[i], yes[i]}, treeKey{trees[i], no[i]}
			n.yes, n.no = at(place, a), at(place, b)
			child[a], child[b] = true, true
		}
		f.nodes = append(f.nodes, n)
	}
	for i, id := range ids {
		if !child[treeKey{trees[i], id}] {
			f.roots = append(f.roots, i)
		}
	}
	c.votes(f, place, prefix, targets)
	return f
}

func at(place map[treeKey]int, k treeKey) int {
	i, ok := place[k]
	if !ok {
		refuse("tree %d has no node %d", k.tree, k.node)
	}
	return i
}

// votes gives the leaves of the older operators their weights.
func (c *Call) votes(f *forest, place map[treeKey]int, prefix, targets string) {
	trees, ids := c.Ints(prefix+"treeids"), c.Ints(prefix+"nodeids")
	list, weights := c.Ints(targets), c.numbers(prefix+"weights")
	for i, id := range ids {
		n := &f.nodes[at(place, treeKey{trees[i], id})]
		n.votes = append(n.votes, vote{list[i], weights[i]})
	}
}

// eachTreeRow calls f for each row of input 0, which must have the features that the trees ask for.
func (c *Call) eachTreeRow(f *forest, visit func(r int, t []tally)) (rows int) {
	x, rows, cols := c.features(0)
	f.double = x.D != nil
	for _, n := range f.nodes {
		if n.mode != leafMode && (n.feature < 0 || n.feature >= cols) {
			refuse("feature %d of %d", n.feature, cols)
		}
		for _, v := range n.votes {
			if v.target < 0 || v.target >= f.targets {
				refuse("target %d of %d", v.target, f.targets)
			}
		}
	}
	for r := range rows {
		visit(r, f.row(x.floatRow(r, cols)))
	}
	return rows
}

func treeRegressor(c *Call) error {
	f := c.forest("target_", "target_ids")
	f.targets = c.Int("n_targets")
	var scores [][]float64
	c.eachTreeRow(f, func(_ int, t []tally) {
		scores = append(scores, scoresOf(c.Str("post_transform"), f.scores(t), noSecond))
	})
	c.scoreRows(0, scores)
	return nil
}

// treeClassifier picks the class of the largest score, but for two classes, see [forest.binary].
func treeClassifier(c *Call) error {
	f := c.forest("class_", "class_ids")
	labels := c.classLabels("classlabels_int64s")
	if labels == nil {
		refuse("no class labels")
	}
	f.targets = labels.Len()
	ids := slices.Clone(c.Ints("class_ids"))
	slices.Sort(ids)
	one := len(slices.Compact(ids)) == 1
	positive := !slices.ContainsFunc(c.numbers("class_weights"), func(w float64) bool { return w < 0 })
	var scores [][]float64
	var classes []int
	c.eachTreeRow(f, func(_ int, t []tally) {
		s, class, add := f.classify(t, one, positive)
		classes = append(classes, class)
		scores = append(scores, scoresOf(c.Str("post_transform"), s, add))
	})
	if labels.Len() == 1 || labels.Len() == 2 && !one && labels.I != nil {
		labels = nil
	}
	c.labelRows(labels, classes)
	c.scoreRows(1, scores)
	return nil
}

// classify returns the scores and the class of a row. A class without votes does not win.
func (f *forest) classify(t []tally, one, positive bool) ([]float64, int, second) {
	switch len(t) {
	case 1:
		s := f.scores(t)
		return s, int(bit(s[0] > 0)), noSecond
	case 2:
		return f.binary(t, one, positive)
	}
	s, class := f.scores(t), -1
	for i, v := range t {
		if (v.any || len(f.base) > 0) && (class < 0 || s[i] > s[class]) {
			class = i
		}
	}
	return s, max(class, 0), noSecond
}

// binary decides between two classes as onnxruntime does, on which the standard is silent. If only
// one class has votes their sum is the score of the second class: it wins above 0 or, where no
// weight is negative, above one half. If both have, the label is 1 or 0 by the sign of the second.
func (f *forest) binary(t []tally, one, positive bool) ([]float64, int, second) {
	f.binaryBase(t)
	weight := t[0].score
	if t[1].any {
		weight = t[1].score
	}
	limit, add := 0.0, opposite
	if one && positive {
		limit, add = 0.5, complement
	}
	class := int(bit(weight > limit))
	if !t[1].any && len(f.base) < 2 {
		return []float64{t[0].score}, class, add
	}
	s := make([]float64, 2)
	for i, v := range t {
		if v.any {
			s[i] = v.score
		}
	}
	return s, class, noSecond
}

// binaryBase adds the base values of two classes.
func (f *forest) binaryBase(t []tally) {
	switch {
	case len(f.base) == 1:
		t[0].score += f.base[0]
	case len(f.base) == 2 && t[1].any:
		t[1].score = f.base[1] + t[0].score
		t[0].score = -t[1].score
	case len(f.base) == 2:
		t[0].score += f.base[0]
		t[1].score += f.base[1]
	}
}

// treeEnsemble is the operator that replaced the other two.
func treeEnsemble(c *Call) error {
	f := c.modernForest()
	names := []string{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}
	x := c.In(0)
	y := c.Out(0, x.Elem, []int{x.Dims[0], f.targets})
	c.eachTreeRow(f, func(r int, t []tally) {
		for k, v := range scoresOf(names[c.Int("post_transform")], f.scores(t), noSecond) {
			y.put64(r*f.targets+k, v)
		}
	})
	return nil
}

// modernForest reads the nodes of TreeEnsemble: leaves stand in lists of their own.
func (c *Call) modernForest() *forest {
	f := &forest{targets: c.Int("n_targets"), roots: c.Ints("tree_roots")}
	f.aggregate = []string{"AVERAGE", "SUM", "MIN", "MAX"}[c.Int("aggregate_function")]
	modes, splits := c.tensorInts("nodes_modes"), c.tensorFloats("nodes_splits")
	yes, no := c.Ints("nodes_truenodeids"), c.Ints("nodes_falsenodeids")
	yesLeaf, noLeaf := c.Ints("nodes_trueleafs"), c.Ints("nodes_falseleafs")
	features, nan := c.Ints("nodes_featureids"), c.Ints("nodes_missing_value_tracks_true")
	members := c.tensorFloats("membership_values")
	for i, m := range modes {
		n := treeNode{mode: m, feature: features[i], split: splits[i], nanYes: i < len(nan) && nan[i] != 0}
		n.yes, n.no = yes[i]+yesLeaf[i]*len(modes), no[i]+noLeaf[i]*len(modes)
		if m < 0 || m > memberMode {
			refuse("unknown mode %d", m)
		}
		if m == memberMode {
			n.members, members = nextMembers(members)
		}
		f.nodes = append(f.nodes, n)
	}
	weights := c.tensorFloats("leaf_weights")
	for i, t := range c.Ints("leaf_targetids") {
		f.nodes = append(f.nodes, treeNode{mode: leafMode, votes: []vote{{t, weights[i]}}})
	}
	return f
}

// nextMembers cuts a list of sets, each ended by NaN.
func nextMembers(list []float64) (set, rest []float64) {
	i := slices.IndexFunc(list, math.IsNaN)
	if i < 0 {
		return list, nil
	}
	return list[:i], list[i+1:]
}

// tensorFloats and tensorInts return the elements of a tensor attribute, none where it is missing.
func (c *Call) tensorFloats(name string) []float64 {
	if t := c.Tensor(name); t != nil && t.Elem != graph.String {
		return t.floats64()
	}
	return nil
}

func (c *Call) tensorInts(name string) []int {
	if t := c.Tensor(name); t != nil {
		return t.ints()
	}
	return nil
}
