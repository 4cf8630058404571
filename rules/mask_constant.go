package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/spread"
	"github.com/amplint/amplint/rules/walk"
)

var maskConstant = Rule{
	Name:  "mask-constant",
	Title: "mask constant turns into -Inf",
	Kind:  Overflow,
	Model: checkMaskConstant,
}

func checkMaskConstant(p *Pass) {
	for v, s := range walk.Constants(p.Model) {
		f, ok := p.low(v)
		if !ok || s.Overflow(f) == 0 || !p.masks(v, s) {
			continue
		}
		c := p.lostConstant(v, s, f)
		if c.node == nil {
			continue
		}
		find := c.finding(p)
		if c.harm == spread.Harmless && p.harmsEmpty(v, s, f) {
			c.harm = spread.Broken
			find.Evidence, find.Consequence = Likely, ""
		}
		note := maskText(c.harm)
		if c.harm > spread.Harmless && p.filled(v, s, f) {
			find.Evidence, find.Consequence = Likely, ""
			note = "; what a row without an open place comes to is up to the kernel of the attention"
		}
		find.Message = fmt.Sprintf("mask %s, which is %s in %s (min %.5g)%s", c.text(), p.shown(f, s.Furthest()), f, -f.Max(), note)
		find.Edits = p.maskEdits(v, f)
		p.report(find)
	}
	for n := range p.Model.Nodes() {
		if walk.Is(n, "Add", "Sub") && !p.known(n, nil) && n.Out(0) != nil && toSoftmax(n.Out(0)) {
			checkMaskSum(p, n)
		}
	}
}

// harmsEmpty tells whether the mask harms a sequence without any token.
func (p *Pass) harmsEmpty(v *graph.Value, s walk.Stats, f numfmt.Format) bool {
	p.harm.EmptySequences = true
	defer func() { p.harm.EmptySequences = false }()
	return p.lostConstant(v, s, f).harm > spread.Harmless
}

// filled tells whether a mask of the lowest number of FP32 harms nothing but the rows that it closes throughout, inside
// an attention: kernels take that number for -Inf as well, and fill such rows with zeros, or with NaN.
func (p *Pass) filled(v *graph.Value, s walk.Stats, f numfmt.Format) bool {
	if s.Furthest() > -numfmt.FP32.Max() {
		return false
	}
	p.harm.ClosedRows = true
	defer func() { p.harm.ClosedRows = false }()
	return p.lostConstant(v, s, f).harm == spread.Harmless
}

func maskText(h spread.Harm) string {
	if h == spread.Harmless {
		return "; every row keeps an open place, so the output stays right"
	}
	return "; 0 times -Inf is NaN, and so is the softmax of a row of -Inf"
}

// masks tells whether a constant is a mask: nothing in it is far above zero, and it comes to a
// softmax.
func (p *Pass) masks(v *graph.Value, s walk.Stats) bool {
	lo, hi := s.Extremes()
	return hi <= 1 && lo < 0 && (len(p.Patterns.MasksOf(v)) > 0 || toSoftmax(v))
}

// throughMasks passes what masks are made by.
func throughMasks(u graph.Use) bool {
	return walk.Is(u.Node, "Add", "Sub", "Mul", "Where", "Cast", "CastLike", "Trilu", "Min", "Max", "Clip", "ScatterND", "Pad")
}

// toSoftmax tells whether a value comes to a softmax through sums, products, choices and movement.
func toSoftmax(v *graph.Value) bool {
	return walk.LeadsTo(v, throughMasks, func(u graph.Use) bool {
		return walk.Is(u.Node, "Softmax", "LogSoftmax") || u.Node.Op == "Attention" || spread.AddsToScores(u)
	}) != nil
}

// maskDepth is how far below zero a clamped mask reaches. exp(-16384) is 0 in every format, and
// four of them still add up to less than the limit of float16.
const maskDepth = 16384

