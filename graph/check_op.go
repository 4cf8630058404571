package graph

import (
	"fmt"

	"github.com/amplint/amplint/graph/schema"
)

// operator checks a node against the operator that its opset has.
func (c *checker) operator(n *Node, where string) {
	if n.Op == "" {
		c.errorf("%sno operator", where)
		return
	}
	version := n.Version()
	if version == 0 && (n.Domain != "" || c.m.IRVersion >= 3) {
		c.errorf("%sthe model does not import the domain %q", where, n.Domain)
		return
	}
	if c.functions[functionKey(n.Domain, n.Op, n.Overload)] {
		return
	}
	op, ok := schema.Lookup(n.Domain, n.Op, max(version, 1))
	switch {
	case !ok && (n.Domain == "" || n.Domain == "ai.onnx.ml"): // of other domains nobody has all operators
		c.errorf("%sopset %d has no such operator", where, version)
	case !ok:
	case op.Deprecated:
		c.errorf("%sit was removed in opset %d", where, op.Since)
	default:
		c.signature(n, op, where)
		c.types(n, where)
	}
}

// signature checks the number of inputs and outputs and the names of attributes.
func (c *checker) signature(n *Node, op *schema.Op, where string) {
	for i, p := range op.Inputs {
		if p.Option == schema.Single && n.In(i) == nil {
			c.errorf("%sinput %d (%s) is missing", where, i, p.Name)
		}
	}
	if _, ok := op.Input(len(n.Inputs) - 1); len(n.Inputs) > 0 && !ok {
		c.errorf("%s%d inputs are too many", where, len(n.Inputs))
	}
	if _, ok := op.Output(len(n.Outputs) - 1); len(n.Outputs) > 0 && !ok {
		c.errorf("%s%d outputs are too many", where, len(n.Outputs))
	}
	for _, a := range n.Attrs {
		if _, ok := op.Attr(a.Name); !ok && !op.Vendor { // the vendor's lists are not complete
			c.errorf("%s%s-%d has no attribute %q", where, op.Name, op.Since, a.Name)
		}
	}
}

// types checks the types of a node's inputs and outputs, as far as they are known.
func (c *checker) types(n *Node, where string) {
	op, ok := schema.Lookup(n.Domain, n.Op, n.Version())
	if !ok {
		return
	}
	bound := map[string]Type{}
	check := func(kind string, values []*Value, param func(int) (schema.Param, bool)) {
		for i, v := range values {
			if p, ok := param(i); ok && v != nil {
				if err := checkType(p, v, bound); err != nil {
					c.errorf("%s%s %d: %w", where, kind, i, err)
				}
			}
		}
	}
	check("input", n.Inputs, op.Input)
	check("output", n.Outputs, op.Output)
}

// Mixed returns an error that names the first node whose operands are of two types where the operator
// wants one, nil where there is none.
func (m *Model) Mixed() error {
	for n := range m.Nodes() {
		c := &checker{m: m}
		c.types(n, "")
		if len(c.errs) > 0 {
			return fmt.Errorf("node %q (%s): %w", n.Key(), n.OpName(), c.errs[0])
		}
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
