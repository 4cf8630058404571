package graph

import (
	"errors"
	"fmt"

	"github.com/amplint/amplint/graph/schema"
)

// maxProblems is how many problems an error of [Model.Check] lists.
const maxProblems = 5

// Check tells whether the model keeps to the standard: each domain is imported, each operator that
// the standard knows has as many inputs and outputs as it takes, of the types that it allows, and
// of one type where it wants one. The types must have been inferred; unknown ones are passed over.
// Names, scopes and order were checked when the model was read.
func (m *Model) Check() error {
	var problems []error
	for g := range m.Graphs() {
		for _, n := range g.Nodes {
			if err := n.check(); err != nil {
				problems = append(problems, n.wrap(err))
			}
		}
	}
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems], fmt.Errorf("%d more nodes like these", more))
	}
	return errors.Join(problems...)
}

func (n *Node) check() error {
	if n.Call != nil {
		return nil
	}
	if n.Version() == 0 {
		return fmt.Errorf("the model does not import the domain %q", n.Domain)
	}
	op, ok := schema.Lookup(n.Domain, n.Op, n.Version())
	if !ok {
		return nil // of another domain, or newer than the tables
	}
	if err := n.checkCount(op); err != nil {
		return err
	}
	bound := map[string]Type{}
	for i, v := range n.Inputs {
		if p, ok := op.Input(i); ok && v != nil {
			if err := checkType(p, v, bound); err != nil {
				return fmt.Errorf("input %d: %w", i, err)
			}
		}
	}
	for i, v := range n.Outputs {
		if p, ok := op.Output(i); ok && v != nil {
			if err := checkType(p, v, bound); err != nil {
				return fmt.Errorf("output %d: %w", i, err)
			}
		}
	}
	return nil
}

func (n *Node) checkCount(op *schema.Op) error {
	for i, p := range op.Inputs {
		if p.Option == schema.Single && n.In(i) == nil {
			return fmt.Errorf("input %d (%s) is missing", i, p.Name)
		}
	}
	if _, ok := op.Input(len(n.Inputs) - 1); len(n.Inputs) > 0 && !ok {
		return fmt.Errorf("%d inputs are too many", len(n.Inputs))
	}
	if _, ok := op.Output(len(n.Outputs) - 1); len(n.Outputs) > 0 && !ok {
		return fmt.Errorf("%d outputs are too many", len(n.Outputs))
	}
	return nil
}

// checkType holds a value against the parameter it is passed for. bound collects what the type
// variables of the operator stand for at this node.
func checkType(p schema.Param, v *Value, bound map[string]Type) error {
	t := v.Type
	if t.Kind != KindTensor || t.Elem == Undefined {
		return nil
	}
	if !p.AllowsElem(int32(t.Elem)) {
		return fmt.Errorf("%q has type %s, which %s does not allow", v.Name, t.Elem, p.Name)
	}
	if p.Heterogeneous {
		return nil
	}
	old, ok := bound[p.Type]
	if !ok {
		bound[p.Type] = t
	} else if old.Elem != t.Elem {
		return fmt.Errorf("%q has type %s where the node has %s", v.Name, t.Elem, old.Elem)
	}
	return nil
}
