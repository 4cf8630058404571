package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/spread"
	"github.com/amplint/amplint/rules/walk"
)

var crossEntropyInput = Rule{
	Name:  "cross-entropy-input",
	Title: "logarithm of a softmax or sigmoid that vanishes",
	Kind:  Underflow,
	Model: checkCrossEntropyInput,
}

func checkCrossEntropyInput(p *Pass) {
	for n := range p.Model.Nodes() {
		if walk.Is(n, "Log") && !p.known(n, nil) {
			if q := probability(p, n); q != nil {
				q.check(p)
			}
		}
	}
}

// chance is a probability whose logarithm is taken.
type chance struct {
	log    *graph.Node
	value  *graph.Value // what the logarithm is taken of
	prob   *graph.Value // the softmax or sigmoid
	logits *graph.Value
	soft   bool // softmax
	rest   bool // 1 - p
}

// probability returns what a logarithm is taken of where that is a softmax, a sigmoid or one minus
// such a value.
func probability(p *Pass, log *graph.Node) *chance {
	c := &chance{log: log, value: log.In(0)}
	c.prob = walk.Plain(log.In(0))
	if n := walk.MakerOf(c.prob, "Sub"); n != nil {
		if one, ok := walk.Scalar(n.In(0)); ok && one == 1 {
			c.prob, c.rest = walk.Plain(n.In(1)), true
		}
	}
	switch n := walk.Maker(c.prob); {
	case walk.Is(n, "Softmax"):
		c.logits, c.soft = n.In(0), true
	case walk.Is(n, "Sigmoid"):
		c.logits = n.In(0)
	case p.Patterns.Softmax(c.prob) != nil && p.Patterns.Softmax(c.prob).Input != nil:
		c.logits, c.soft = p.Patterns.Softmax(c.prob).Input, true
	default:
		return nil
	}
	return c
}

// check reports the probability where the logits range far enough for it to round to 0, or to 1
// where one minus it is taken.
func (c *chance) check(p *Pass) {
	format, ok := p.low(c.value)
	if !ok || !c.rest && format.ZeroAt() < numfmt.FP32.MinNormal() { // gone in FP32 as well
		return
	}
	e := Likely
	r := p.Range(c.logits)
	if q := p.reach.Of(c.logits); q.Level() == reach.Free || q.Level() > reach.Unreached && !c.soft {
		if in := (rangeprop.Range{Lo: q.Lo.At, Hi: q.Hi.At}); c.least(in) <= c.gone(format) {
			e, r = Witness, in
		}
	}
	least := c.least(r)
	if e == Likely && (!p.rests(c.logits) || !r.Bounded()) || least > c.gone(format) {
		return
	}
	f := p.at(c.log, c.log.Out(0))
	f.Limit, f.Evidence = c.gone(format), e
	if e == Witness {
		f.Consequence = consequence(p.harm.Of(c.log.Out(0), spread.Damage{Neg: true, Whole: true, Least: 10}))
	}
	f.Message = fmt.Sprintf("the probability comes down to %.5g where %s spans [%.5g, %.5g], which is 0 in %s; its logarithm is -Inf", least, c.logits.Name, r.Lo, r.Hi, format)
	switch {
	case c.rest:
		f.Message += p.hint(logOfRest)
	case !c.soft:
		f.Message += p.hint(logOfSigmoid)
	}
	f.Edits = c.edits()
	f.Occurrences = p.vanishesAt(c.value)
	p.report(f)
}

// least is how small the argument of the logarithm gets.
func (c *chance) least(r rangeprop.Range) float64 {
	switch {
	case c.soft:
		return math.Exp(r.Lo - r.Hi)
	case c.rest:
		return math.Exp(-math.Max(r.Hi, 0))
	}
	return math.Exp(math.Min(r.Lo, 0))
}

// gone is what counts as 0: a number that rounds to it, or 1 - p for a p that rounds to 1.
func (c *chance) gone(f numfmt.Format) float64 {
	if c.rest {
		return f.Unit() / 2
	}
	return f.ZeroAt()
}

func (c *chance) edits() []rewrite.Edit {
	edits := []rewrite.Edit{rewrite.Widen{Value: c.prob}}
	if c.value != c.prob {
		edits = append(edits, rewrite.Widen{Value: c.value})
	}
	return edits
}