// maskEdits clamps a mask, or holds it in FP32 where clamping would change the result: in a row
// that is masked throughout, a mask that is added must swallow the scores, so that all places are
// alike as they are in FP32.
func (p *Pass) maskEdits(v *graph.Value, f numfmt.Format) []rewrite.Edit {
	for _, m := range p.Patterns.MasksOf(v) {
		if !walk.Is(m.At, "Add", "Sub") {
			continue
		}
		for i, in := range m.At.Inputs {
			score := m.At.In(1 - i)
			if p.closes(in) && p.Range(score).MaxAbs() >= f.Ulp(maskDepth)/2 {
				return append([]rewrite.Edit{rewrite.Widen{Value: v}}, p.maskRegion(v)...)
			}
		}
	}
	if walk.LeadsTo(v, throughMasks, func(u graph.Use) bool {
		return walk.Is(u.Node, "Attention") && u.Index == 3 && p.closesRow(u.Node.In(3), f) // adds the scores inside
	}) != nil {
		return append([]rewrite.Edit{rewrite.Widen{Value: v}}, p.maskRegion(v)...)
	}
	return []rewrite.Edit{rewrite.Clamp{Const: v, Lo: -maskDepth, Hi: f.Max()}}
}

// closes tells whether an input may mask a row throughout.
func (p *Pass) closes(mask *graph.Value) bool {
	return walk.Constant(mask) == nil && p.harm.Closable(mask, false)
}

// closesRow is closes that counts the rows of a constant too.
func (p *Pass) closesRow(mask *graph.Value, f numfmt.Format) bool {
	if t := walk.Constant(mask); t != nil {
		return spread.ClosedRow(t, func(x float64) bool { return -x >= f.OverflowAt() })
	}
	return p.closes(mask)
}

// maskRegion widens what a mask passes through up to the softmax.
func (p *Pass) maskRegion(v *graph.Value) []rewrite.Edit {
	var edits []rewrite.Edit
	seen := map[*graph.Value]bool{v: true}
	queue := []*graph.Value{v}
	for len(queue) > 0 && len(seen) < 100 {
		v, queue = queue[0], queue[1:]
		uses, _ := walk.Flow(v)
		for _, u := range uses {
			for _, o := range u.Node.Outputs {
				if o == nil || seen[o] || !o.Type.Float() || walk.Is(u.Node, "Softmax", "LogSoftmax") || !toSoftmax(o) {
					continue
				}
				seen[o] = true
				edits, queue = append(edits, rewrite.Widen{Value: o}), append(queue, o)
			}
		}
	}
	return edits
}

// checkMaskSum looks at masks that fit by themselves but not together: -65504 twice, or once with
// a score of -16 or less. A mask that is lost by itself has been reported.
func checkMaskSum(p *Pass, n *graph.Node) {
	deep := false
	for _, in := range n.Inputs {
		f, ok := p.low(in)
		r := p.Range(in)
		if !ok || !p.rests(in) {
			return
		}
		if m := walk.MakerOf(walk.Moved(walk.Plain(in)), "Add", "Sub"); r.Lo <= -f.OverflowAt() && (m == nil || !p.known(m, nil)) {
			return
		}
		deep = deep || p.deep(in)
	}
	e, ok := p.excessOf(n.Out(0))
	if !deep || !ok || !e.damage.Neg || e.damage.Pos {
		return
	}
	e.damage.Whole = p.harm.Closable(n.In(0), false) || p.harm.Closable(n.In(1), false) || e.evidence >= Observed
	e.carried = false
	p.overflowAt(n, e, true, "the sum with the mask")
	if last := p.last(n); last != nil && p.deep(n.In(0)) && p.deep(n.In(1)) {
		last.Message += p.hint(twoMasks)
	}
}

// deep tells whether a value reaches half of the way to the lowest number and not above 1.
func (p *Pass) deep(v *graph.Value) bool {
	f, ok := p.low(v)
	r := p.Range(v)
	return ok && r.Hi <= 1 && r.Lo <= -f.Max()/2
}
