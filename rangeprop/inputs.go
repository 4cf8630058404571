package rangeprop

import (
	"fmt"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// guess sets an input without a range to what the way it is read tells, else to any finite number.
func (p *pass) guess(v *graph.Value) {
	r, note, basis := p.evidence(v)
	if v.Type.Kind != graph.KindTensor && v.Type.Kind != graph.KindUnknown && note == "" {
		r, basis = all, Unknown
	}
	x := scalar(r)
	x.basis = basis
	if basis == Unknown {
		x.why = v
	}
	x = typed(x, v.Type)
	if elem := element(v.Type); !elem.IsFloat() && elem != graph.Undefined {
		x.integer = true
	}
	x = x.clone()
	x.mom = p.priorOf(v, x.Hull())
	p.vals[v] = x
	p.res.inputs = append(p.res.inputs, InputRange{Value: v, Range: x.Hull(), Basis: basis, Note: note})
}

// element is the element type of a tensor, or of what a container holds.
func element(t graph.Type) graph.ElemType {
	for t.Of != nil {
		t = *t.Of
	}
	return t.Elem
}

// evidence returns a range for an input by the way it is read, and the reason in words.
func (p *pass) evidence(v *graph.Value) (r Range, note string, basis Basis) {
	elem := element(v.Type)
	if elem == graph.Bool {
		return maybe, "truth values", Constant
	}
	u := p.readers(v)
	switch {
	case u.rows > 0:
		return Range{0, u.rows - 1}, fmt.Sprintf("indices into a table of %g rows", u.rows), Default
	case u.mask:
		return maybe, "a mask: subtracted from 1, compared with 0, cast to truth values, given to an attention as one, or multiplied by a large negative number", Default
	case u.angle && len(v.Type.Shape) <= 1:
		return Range{0, lastStep}, "a time step of which sine and cosine are taken", Default
	case u.angle && elem.IsInt():
		return Range{0, lastPosition}, "positions of which sine and cosine are taken", Default
	case elem == graph.Uint8, u.by255:
		return Range{0, 255}, "image values up to 255", Default
	case elem.IsFloat() && u.conv:
		return images(v.Type.Shape)
	}
	return all, "", Unknown
}

// lastStep is the last time step of most diffusion models. lastPosition is that of a text as long as most
// models were trained on; what matters is that the low formats do not count so far.
const (
	lastStep     = 999
	lastPosition = 1<<15 - 1
)

// images guesses by the channels of what the first convolution reads.
func images(s graph.Shape) (Range, string, Basis) {
	channels := int64(0)
	if len(s) >= 3 && s[1].Known() {
		channels = s[1].N
	}
	switch {
	case len(s) == 4 && channels == 3:
		return Range{-2.64, 2.64}, "an image, normalised by the usual means and deviations", Default
	case len(s) == 4 && channels == 4:
		return Range{-5, 5}, "a latent image", Default
	case len(s) == 3 && channels == 1:
		return Range{-1, 1}, "audio samples", Default
	}
	return all, "", Unknown
}

// reading is what the first readers of an input tell.
type reading struct {
	rows  float64 // of the smallest table it indexes
	mask  bool
	by255 bool
	conv  bool
	// angle: sine or cosine of its products with constants are taken
	angle bool
	// signal: a filter bank or a Fourier transform reads it
	signal bool
}

// readers follows an input through casts and movement to what computes with it.
func (p *pass) readers(v *graph.Value) reading {
	var r reading
	seen := map[*graph.Value]bool{}
	var follow func(v *graph.Value, depth int)
	follow = func(v *graph.Value, depth int) {
		if v == nil || depth > 8 || seen[v] {
			return
		}
		seen[v] = true
		for _, u := range v.Uses {
			r.use(p, u)
			switch u.Node.OpName() {
			case "Cast", "Identity", "Unsqueeze", "Reshape", "Squeeze", "Expand", "Transpose", "Pad", "Slice":
				if u.Index == 0 {
					follow(u.Node.Out(0), depth+1)
				}
			}
			if u.Node.Call != nil && u.Index < len(u.Node.Call.Inputs) {
				follow(u.Node.Call.Inputs[u.Index], depth+1)
			}
		}
	}
	follow(v, 0)
	return r
}

// use notes one reader.
func (r *reading) use(p *pass, u graph.Use) {
	n := u.Node
	switch n.OpName() {
	case "Gather":
		if u.Index == 1 && n.Int("axis", 0) == 0 {
			r.index(n.In(0))
		}
	case "com.microsoft.EmbedLayerNormalization": // ids, segments and, behind the mask, positions
		if table, ok := map[int]int{0: 2, 1: 4, 8: 3}[u.Index]; ok {
			r.index(n.In(table))
		}
		r.mask = r.mask || u.Index == 7
	case "com.microsoft.Attention", "com.microsoft.MultiHeadAttention": // of rank 1 it holds lengths
		at := map[string]int{"Attention": 3, "MultiHeadAttention": 4}[n.Op]
		r.mask = r.mask || u.Index == at && len(n.In(at).Type.Shape) > 1
	case "Cast": // what is not 0 is true, all the same
		r.mask = r.mask || graph.ElemType(n.Int("to", 0)) == graph.Bool
	case "RotaryEmbedding": // the tables of cosines come before the positions here
		if u.Index == 3 {
			r.index(n.In(1))
		}
	case "com.microsoft.RotaryEmbedding":
		if u.Index == 1 {
			r.index(n.In(2))
		}
	case "MatMul", "Einsum":
		r.angle = r.angle || turns(n)
	case "Equal":
		c, ok := p.single(n.In(1 - min(u.Index, 1)))
		r.mask = r.mask || ok && c == 0 && !n.In(u.Index).Type.Elem.IsFloat()
	case "Sub":
		c, ok := p.single(n.In(0))
		r.mask = r.mask || u.Index == 1 && ok && c == 1
	case "Div":
		c, ok := p.single(n.In(1))
		r.by255 = r.by255 || u.Index == 0 && ok && math.Abs(c-255) < 1
	case "Mul":
		r.angle = r.angle || turns(n)
		c, ok := p.single(n.In(1 - min(u.Index, 1)))
		r.by255 = r.by255 || ok && math.Abs(c*255-1) < 1e-3
		r.mask = r.mask || ok && c <= -1000
	case "Conv", "com.microsoft.FusedConv":
		r.conv = r.conv || u.Index == 0
		r.signal = r.signal || u.Index == 0 && filters(n)
	case "STFT", "DFT":
		r.signal = r.signal || u.Index == 0
	}
}

// index notes a table that is read by rows.
func (r *reading) index(t *graph.Value) {
	if t == nil || t.Const == nil || len(t.Const.Dims) == 0 {
		return
	}
	rows := float64(t.Const.Dims[0])
	if r.rows == 0 || rows < r.rows {
		r.rows = rows
	}
}

// turns tells whether a product with a constant becomes an angle, perhaps behind movement.
func turns(n *graph.Node) bool {
	if len(n.Inputs) != 2 || !slices.ContainsFunc(n.Inputs, func(v *graph.Value) bool { return v != nil && v.Const != nil }) {
		return false
	}
	v := n.Out(0)
	for range 6 {
		if v == nil || len(v.Uses) == 0 {
			return false
		}
		next := v.Uses[0].Node
		switch next.OpName() {
		case "Sin", "Cos":
			return true
		case "Cast", "Identity", "Unsqueeze", "Reshape", "Squeeze", "Expand", "Transpose", "Concat":
			v = next.Out(0)
		default:
			return false
		}
	}
	return false
}

// single returns the value of a constant of one element.
func (p *pass) single(v *graph.Value) (float64, bool) {
	if v == nil || v.Const == nil || v.Const.Len() != 1 || v.Const.Elem == graph.String {
		return 0, false
	}
	h := p.constant(v.Const).Hull()
	return h.Lo, h.Lo == h.Hi
}
