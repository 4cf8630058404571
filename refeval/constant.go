package refeval

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval/kern"
)

// isConstant tells whether the model itself says what a value is. What folding found out is left
// alone: computed exactly, it may differ from what the target makes of it.
func isConstant(v *graph.Value) bool {
	switch {
	case v == nil || v.Input && v.Graph.Kind == graph.MainGraph:
		return false
	case v.Producer == nil:
		return v.Init != nil || v.Sparse != nil
	}
	return v.Producer.OpName() == "Constant" && v.Const != nil
}

// initial returns the initializer that is the default of an input, rounded later as inputs are.
func (p *planner) initial(v *graph.Value) (*Value, error) {
	if v.Init == nil && v.Sparse == nil {
		return nil, nil
	}
	t, err := stored(v)
	if err != nil {
		return nil, err
	}
	return TensorValue(t), nil
}

// stored reads the tensor that defines a constant.
func stored(v *graph.Value) (*Tensor, error) {
	switch {
	case v.Sparse != nil:
		return denseOf(v.Sparse)
	case v.Init != nil:
		return FromGraph(v.Init)
	}
	return FromGraph(v.Const)
}

// constant reads a constant once, or once more in its raw form where operands are pinned.
func (p *planner) constant(v *graph.Value, raw bool) (*Value, error) {
	k := slotKey{v, raw}
	if c := p.consts[k]; c != nil {
		return c, nil
	}
	t, err := p.read(v, raw)
	if err != nil {
		return nil, err
	}
	if !raw {
		p.r.constants = append(p.r.constants, constant{v, t})
	}
	c := TensorValue(t)
	p.consts[k] = c
	return c, nil
}

// constant is a constant of the model as the run sees it.
type constant struct {
	v *graph.Value
	t *Tensor
}

// rounded returns an input as it is held, a copy where that differs.
func (o *Options) rounded(v *graph.Value, t *Tensor) *Tensor {
	if t.F == nil || !o.rounds(v, t.Elem) {
		return t
	}
	r := *t
	r.F = append([]float32{}, t.F...)
	o.round(serial(), v, &r)
	return &r
}

// rounds tells whether holding a value changes it.
func (o *Options) rounds(v *graph.Value, e graph.ElemType) bool {
	f := o.hold(v, e)
	return f != 0 && f.Bits() < 32 || o.FlushSubnormals && e.IsFloat() && e != graph.Double
}

// round rounds a tensor in place to what the value is held in.
func (o *Options) round(e *kern.Engine, v *graph.Value, t *Tensor) {
	f := o.hold(v, t.Elem)
	if f == numfmt.Invalid && t.Elem == graph.Float {
		f = numfmt.FP32
	}
	if f != numfmt.Invalid {
		e.Round(f, t.F, o.FlushSubnormals)
	}
}
