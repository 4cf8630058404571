package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/spread"
	"github.com/amplint/amplint/rules/walk"
)

var constantUnderflow = Rule{
	Name:  "constant-underflow",
	Title: "constant vanishes in the format",
	Kind:  Underflow,
	Model: checkConstantUnderflow,
}

// mostly is the share of a constant's elements that must vanish for the rest not to make up for
// them. A few tiny weights among others do no harm.
const mostly = 0.9

func checkConstantUnderflow(p *Pass) {
	for v, s := range walk.Constants(p.Model) {
		f, ok := p.low(v)
		nonzero := s.Count() - s.Zeros() - s.NaNs() - s.Infs()
		if !ok || nonzero == 0 {
			continue
		}
		gone := float64(s.Underflow(f)) / float64(nonzero)
		below := float64(s.Underflow(f)+s.Subnormal(f)) / float64(nonzero)
		if below < mostly {
			continue
		}
		uses, through := walk.Readers(v)
		for _, u := range uses {
			if (multiplies(u) || gone == 0 && p.guardsZero(u)) && !p.known(u.Node, v) {
				p.vanishing(v, s, u, f, gone, through)
				break
			}
		}
	}
}

// multiplies tells whether the constant is a factor or divisor, so that all depends on it.
func multiplies(u graph.Use) bool {
	return walk.Is(u.Node, "Mul", "MatMul", "Gemm", "Conv", "ConvTranspose", "BatchNormalization") && u.Index <= 1 || walk.Is(u.Node, "Div") && u.Index == 1
}

// guardsZero tells whether the constant alone keeps a divisor or the argument of a logarithm away from
// 0 for some input. One that is 0 in the format is a tiny-epsilon.
func (p *Pass) guardsZero(u graph.Use) bool {
	other := guardedBy(u)
	return other != nil && singular(u.Node.Out(0)) != nil && p.comesTo(other, 0)
}

// vanishing reports a factor that is 0 in the format, or is kept by subnormal numbers only, which
// kernels may flush to 0.
func (p *Pass) vanishing(v *graph.Value, s walk.Stats, u graph.Use, format numfmt.Format, gone float64, through []*graph.Value) {
	lo, hi := s.Extremes()
	f := p.at(u.Node, v)
	f.Range, f.Limit, f.Evidence = rangeprop.Range{Lo: lo, Hi: hi}, format.MinNormal(), Kernel
	state := "subnormal in %s (least normal %.5g): a kernel that flushes such numbers makes it 0"
	if gone >= mostly {
		f.Evidence, f.Consequence, f.Limit = Constant, p.vanished(u), format.MinSubnormal()
		state = "0 in %s (least %.5g)"
	}
	if f.Evidence == Kernel && (s.Count() > 1 || p.vanishes(u.Node.Out(0))) {
		return // weights as small as that in all places are rounded, not lost; a product that is 0 is told as such
	}
	name := fmt.Sprintf("%s is %.5g", v.Name, s.Furthest())
	if s.Count() > 1 {
		name = fmt.Sprintf("%s holds at most %.5g", v.Name, math.Abs(s.Furthest()))
	}
	if f.Evidence == Kernel && p.needless(u, s.Furthest(), format) {
		f.Consequence = Absorbed
	}
	f.Message = name + ", which is " + fmt.Sprintf(state, format, f.Limit) + consequenceText(f.Consequence)
	for _, w := range through {
		f.Consequences = append(f.Consequences, w.Key())
	}
	f.Depends = OnFlush
	f.Edits = []rewrite.Edit{rewrite.Widen{Value: v}}
	if other := guardedBy(u); other != nil {
		f.Edits = p.epsilonEdits(u.Node, other)
	}
	p.report(f)
}

// needless tells whether an epsilon may be 0 without harm: what is infinite then is cut to what it would be anyway.
func (p *Pass) needless(u graph.Use, x float64, f numfmt.Format) bool {
	n := u.Node
	sink := singular(n.Out(0))
	return guardedBy(u) != nil && sink != nil && x > 0 && p.unguarded(n.Out(0), sink, x, x+f.MinNormal()) == Absorbed
}

// vanished tells what a factor of 0 does: a division by it is infinite, a product that would have
// been too small for the format anyway is missed only where it is scaled up again.
func (p *Pass) vanished(u graph.Use) string {
	if u.Node.Op == "Div" {
		return Visible
	}
	out := u.Node.Out(0)
	f, ok := p.low(out)
	if ok && p.rests(out) && p.Range(out).MaxAbs() <= f.MinNormal() && p.harm.Lost(out, p.Range(out).MaxAbs()) == spread.Harmless {
		return Absorbed
	}
	return Silent
}
