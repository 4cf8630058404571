package schema

import "slices"

// Op is one version of one operator.
type Op struct {
	Domain, Name string
	Since        int64
	Deprecated   bool
	Function     bool // the standard defines it by a function body
	Vendor       bool // not of the standard: onnxruntime's
	Inputs       []Param
	Outputs      []Param
	Constraints  []Constraint
	Attrs        []Attr
}

// Option says how often a parameter occurs.
type Option uint8

// A parameter occurs exactly once, may be left out, or stands for all that follow.
const (
	Single Option = iota
	Optional
	Variadic
)

// Param is an input or output of an operator.
type Param struct {
	Name          string
	Type          string // the variable of a constraint, or a concrete type as the standard spells it
	Types         []Type // what is allowed
	Option        Option
	Heterogeneous bool // the values of a variadic parameter may differ in type
	MinArity      int  // the least number of values: 1, 0 for Optional, any for Variadic
}

// Constraint lists the types that a type variable may stand for.
type Constraint struct {
	Name  string
	Types []Type
}

// Input returns the parameter of the i-th input; the last one repeats when it is variadic.
func (o *Op) Input(i int) (Param, bool) { return at(o.Inputs, i) }

// Output returns the parameter of the i-th output; the last one repeats when it is variadic.
func (o *Op) Output(i int) (Param, bool) { return at(o.Outputs, i) }

func at(params []Param, i int) (Param, bool) {
	last := len(params) - 1
	switch {
	case i < 0 || last < 0:
		return Param{}, false
	case i <= last:
		return params[i], true
	}
	return params[last], params[last].Option == Variadic
}

// Attr returns the attribute of that name.
func (o *Op) Attr(name string) (Attr, bool) {
	for _, a := range o.Attrs {
		if a.Name == name {
			return a, true
		}
	}
	return Attr{}, false
}

// Constraint returns the types that a type variable may stand for, nil for an unknown one.
func (o *Op) Constraint(variable string) []Type {
	for _, c := range o.Constraints {
		if c.Name == variable {
			return c.Types
		}
	}
	return nil
}

// Allows reports whether the parameter may have type t.
func (p Param) Allows(t Type) bool { return slices.Contains(p.Types, t) }

// AllowsElem reports whether the parameter may hold elements of that type, in a tensor or in any other kind.
func (p Param) AllowsElem(elem int32) bool {
	return slices.ContainsFunc(p.Types, func(t Type) bool { return t.Elem == elem })
}

// PinnedFloat reports whether the parameter takes FLOAT but neither FLOAT16 nor BFLOAT16.
func (p Param) PinnedFloat() bool {
	return p.AllowsElem(Float) && !p.AllowsElem(Float16) && !p.AllowsElem(BFloat16)
}

// Allows reports whether the parameter, one of the operator's, may have type t.
func (o *Op) Allows(p Param, t Type) bool { return p.Allows(t) }

// AllowsElem reports whether input i may hold elements of that type.
func (o *Op) AllowsElem(i int, elem int32) bool {
	p, ok := o.Input(i)
	return ok && p.AllowsElem(elem)
}

// OutputAllowsElem reports whether output i may hold elements of that type.
func (o *Op) OutputAllowsElem(i int, elem int32) bool {
	p, ok := o.Output(i)
	return ok && p.AllowsElem(elem)
}

// PinnedFloat reports whether input i takes FLOAT but neither FLOAT16 nor BFLOAT16 (the scales of Resize).
func (o *Op) PinnedFloat(i int) bool {
	p, ok := o.Input(i)
	return ok && p.PinnedFloat()
}

// OutputPinnedFloat reports whether output i yields FLOAT but neither FLOAT16 nor BFLOAT16.
func (o *Op) OutputPinnedFloat(i int) bool {
	p, ok := o.Output(i)
	return ok && p.PinnedFloat()
}

// OutputType returns the type of output i for inputs of the types in (zero where unknown or left out): the one
// its type variable is bound to by an input, or the only one it may have. It is false where that leaves a
// choice: an attribute decides (Cast, Constant), or a subgraph (If, Loop), or the element of a container
// (SequenceAt).
func (o *Op) OutputType(i int, in []Type) (Type, bool) {
	out, ok := o.Output(i)
	if !ok {
		return Type{}, false
	}
	if len(out.Types) == 1 {
		return out.Types[0], true
	}
	if out.Heterogeneous {
		return Type{}, false
	}
	return o.bound(out.Type, in)
}

// bound returns the type of the first known input that the variable types. The constraint is not consulted: a
// model that breaks it is for the checker to report, and the type still flows.
func (o *Op) bound(variable string, in []Type) (Type, bool) {
	for i, t := range in {
		p, ok := o.Input(i)
		if ok && t.Kind != NoKind && p.Type == variable && !p.Heterogeneous {
			return t, true
		}
	}
	return Type{}, false
}
