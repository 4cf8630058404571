package analyze

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/amplint/amplint/config"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules"
)

// planSchema names the format of plan files.
const planSchema = "amplint.plan/1"

// PlanFile is a plan as a file holds it: what fix would do, to be read, changed and carried out again.
type PlanFile struct {
	Schema       string      `yaml:"schema"`
	Model        string      `yaml:"model"` // for the reader only
	Target       string      `yaml:"target"`
	Strategy     string      `yaml:"strategy"`
	KeepIO       any         `yaml:"keep-io-types"` // true, false or a list of names
	NarrowDouble bool        `yaml:"narrow-double"`
	Include      []string    `yaml:"include,omitempty"`
	Exclude      []string    `yaml:"exclude,omitempty"`
	Rounds       []PlanRound `yaml:"rounds"`
}

// PlanRound is the edits of one round. The first has the strategy of the plan; each later one repairs
// the result of the one before, whose values and nodes it names.
type PlanRound struct {
	Edits []PlanEdit `yaml:"edits"`
}

// PlanEdit is one edit. Value and Node are keys; which fields count depends on Do.
type PlanEdit struct {
	Do    string   `yaml:"do"` // widen, to-bf16, keep-fp32, rescale, rescale-square, rebalance, replace, unquantize, quantize, clamp, set-const, set-attr
	Value string   `yaml:"value,omitempty"`
	Node  string   `yaml:"node,omitempty"`
	Input *int     `yaml:"input,omitempty"`
	Scale *float64 `yaml:"scale,omitempty"`
	Lo    *float64 `yaml:"lo,omitempty"`
	Hi    *float64 `yaml:"hi,omitempty"`
	From  *float64 `yaml:"from,omitempty"`
	To    *float64 `yaml:"to,omitempty"`
	Attr  string   `yaml:"attr,omitempty"`
	Int   *int64   `yaml:"int,omitempty"`
	Float *float32 `yaml:"float,omitempty"`
	// Behind is the node with the scale of a rescale, or the second one of a rebalance, Power that of two.
	Behind string       `yaml:"behind,omitempty"`
	Power  *int         `yaml:"power,omitempty"`
	Op     string       `yaml:"op,omitempty"` // of a replace, with what it is given
	Inputs []string     `yaml:"inputs,omitempty"`
	Attrs  []PlanAttr   `yaml:"attrs,omitempty"`
	Consts []PlanTensor `yaml:"constants,omitempty"`
	Why    string       `yaml:"why,omitempty"` // for the reader only
}

// LoadPlan reads a plan file. Fields that it does not know are refused: they would be passed over.
func LoadPlan(path string) (*PlanFile, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := &PlanFile{}
	if err := config.DecodeYAML(b, p); err != nil {
		return nil, usagef("%s: %s", path, err)
	}
	switch {
	case p.Schema != planSchema:
		return nil, usagef("%s: the schema is %q, not %s", path, p.Schema, planSchema)
	case p.Strategy != "mixed" && p.Strategy != "repair" && p.Strategy != "weights":
		return nil, usagef("%s: the strategy %q is none of mixed, repair and weights", path, p.Strategy)
	}
	for i, round := range p.Rounds {
		for k, e := range round.Edits {
			if e.Do == "quantize" && (i > 0 || !strings.HasPrefix(p.Target, "fp8")) {
				return nil, usagef("%s: round %d, edit %d: quantize goes with a target of 8 bits and its first round", path, i+1, k+1)
			}
		}
	}
	return p, nil
}

// Save writes the plan.
func (p *PlanFile) Save(path string) error {
	return WriteFile(path, func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, "# what amplint fix would do; change it and run fix with --plan again\n"); err != nil {
			return err
		}
		return yaml.NewEncoder(w, yaml.IndentSequence(true)).Encode(p)
	})
}

// newPlanFile records what a fix is asked for; the rounds follow as they come.
func newPlanFile(path string, plan *rewrite.Plan, opt *FixOptions) *PlanFile {
	p := &PlanFile{Schema: planSchema, Model: path, Target: plan.Target.String(), Strategy: strategyName(plan.Strategy), KeepIO: true,
		NarrowDouble: plan.NarrowDouble, Include: opt.Include, Exclude: opt.Exclude, Rounds: []PlanRound{}}
	switch {
	case opt.KeepNames != nil:
		p.KeepIO = opt.KeepNames
	case opt.KeepIO != nil:
		p.KeepIO = false
	}
	return p
}

// note adds a round; each edit stands beside the finding that asked for it.
func (p *PlanFile) note(edits []rewrite.Edit, from []rules.Finding) {
	why := map[string]string{}
	for _, f := range slices.Backward(from) { // the first finding is the reason
		for _, e := range f.Edits {
			why[e.Describe()] = f.Rule + ": " + f.Message
		}
	}
	round := PlanRound{Edits: []PlanEdit{}}
	for _, e := range edits {
		x := planEdit(e)
		x.Why = why[e.Describe()]
		round.Edits = append(round.Edits, x)
	}
	p.Rounds = append(p.Rounds, round)
}

