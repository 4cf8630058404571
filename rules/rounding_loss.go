package rules

import (
	"fmt"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/walk"
)

var roundingLoss = Rule{
	Name:  "rounding-loss",
	Title: "rounding a result spoils an output",
	Kind:  PrecisionLoss,
	Model: checkRoundingLoss,
}

// checkRoundingLoss reports what a run has shown of finite numbers and nothing explains: an output
// that is right only where these values are not held low.
func checkRoundingLoss(p *Pass) {
	s := p.Spoiled
	if s == nil || len(s.Values) == 0 {
		return
	}
	n, v := spoiler(s.Values)
	f := p.at(n, v)
	f.Input, f.Evidence, f.Consequence = s.Input, Witness, Silent
	format, _ := p.low(v)
	how := "rounded to " + format.String()
	if v == s.Values[0] && s.Most < format.MinNormal() {
		f.Kind, f.Limit = Underflow, format.MinNormal()
		how = fmt.Sprintf("at most %.5g, too small for %s", s.Most, format)
	}
	var others []string
	for _, w := range s.Values {
		f.Edits = append(f.Edits, rewrite.Widen{Value: w})
		if w != v {
			others = append(others, w.Name)
		}
	}
	what := v.Name
	if len(others) > 0 {
		what += " with " + strings.Join(others[:min(len(others), maxOthers)], ", ")
	}
	does := fmt.Sprintf("puts output %s off by %.2g of its largest value", s.Output, s.Error)
	if s.Whole {
		does = fmt.Sprintf("changes %.2g of the whole numbers in output %s", s.Error, s.Output)
	}
	f.Message = fmt.Sprintf("%s, %s, %s", what, how, does)
	p.report(f)
}

// maxOthers bounds the values that a message names beside the first.
const maxOthers = 3

// spoiler returns the first of the values that a node computes, and that node. Where all are inputs
// and constants it is the first reader of the first.
func spoiler(values []*graph.Value) (*graph.Node, *graph.Value) {
	for _, v := range values {
		if n := walk.Maker(v); n != nil && !walk.Is(n, "Constant") && walk.Constant(v) == nil {
			return n, v
		}
	}
	uses, _ := walk.Readers(values[0])
	if len(uses) == 0 {
		return walk.Maker(values[0]), values[0]
	}
	return uses[0].Node, values[0]
}
