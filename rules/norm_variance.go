package rules

import (
	"fmt"
	"math"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
)

var normVariance = Rule{
	Name:  "norm-variance",
	Title: "variance inside a normalisation overflows",
	Kind:  Overflow,
	Model: checkNormVariance,
}

func checkNormVariance(p *Pass) {
	for n := range p.Model.Nodes() {
		switch n.OpName() {
		case "LayerNormalization", "InstanceNormalization", "GroupNormalization", "MeanVarianceNormalization",
			"com.microsoft.LayerNormalization", "com.microsoft.GroupNorm":
			checkVariance(p, n, p.reach.Of(n.In(0)), true)
		case "RMSNormalization", "SimplifiedLayerNormalization", "com.microsoft.SimplifiedLayerNormalization":
			checkVariance(p, n, p.reach.Of(n.In(0)), false)
		case "com.microsoft.SkipLayerNormalization":
			checkVariance(p, n, p.skipped(n), true)
		case "com.microsoft.SkipSimplifiedLayerNormalization":
			checkVariance(p, n, p.skipped(n), false)
		}
	}
}

// skipped returns the reach of the sum that a norm with a skip connection normalises. Where one input is
// free alone, its elements can take the signs of the other's: their spread is that of the sum at least.
func (p *Pass) skipped(n *graph.Node) reach.Span {
	x, y := p.reach.Of(n.In(0)), p.reach.Of(n.In(1))
	sum := reach.Pair(x, y, func(x, y float64) float64 { return x + y })
	for _, r := range []reach.Span{x, y} {
		if sum.Level() < reach.Free {
			sum = r
		}
	}
	return sum
}

// normalised names what a norm normalises.
func normalised(n *graph.Node) string {
	if strings.HasPrefix(n.Op, "Skip") && n.In(1) != nil {
		return n.In(0).Name + " + " + n.In(1).Name
	}
	return n.In(0).Name
}

// checkVariance compares the variance that what is normalised can be given with the limit of the type the
// operator computes it in: the one that stash_type names, which the operator must obey, or, where
// it names FP32 or the operator has none, whatever the kernel uses.
func checkVariance(p *Pass, n *graph.Node, r reach.Span, centred bool) {
	f, ok := p.low(n.In(0))
	s, stashed := stash(n)
	if !ok && stashed { // whatever its input is held in
		f = numfmt.FP32
	}
	if !ok && !stashed || r.Level() < reach.Free || p.known(n, nil) {
		return
	}
	narrower := stashed && s.Max() < f.Max()
	if narrower {
		f = s
	}
	spread := math.Max(math.Abs(r.Lo.At), math.Abs(r.Hi.At))
	if centred {
		spread = (r.Hi.At - r.Lo.At) / 2
	}
	top := spread * spread
	if top < f.OverflowAt() {
		return
	}
	find := p.at(n, n.Out(0))
	find.Limit = f.Max()
	find.Evidence = Kernel
	text := "where the kernel does not compute it in fp32"
	find.Edits = []rewrite.Edit{rewrite.KeepFP32{Node: n}}
	if stashed {
		find.Evidence, find.Consequence = Witness, Silent
		text = fmt.Sprintf("and stash_type says %s", s)
		find.Edits = append(find.Edits, rewrite.SetInt(n, "stash_type", int64(graph.Float)))
		if narrower { // in the format of its input it is right
			find.Edits = find.Edits[1:]
		}
	}
	find.Message = fmt.Sprintf("the variance of %s reaches %.5g, which is %s in %s (max %.5g), %s", normalised(n), top, p.shown(f, top), f, f.Max(), text)
	p.report(find)
}

// stash returns the low format that stash_type names.
func stash(n *graph.Node) (numfmt.Format, bool) {
	a := n.Attr("stash_type")
	if a == nil {
		return numfmt.Invalid, false
	}
	f, ok := graph.ElemType(a.I).Format()
	return f, ok && f.Bits() < 32
}
