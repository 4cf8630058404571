package rangeprop_test

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
)

// lowered returns the model with its floats stored in a lower format, all of them or, for "mixed", what
// half of the nodes compute.
func lowered(m *graph.Model, as string, rng *rand.Rand) (*graph.Model, error) {
	if _, err := infer.Run(m, infer.Options{}); err != nil {
		return nil, err
	}
	p := &rewrite.Plan{Target: numfmt.FP16, Chosen: true, KeepIO: func(*graph.Value) bool { return false }}
	switch as {
	case "fp16":
	case "bf16":
		p.Target = numfmt.BF16
	case "mixed":
		p.Leave = func(*graph.Node) bool { return rng.Intn(2) == 0 }
	default:
		return nil, fmt.Errorf("%q is none of fp16, bf16 and mixed", as)
	}
	low, _, err := p.Apply(m)
	return low, err
}

// probeStored runs a model as it is rewritten to 16 bits, wholly or in part, and holds it against its bounds.
func probeStored(t *testing.T, src, as string) {
	m, err := onnxtxt.Parse("test", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	p := newTrial(t, m, knobs{runs: 2 * len(patterns), climbs: 1, scale: 1, slack: slack, least: 1e-9})
	if p.m, err = lowered(m, as, p.rng); err != nil {
		t.Fatal(err)
	}
	p.tryAll()
}

// TestStored holds the bounds of the small models, and of the relations, in the formats that they are
// rewritten to: what is lost below FP16's least number is no hypothesis there, and a cast at the end
// brings nothing back.
func TestStored(t *testing.T) {
	all := models(t)
	for name, c := range allRelated() {
		all[name] = relatedModel(c.body)
	}
	for name, src := range all {
		for _, as := range []string{"fp16", "bf16", "mixed"} {
			t.Run(name+" "+as, func(t *testing.T) { probeStored(t, src, as) })
		}
	}
}

// tryAll runs a model whose inputs lie in [-4, 4], integers in [0, 1].
func (p *trial) tryAll() {
	for _, v := range p.m.Graph.Inputs {
		if v.Init != nil {
			continue
		}
		s, err := slotOf(v, nil, nil, rangeprop.InputRange{}, taken{ids: 1})
		if err != nil {
			p.t.Fatal(err)
		}
		if s.elem.IsFloat() {
			s.r = rangeprop.Range{Lo: -4, Hi: 4}
		}
		p.slots = append(p.slots, s)
	}
	if err := p.bound(); err != nil {
		p.t.Fatal(err)
	}
	run, err := p.runner(p.observe)
	if err != nil {
		p.t.Fatal(err)
	}
	for i := range p.runs / 4 {
		p.what = fmt.Sprintf("random input %d", i)
		p.run(run, p.random())
	}
	p.adversarial(run)
}
