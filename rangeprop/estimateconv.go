package rangeprop

import "github.com/amplint/amplint/graph"

// pooled is the correlation of the elements that a mean runs over.
const pooled = 0.3

// trained is how much more the output of a trained kernel varies than that of independent inputs: kernels
// learn how their inputs go together. The median over the convolutions of five trained models, each given
// the true moments of its input, is 1.35, whichever way the taps are taken to correlate.
const trained = 1.35

// samples is the correlation of neighbouring samples of a signal such as speech: its spectrum falls.
const samples = 0.9

// convMoments carries moments through a kernel.
func (c *call) convMoments() *moments {
	t, _, ok := c.p.weight(c.n.In(1))
	group := int(c.n.Int("group", 1))
	x := c.mom(0)
	if !ok || len(t.Dims) < 3 || group < 1 || t.Dims[0] < int64(group) || t.Dims[1] < 1 {
		return nil
	}
	outs, ins, kernel := int(t.Dims[0]), int(t.Dims[1]), 1
	for _, d := range t.Dims[2:] {
		kernel *= int(d)
	}
	if len(x.dims) > 1 {
		keep := make([]bool, len(x.dims))
		keep[1] = true
		x = x.collapse(keep)
	}
	if len(x.mean) != ins*group {
		x = x.flat()
	}
	k := &kernels{x: x, kernel: kernel, ins: ins, perGroup: outs / group, bank: filters(c.n)}
	k.mean, k.vari = make([]float64, outs), make([]float64, outs)
	if err := stream(t, k.tap); err != nil {
		return nil
	}
	out := &moments{pad(nil, max(c.rank(0), 2)), k.mean, k.vari}
	out.dims[1] = outs
	for o := range k.vari {
		if c.has(2) && len(c.in[2].lo) == outs {
			k.mean[o] += c.in[2].lo[o]/2 + c.in[2].hi[o]/2
		}
	}
	return out
}

// filters tells whether a convolution is a bank of filters over a signal, as a Fourier transform is
// exported.
func filters(n *graph.Node) bool {
	w := n.In(1)
	if w == nil || w.Type.Shape == nil {
		return false
	}
	s := w.Type.Shape
	return len(s) == 3 && s[1] == (graph.Dim{N: 1}) && s[2].N >= bankTaps && n.Int("group", 1) == 1
}

// bankTaps is the length from which on a kernel over a single channel is a filter of a signal.
const bankTaps = 32

// kernels collects the moments of the outputs of a convolution while its weights are read.
type kernels struct {
	x                     *moments
	kernel, ins, perGroup int
	bank                  bool

	mean, vari []float64
	before     float64 // the taps of a filter that were read, each weighted by its correlation with the next
}

// tap adds the i-th weight.
func (k *kernels) tap(i int, w float64) {
	o := i / k.kernel / k.ins
	in := o/k.perGroup*k.ins + i/k.kernel%k.ins
	if len(k.x.mean) == 1 {
		in = 0
	}
	k.mean[o] += w * k.x.mean[in]
	if !k.bank {
		k.vari[o] += trained * w * w * k.x.vari[in]
		return
	}
	if i%k.kernel == 0 {
		k.before = 0
	}
	k.vari[o] += k.x.vari[in] * (w*w + 2*w*k.before)
	k.before = samples * (k.before + w)
}
