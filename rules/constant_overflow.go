package rules

import (
	"fmt"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
)

var constantOverflow = Rule{
	Name:  "constant-overflow",
	Title: "constant is too large for the format",
	Kind:  Overflow,
	Model: checkConstantOverflow,
}

func checkConstantOverflow(p *Pass) {
	for v, s := range p.constants() {
		f, ok := p.low(v)
		if !ok || s.Overflow(f) == 0 || p.masks(v, s) {
			continue
		}
		c := p.lostConstant(v, s, f)
		if c.node == nil || c.harm == harmless && unbinding(c.node) {
			continue
		}
		find := c.finding(p)
		find.Message = fmt.Sprintf("%s, which is %s in %s (%s)%s", c.text(), p.shown(f, s.furthest()), f, edge(f, s.furthest()), consequenceText(find.Consequence))
		find.Edits = append([]rewrite.Edit{rewrite.Widen{Value: v}}, p.excessEdits(c.node)...)
		p.report(find)
	}
}

// lost is a constant that is another number in its format, and the reader it harms first.
type lost struct {
	value   *graph.Value
	stats   stats
	format  numfmt.Format
	node    *graph.Node // nil where nothing reads it
	also    []Place     // further readers that it harms
	through []*graph.Value
	harm    harm
}

// lostConstant finds where an overflowed constant does the most harm: at the first of its readers
// that it damages, or, where it damages none, at the first.
func (p *Pass) lostConstant(v *graph.Value, s stats, f numfmt.Format) lost {
	lo, hi := s.extremes()
	d := damage{pos: hi >= f.OverflowAt(), neg: -lo >= f.OverflowAt(), least: s.leastFrom(f.OverflowAt())}
	c := lost{value: v, stats: s, format: f}
	if n := v.Producer; is(n, "ConstantOfShape") {
		c.node, c.harm = n, p.harmOf(v, d)
		return c
	}
	if t := p.constant(v); t != nil {
		d.whole = closedRow(t, func(x float64) bool { return x >= f.OverflowAt() || -x >= f.OverflowAt() })
	}
	uses, through := readers(v)
	c.through = through
	for _, u := range uses {
		h := p.harmAt(u, d)
		switch {
		case c.node == nil:
			c.node, c.harm = u.Node, h
		case h > harmless && c.harm == harmless:
			c.node, c.harm = u.Node, h
		case h > harmless && u.Node != c.node:
			c.also = append(c.also, Place{u.Node, v})
		}
	}
	return c
}

// finding fills in what all findings on lost constants have in common.
func (c *lost) finding(p *Pass) Finding {
	lo, hi := c.stats.extremes()
	f := p.at(c.node, c.value)
	f.Range, f.Limit = rangeprop.Range{Lo: lo, Hi: hi}, c.format.Max()
	f.Evidence, f.Consequence = Constant, c.harm.consequence()
	f.Occurrences = c.also
	for _, w := range c.through {
		f.Consequences = append(f.Consequences, w.Key())
	}
	for _, key := range p.trail(c.value) {
		if !slices.Contains(f.Consequences, key) {
			f.Consequences = append(f.Consequences, key)
		}
	}
	return f
}

// text names the constant and says what stands in it.
func (c *lost) text() string {
	if c.stats.Count() == 1 {
		return fmt.Sprintf("%s is %.5g", c.value.Name, c.stats.furthest())
	}
	return fmt.Sprintf("%s holds %.5g", c.value.Name, c.stats.furthest())
}

// unbinding tells whether a node only compares with a constant or bounds by it: one past the
// format's limit then binds no number that the format holds.
func unbinding(n *graph.Node) bool {
	return is(n, "Clip", "Min", "Max", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")
}

// excessEdits widens the results of a node that pass the limit too.
func (p *Pass) excessEdits(n *graph.Node) []rewrite.Edit {
	var edits []rewrite.Edit
	for _, o := range n.Outputs {
		if o != nil && p.exceeds(o) {
			edits = append(edits, p.widened(o)...)
		}
	}
	return edits
}
