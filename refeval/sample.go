package refeval

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/samples"
)

// FromSample reads a value of a data file.
func FromSample(v *samples.Value) (*Value, error) {
	r := &Value{Kind: v.Kind}
	var err error
	if v.Tensor != nil {
		if r.Tensor, err = fromArray(v.Tensor); err != nil {
			return nil, err
		}
	}
	if v.Keys != nil {
		if r.Keys, err = fromArray(v.Keys); err != nil {
			return nil, err
		}
	}
	for _, i := range v.Items {
		x, err := FromSample(i)
		if err != nil {
			return nil, err
		}
		r.Items = append(r.Items, x)
	}
	return r, nil
}

func fromArray(a *samples.Array) (*Tensor, error) {
	g, err := a.Tensor()
	if err != nil {
		return nil, err
	}
	return FromGraph(g)
}

// ToSample returns the value as a data file holds it.
func (v *Value) ToSample() *samples.Value {
	r := &samples.Value{Kind: v.Kind}
	if v.Tensor != nil {
		r = samples.TensorValue(v.Tensor.ToGraph(""))
	}
	if v.Keys != nil {
		r.Keys = samples.TensorValue(v.Keys.ToGraph("")).Tensor
	}
	for _, i := range v.Items {
		r.Items = append(r.Items, i.ToSample())
	}
	return r
}

// Convert returns a tensor in another element type of the same kind, itself where that is its own:
// integers are wrapped, real numbers rounded. No other conversion is made.
func Convert(t *Tensor, e graph.ElemType) (*Tensor, error) {
	whole := func(e graph.ElemType) bool { return e.IsInt() || e == graph.Bool }
	switch {
	case t.Elem == e:
		return t, nil
	case !(t.Elem.IsFloat() && e.IsFloat()) && !(whole(t.Elem) && whole(e)):
		return nil, fmt.Errorf("%s is not of type %s", t, e)
	}
	r, err := newTensor(e, t.Dims)
	if err == nil {
		convert(r, t, false, "up")
	}
	return r, err
}

// Convert returns the value with all its tensors in another element type; see the function.
func (v *Value) Convert(e graph.ElemType) (*Value, error) {
	r := *v
	var err error
	if v.Tensor != nil {
		r.Tensor, err = Convert(v.Tensor, e)
		return &r, err
	}
	r.Items = make([]*Value, len(v.Items))
	for i, item := range v.Items {
		if r.Items[i], err = item.Convert(e); err != nil {
			return nil, err
		}
	}
	return &r, nil
}
