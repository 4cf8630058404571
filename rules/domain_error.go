package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

var domainError = Rule{
	Name:  "domain-error",
	Title: "argument outside of what a function is defined for",
	Kind:  NaN,
	Model: checkDomainError,
}

// checkDomainError runs for FP32 only: what has no result there is wrong in the model itself, not
// in how it is narrowed.
func checkDomainError(p *Pass) {
	if p.Target != numfmt.FP32 {
		return
	}
	for n := range p.Model.Nodes() {
		d, ok := domains[n.Op]
		if walk.Is(n, "Pow") {
			d, ok = powerDomain(n)
		}
		if ok && walk.Is(n, n.Op) && n.In(0) != nil && walk.Constant(n.In(0)) == nil && !p.known(n, nil) {
			checkDomain(p, n, d)
		}
	}
}

// inf is the end that a domain does not have.
var inf = math.Inf(1)

// domain is where a function has finite results.
type domain struct {
	rangeprop.Range
	open bool // the ends do not belong to it
	text string
}

var domains = map[string]domain{
	"Log":   {rangeprop.Range{Lo: 0, Hi: inf}, true, "the logarithm of 0 is -Inf and that of a negative number NaN"},
	"Sqrt":  {rangeprop.Range{Lo: 0, Hi: inf}, false, "the root of a negative number is NaN"},
	"Acos":  {rangeprop.Range{Lo: -1, Hi: 1}, false, "it is NaN beyond 1"},
	"Asin":  {rangeprop.Range{Lo: -1, Hi: 1}, false, "it is NaN beyond 1"},
	"Atanh": {rangeprop.Range{Lo: -1, Hi: 1}, true, "it is infinite at 1 and NaN beyond"},
	"Acosh": {rangeprop.Range{Lo: 1, Hi: inf}, false, "it is NaN below 1"},
}

// holds tells whether the range lies in the domain. An end that is open and infinite belongs to it.
func (d domain) holds(r rangeprop.Range) bool {
	if d.open {
		return r.Lo > d.Lo && (r.Hi < d.Hi || d.Hi == inf)
	}
	return d.Contains(r)
}

// powerDomain is where a power with a constant exponent has a finite result: a fraction needs a base
// that is not negative, a negative exponent one that is not 0.
func powerDomain(n *graph.Node) (domain, bool) {
	y, ok := walk.Scalar(n.In(1))
	switch {
	case !ok || y > 0 && y == math.Trunc(y) || y == 0:
		return domain{}, false
	case y > 0:
		return domain{rangeprop.Range{Lo: 0, Hi: inf}, false, "a power with a fraction as its exponent is NaN for a negative base"}, true
	}
	return domain{rangeprop.Range{Lo: 0, Hi: inf}, true, "a negative power of 0 is infinite"}, y != math.Trunc(y)
}

func checkDomain(p *Pass, n *graph.Node, d domain) {
	x := n.In(0)
	r := p.Range(x)
	if d.holds(r) || !p.rests(x) {
		return
	}
	f := p.at(n, n.Out(0))
	f.Range, f.Limit, f.Evidence = r, d.Lo, Likely
	if q := p.reach.Of(x); q.Level() > reach.Unreached && !d.holds(rangeprop.Range{Lo: q.Lo.At, Hi: q.Hi.At}) {
		f.Evidence, f.Consequence = Witness, Visible
		f.Range = rangeprop.Range{Lo: q.Lo.At, Hi: q.Hi.At}
	}
	f.Message = fmt.Sprintf("%s may be anywhere in %s: %s", x.Name, f.Range, d.text)
	p.report(f)
}
