package infer

import (
	"fmt"
	"maps"
	"slices"

	"github.com/amplint/amplint/graph"
)

// DimRange is what a symbolic dimension lies in, both ends included.
type DimRange struct{ Lo, Hi int64 }

// Options say what is known beyond the model. The zero value is ready for use.
type Options struct {
	// Dims holds the ranges of symbolic dimensions; equal ends fix one.
	Dims map[string]DimRange
	// Values holds the values of inputs, by name.
	Values map[string]*graph.Tensor
	// Shapes holds the shapes of inputs, by name.
	Shapes map[string]graph.Shape
	// Eval computes a node's outputs from constant inputs (nil where left out). It may be nil: then only the
	// integer arithmetic of shapes is folded.
	Eval func(n *graph.Node, in []*graph.Tensor) ([]*graph.Tensor, error)
	// MaxFold is the greatest number of elements of a folded value, 1<<16 where it is 0.
	MaxFold int64
}

// OpCount counts the nodes of an operator.
type OpCount struct {
	Op    string // as [graph.OpName] writes it
	Count int
}

// Info is what a walk found besides the types and constants in the values themselves.
type Info struct {
	// Unknown lists the operators without an entry in the table, sorted by name.
	Unknown []OpCount
	// Notes say where the file's declarations contradict what its nodes compute, and what else had to be
	// overlooked, in the order met.
	Notes []string

	syms *symbols
}

// Bounds returns the least and the greatest size of a dimension, -1 where nothing is known: (0, -1) for a symbol
// without a range, (n, n) for a number.
func (i *Info) Bounds(d graph.Dim) (lo, hi int64) {
	p, ok := i.syms.num(d).poly()
	if !ok {
		return 0, -1
	}
	if r, ok := i.syms.ranges[d.Sym]; ok && d.Sym != "" {
		return max(r.Lo, 0), r.Hi
	}
	lo, hi = i.syms.bounds(p)
	lo = max(lo, 0)
	if hi == plusInf || hi < lo {
		hi = -1
	}
	return lo, hi
}

// Run sets the Type of every value of the model and the Const of those that are the same in every run. What an
// earlier run found is forgotten. It fails where the model cannot be right; the error names the node.
func Run(m *graph.Model, opt Options) (*Info, error) {
	w := newWalk(m, opt)
	if err := w.run(); err != nil {
		return nil, err
	}
	return w.finish(), nil
}

// Keys returns the operators that the table has an entry for, sorted, as [graph.OpName] writes them.
func Keys() []string {
	table := merged(families()...)
	keys := make([]string, 0, len(table))
	for k := range table {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TypesOnly returns the operators that have types and shapes, but neither bounds nor an evaluation that
// would have to agree with them.
func TypesOnly() []string { return slices.Sorted(maps.Keys(typesOnly())) }

// operator sets the types of a node's outputs from those of its inputs.
type operator func(c *ctx) error

// operators returns the table of all operators.
func operators() map[string]operator {
	table := make(map[string]operator, 400)
	for _, family := range append(families(), typesOnly()) {
		for key, f := range family {
			if table[key] != nil {
				panic(fmt.Sprintf("infer: two entries for %s", key))
			}
			table[key] = f
		}
	}
	return table
}
