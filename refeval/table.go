package refeval

import (
	"slices"
	"sync"

	"github.com/amplint/amplint/graph"
)

// entry is one operator of a family: the key of [graph.OpName] and the kernel that all its
// versions share; a kernel asks [Call].Version where they differ.
type entry struct {
	name string
	run  func(c *Call) error
	// move says that the kernel only moves values, so that rounding them again is needless.
	move bool
}

// op is the entry of an operator that computes.
func op(name string, run func(c *Call) error) entry { return entry{name: name, run: run} }

// mover is the entry of an operator whose results hold values of its inputs and nothing else.
func mover(name string, run func(c *Call) error) entry {
	return entry{name: name, run: run, move: true}
}

// families lists the operators, a function for each family file.
func families() [][]entry {
	return [][]entry{
		attentionOps(), constantOps(), contribOps(), controlOps(), convOps(), elementwiseOps(), gatherOps(), imageOps(),
		lossOps(), matmulOps(), mlOps(), movementOps(), normalizeOps(), poolOps(), quantizeOps(), randomOps(),
		reduceOps(), reshapeOps(), rnnOps(), sequenceOps(), signalOps(), softmaxOps(), textOps(), trainingOps(),
	}
}

// table finds an operator's entry. It is built at the first look-up and never changes.
var table = sync.OnceValue(func() map[string]entry {
	t := map[string]entry{}
	for _, f := range families() {
		for _, e := range f {
			t[e.name] = e
		}
	}
	return t
})

// Missing returns the operators of a model that cannot be evaluated, sorted. A model that has one cannot be run.
func Missing(m *graph.Model) []string {
	var list []string
	for n := range m.Nodes() {
		if _, ok := table()[n.OpName()]; !ok && n.Call == nil && !slices.Contains(list, n.OpName()) {
			list = append(list, n.OpName())
		}
	}
	slices.Sort(list)
	return list
}

// Keys returns the operators that can be evaluated, sorted, as [graph.OpName] writes them.
func Keys() []string {
	var keys []string
	for k := range table() {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
