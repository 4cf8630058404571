package refeval

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// Shared holds the constants of a model for all runners that are made of it, in each format that one of them holds
// them in. Runners that share are made one at a time; what they run is free.
type Shared struct {
	whole  map[sharedKey]*Tensor
	packed map[sharedKey]*Tensor // in the kernels' layout only
}

// NewShared returns a place for constants that is empty.
func NewShared() *Shared {
	return &Shared{whole: map[sharedKey]*Tensor{}, packed: map[sharedKey]*Tensor{}}
}

// sharedKey tells how a constant is held.
type sharedKey struct {
	t      *graph.Tensor
	format numfmt.Format // Invalid for elements as they are stored
	flush  bool
	turned bool // of the layout, where that is all there is
}

// sharedKey returns the key of a constant, ok is false for one that is not shared.
func (o *Options) sharedKey(v *graph.Value, raw bool) (k sharedKey, ok bool) {
	k.t = v.Init
	if k.t == nil {
		k.t = v.Const
	}
	if o.Shared == nil || k.t == nil || v.Sparse != nil {
		return k, false
	}
	if e := k.t.Elem; !raw && e.IsFloat() && o.rounds(v, e) {
		k.format, k.flush = o.hold(v, e), o.FlushSubnormals
	}
	return k, true
}

// read returns the tensor of a constant as it is held, and raw as it is stored. The tensor is the runner's own, its
// elements are not.
func (p *planner) read(v *graph.Value, raw bool) (*Tensor, error) {
	k, ok := p.r.opt.sharedKey(v, raw)
	if ok && p.r.opt.Shared.whole[k] != nil {
		return p.r.opt.Shared.whole[k].view(p.r.opt.Shared.whole[k].Dims), nil
	}
	t, err := stored(v)
	if err != nil {
		return nil, err
	}
	if !raw && t.F != nil && p.r.opt.rounds(v, t.Elem) {
		p.r.opt.round(serial(), v, t) // in place: nobody else has what was just read
	}
	if ok {
		p.r.opt.Shared.whole[k] = t.view(t.Dims)
	}
	return t, nil
}

// laidOut returns the layout of a matrix, nil where there is none yet.
func (s *Shared) laidOut(k sharedKey) *weights {
	if s == nil || s.packed[k] == nil {
		return nil
	}
	return s.packed[k].weights
}

// lay returns the layout of a constant matrix, or of its transpose.
func (p *planner) lay(v *graph.Value, t *Tensor, turned bool) *weights {
	k, ok := p.r.opt.sharedKey(v, false)
	k.turned = turned
	if w := p.r.opt.Shared.laidOut(k); ok && w != nil {
		return w
	}
	w := layOut(t, turned)
	if ok {
		p.r.opt.Shared.packed[k] = &Tensor{Elem: t.Elem, Dims: t.Dims, weights: w}
	}
	return w
}
