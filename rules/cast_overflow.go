package rules

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/walk"
)

var castOverflow = Rule{
	Name:  "cast-overflow",
	Title: "number does not fit the type it is cast to",
	Kind:  Overflow,
	Model: checkCastOverflow,
}

func checkCastOverflow(p *Pass) {
	for n := range p.Model.Nodes() {
		switch {
		case !walk.Is(n, "Cast", "CastLike"):
		case integerSum(n.In(0)):
			p.sumOverflow(n)
		default:
			p.plain(n, "the number")
		}
	}
}

// integerSum tells whether a value is a sum of products of 8-bit integers, which comes to tens of thousands
// in trained models as soon as it has some hundred terms, or that with a bias of integers.
func integerSum(v *graph.Value) bool {
	if n := walk.MakerOf(walk.Moved(v), "Add"); n != nil {
		return productOfIntegers(n.In(0)) || productOfIntegers(n.In(1))
	}
	return productOfIntegers(v)
}

func productOfIntegers(v *graph.Value) bool {
	return walk.MakerOf(walk.Moved(v), "MatMulInteger", "ConvInteger") != nil
}

// sumOverflow reports a sum of products of integers that is made a float before it is scaled. What follows
// is scaled to what it was before the model was quantised, whatever its bound: it stays low.
func (p *Pass) sumOverflow(n *graph.Node) {
	e, ok := p.rootOf(n.Out(0))
	if !ok || p.known(n, nil) {
		return
	}
	p.overflowAt(n, e, true, "the sum of integers")
	if f := p.last(n); f != nil && len(f.Edits) > 1 {
		f.Edits = f.Edits[:1]
	}
}
