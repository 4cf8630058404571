package refeval

import (
	"context"
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/schema"
)

// foldMemory bounds what folding one node may make.
const foldMemory = 1 << 30

// Eval evaluates one node on constants in the types they are stored in, for constant folding; in
// holds nil where an input is left out, and the result nil where an output is. Operators with
// bodies, random numbers or results other than tensors are an error.
func Eval(n *graph.Node, in []*graph.Tensor) ([]*graph.Tensor, error) {
	outs, err := eval(n, in)
	if err != nil {
		return nil, nodeErr(n, err)
	}
	return outs, nil
}

func eval(n *graph.Node, in []*graph.Tensor) ([]*graph.Tensor, error) {
	s := &step{node: n, version: n.Version()}
	if len(n.Subgraphs()) > 0 {
		return nil, fmt.Errorf("operators with graphs are not folded")
	}
	s.schema, _ = schema.Lookup(n.Domain, n.Op, s.version)
	var ok bool
	if s.op, ok = table()[n.OpName()]; !ok {
		return nil, fmt.Errorf("the evaluator has no operator %s", n.OpName())
	}
	f := &frame{}
	for _, g := range in {
		if g == nil {
			s.in = append(s.in, noRef)
			continue
		}
		t, err := FromGraph(g)
		if err != nil {
			return nil, err
		}
		s.in = append(s.in, ref{slot: len(f.vals)})
		f.vals = append(f.vals, TensorValue(t))
	}
	return evalStep(s, f)
}

func evalStep(s *step, f *frame) ([]*graph.Tensor, error) {
	r := &Runner{opt: Options{MaxMemory: foldMemory}.defaults(), engine: serial()}
	x := &run{r: r, ctx: context.Background(), max: foldMemory, fold: true}
	at := len(f.vals)
	for i, v := range s.node.Outputs {
		slot := -1
		if v != nil {
			slot = at + i
		}
		s.out = append(s.out, slot)
	}
	f.vals = append(f.vals, make([]*Value, len(s.out))...)
	if err := x.step(f, s); err != nil {
		return nil, err
	}
	outs := make([]*graph.Tensor, len(s.out))
	for i, slot := range s.out {
		if slot < 0 {
			continue
		}
		t := f.vals[slot].Tensor
		if t == nil {
			return nil, fmt.Errorf("output %d is no tensor", i)
		}
		outs[i] = t.ToGraph(s.node.Outputs[i].Name)
	}
	return outs, nil
}