func planEdit(e rewrite.Edit) PlanEdit {
	switch e := e.(type) {
	case rewrite.Widen:
		return PlanEdit{Do: "widen", Value: e.Value.Key()}
	case rewrite.KeepFP32:
		return PlanEdit{Do: "keep-fp32", Node: e.Node.Key()}
	case rewrite.ToBF16:
		return PlanEdit{Do: "to-bf16", Value: e.Value.Key()}
	case rewrite.Rescale:
		return PlanEdit{Do: "rescale", Node: e.Product.Key(), Behind: e.Scale.Key(), Power: &e.Power}
	case rewrite.RescaleSquare:
		return PlanEdit{Do: "rescale-square", Node: e.Square.Key(), Power: &e.Power}
	case rewrite.Rebalance:
		return PlanEdit{Do: "rebalance", Node: e.First.Key(), Behind: e.Second.Key(), Power: &e.Power}
	case rewrite.Replace:
		return replaceEdit(e)
	case rewrite.Unquantize:
		return PlanEdit{Do: "unquantize", Value: e.Value.Key()}
	case rewrite.Quantize:
		return PlanEdit{Do: "quantize", Node: e.Node.Key(), Input: &e.Input, Scale: &e.Scale}
	case rewrite.Clamp:
		return PlanEdit{Do: "clamp", Value: e.Const.Key(), Lo: &e.Lo, Hi: &e.Hi}
	case rewrite.SetConst:
		return PlanEdit{Do: "set-const", Value: e.Const.Key(), From: &e.From, To: &e.To}
	case rewrite.SetAttr:
		x := PlanEdit{Do: "set-attr", Node: e.Node.Key(), Attr: e.Name, Int: &e.Value.I}
		if e.Value.Type == graph.AttrFloat {
			x.Int, x.Float = nil, &e.Value.F
		}
		return x
	}
	return PlanEdit{Do: e.Describe()}
}

// edits turns the edits of a round into those of a model.
func (r *PlanRound) edits(m *graph.Model) ([]rewrite.Edit, error) {
	values, nodes := map[string]*graph.Value{}, map[string]*graph.Node{}
	for g := range m.Graphs() {
		for _, v := range g.Values {
			values[v.Key()] = v
		}
		for _, n := range g.Nodes {
			nodes[n.Key()] = n
		}
	}
	var list []rewrite.Edit
	for i, x := range r.Edits {
		v, n := values[x.Value], nodes[x.Node]
		e := x.of(v, n)
		if e == nil {
			e = x.structural(values, nodes)
		}
		switch {
		case x.Value != "" && v == nil:
			return nil, usagef("plan: edit %d (%s): the model has no value %q", i+1, x.Do, x.Value)
		case x.Node != "" && n == nil:
			return nil, usagef("plan: edit %d (%s): the model has no node %q", i+1, x.Do, x.Node)
		case e == nil:
			return nil, usagef("plan: edit %d: %q with these fields is no edit", i+1, x.Do)
		}
		if c, ok := e.(rewrite.Clamp); ok && !(c.Lo <= c.Hi) {
			return nil, usagef("plan: edit %d (clamp): lo %g is above hi %g", i+1, c.Lo, c.Hi)
		}
		list = append(list, e)
	}
	return list, nil
}

// of makes the edit, nil where a field is missing.
func (x *PlanEdit) of(v *graph.Value, n *graph.Node) rewrite.Edit {
	switch {
	case x.Do == "widen" && v != nil:
		return rewrite.Widen{Value: v}
	case x.Do == "to-bf16" && v != nil:
		return rewrite.ToBF16{Value: v}
	case x.Do == "unquantize" && v != nil:
		return rewrite.Unquantize{Value: v}
	case x.Do == "keep-fp32" && n != nil:
		return rewrite.KeepFP32{Node: n}
	case x.Do == "rescale-square" && n != nil && x.Power != nil:
		return rewrite.RescaleSquare{Square: n, Power: *x.Power}
	case x.Do == "quantize" && n != nil && x.Input != nil && x.Scale != nil:
		return rewrite.Quantize{Node: n, Input: *x.Input, Scale: *x.Scale}
	case x.Do == "clamp" && v != nil && x.Lo != nil && x.Hi != nil:
		return rewrite.Clamp{Const: v, Lo: *x.Lo, Hi: *x.Hi}
	case x.Do == "set-const" && v != nil && x.From != nil && x.To != nil:
		return rewrite.SetConst{Const: v, From: *x.From, To: *x.To}
	case x.Do == "set-attr" && n != nil && x.Attr != "" && x.Int != nil:
		return rewrite.SetInt(n, x.Attr, *x.Int)
	case x.Do == "set-attr" && n != nil && x.Attr != "" && x.Float != nil:
		return rewrite.SetFloat(n, x.Attr, *x.Float)
	}
	return nil
}

// plan makes the plan of the file, without edits.
func (p *PlanFile) plan() (*rewrite.Plan, Target, error) {
	t, err := ParseTarget(p.Target)
	if err != nil || t == Auto || t == AsIs {
		return nil, t, usagef("plan: the target %q is no format", p.Target)
	}
	plan := &rewrite.Plan{Target: t.format(), NarrowDouble: p.NarrowDouble}
	switch p.Strategy {
	case "repair":
		plan.Strategy, t = rewrite.Repair, AsIs
	case "weights":
		plan.Strategy, t = rewrite.Weights, AsIs
	}
	switch keep := p.KeepIO.(type) {
	case bool:
		if !keep {
			plan.KeepIO = func(*graph.Value) bool { return false }
		}
	case []any:
		plan.KeepIO = func(v *graph.Value) bool { return slices.Contains(keep, any(v.Name)) }
	default:
		return nil, t, usagef("plan: keep-io-types is neither true, false nor a list of names")
	}
	return plan, t, nil
}
