package rules

import (
	"fmt"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/spread"
	"github.com/amplint/amplint/rules/walk"
)

var constantOverflow = Rule{
	Name:  "constant-overflow",
	Title: "constant is too large for the format",
	Kind:  Overflow,
	Model: checkConstantOverflow,
}

func checkConstantOverflow(p *Pass) {
	for v, s := range walk.Constants(p.Model) {
		f, ok := p.low(v)
		if !ok || s.Overflow(f) == 0 || p.masks(v, s) {
			continue
		}
		c := p.lostConstant(v, s, f)
		if c.node == nil || c.harm == spread.Harmless && unbinding(c.node) {
			continue
		}
		find := c.finding(p)
		find.Message = fmt.Sprintf("%s, which is %s in %s (%s)%s", c.text(), p.shown(f, s.Furthest()), f, edge(f, s.Furthest()), consequenceText(find.Consequence))
		find.Edits = append([]rewrite.Edit{rewrite.Widen{Value: v}}, p.excessEdits(c.node)...)
		p.report(find)
	}
}

// lost is a constant that is another number in its format, and the reader it harms first.
type lost struct {
	value   *graph.Value
	stats   walk.Stats
	format  numfmt.Format
	node    *graph.Node // nil where nothing reads it
	also    []Place     // further readers that it harms
	through []*graph.Value
	harm    spread.Harm
}

// lostConstant finds where an overflowed constant does the most harm: at the first of its readers
// that it damages, or, where it damages none, at the first.
func (p *Pass) lostConstant(v *graph.Value, s walk.Stats, f numfmt.Format) lost {
	lo, hi := s.Extremes()
	d := spread.Damage{Pos: hi >= f.OverflowAt(), Neg: -lo >= f.OverflowAt(), Least: s.LeastFrom(f.OverflowAt())}
	c := lost{value: v, stats: s, format: f}
	if n := v.Producer; walk.Is(n, "ConstantOfShape") {
		c.node, c.harm = n, p.harm.Of(v, d)
		return c
	}
	if t := walk.Constant(v); t != nil {
		d.Whole = spread.ClosedRow(t, func(x float64) bool { return x >= f.OverflowAt() || -x >= f.OverflowAt() })
	}
	uses, through := walk.Readers(v)
	c.through = through
	d.Whole = d.Whole && !lengthened(append(through, v))
	for _, u := range uses {
		h := p.harm.At(u, d)
		switch {
		case c.node == nil:
			c.node, c.harm = u.Node, h
		case h > spread.Harmless && c.harm == spread.Harmless:
			c.node, c.harm = u.Node, h
		case h > spread.Harmless && u.Node != c.node:
			c.also = append(c.also, Place{u.Node, v})
		}
	}
	return c
}

// lengthened tells whether a constant comes to its readers inside longer rows only, by the values that it moves through.
func lengthened(values []*graph.Value) bool {
	for _, v := range values {
		if uses, _ := walk.Flow(v); len(uses) == 1 && walk.Is(uses[0].Node, "Concat") && walk.Lengthens(uses[0]) {
			return true
		}
	}
	return false
}

// finding fills in what all findings on lost constants have in common.
func (c *lost) finding(p *Pass) Finding {
	lo, hi := c.stats.Extremes()
	f := p.at(c.node, c.value)
	f.Range, f.Limit = rangeprop.Range{Lo: lo, Hi: hi}, c.format.Max()
	f.Evidence, f.Consequence = Constant, consequence(c.harm)
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
		return fmt.Sprintf("%s is %.5g", c.value.Name, c.stats.Furthest())
	}
	return fmt.Sprintf("%s holds %.5g", c.value.Name, c.stats.Furthest())
}

// unbinding tells whether a node only compares with a constant or bounds by it: one past the
// format's limit then binds no number that the format holds.
func unbinding(n *graph.Node) bool {
	return walk.Is(n, "Clip", "Min", "Max", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")
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
