package analyze

import (
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules"
)

// ways are how --prefer may have a finding fixed.
var ways = []string{"widen", "bf16", "rescale", "replace", "clamp", "epsilon"}

// ParseWays reads a value of --prefer.
func ParseWays(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	list := strings.Split(s, ",")
	for _, way := range list {
		if !slices.Contains(ways, way) {
			return nil, usagef("--prefer: %q is none of %s", way, strings.Join(ways, ", "))
		}
	}
	return list, nil
}

// chooser fixes findings in the way that is preferred, where it is possible.
type chooser struct {
	*analysis
	patterns *pattern.Set
	target   numfmt.Format
	order    []string
	unsafe   bool // ways that change FP32 results are allowed
}

func (a *analysis) chooser(plan *rewrite.Plan, opt *FixOptions) *chooser {
	c := &chooser{analysis: a, target: plan.Target, order: opt.Prefer, unsafe: opt.AllowUnsafe}
	if len(c.order) > 0 {
		c.patterns = pattern.Find(a.model)
		c.asFP32()
	}
	return c
}

// asFP32 has what is chosen rest on the bounds of a model in FP32. What overflows in the file is infinite
// in its own bounds, and no power of two helps against that.
func (c *chooser) asFP32() {
	if lowest(c.model) == numfmt.FP32 {
		return
	}
	if r := rules.AsFP32(c.ranges); r != nil {
		wide := *c.analysis
		wide.ranges, c.analysis = r, &wide
	}
}

// edits returns the edits that fix a finding at all its places: those of the first way that can, or
// else its own.
func (c *chooser) edits(f rules.Finding) []rewrite.Edit {
	for _, way := range c.order {
		if way == "widen" && widens(f.Edits) {
			return f.Edits
		}
		if way == "bf16" && f.Kind == rules.Overflow && widens(f.Edits) && c.target == numfmt.FP16 {
			return inBF16(f.Edits)
		}
		if e := c.everywhere(way, f); e != nil {
			return e
		}
	}
	return f.Edits
}

func widens(edits []rewrite.Edit) bool {
	return slices.ContainsFunc(edits, func(e rewrite.Edit) bool { _, ok := e.(rewrite.Widen); return ok })
}

func inBF16(edits []rewrite.Edit) []rewrite.Edit {
	list := slices.Clone(edits)
	for i, e := range list {
		if w, ok := e.(rewrite.Widen); ok {
			list[i] = rewrite.ToBF16(w)
		}
	}
	return list
}

// everywhere returns an edit for each place of a finding, nil where there is none for one of them.
func (c *chooser) everywhere(way string, f rules.Finding) (list []rewrite.Edit) {
	places := f.Places()
	for _, p := range places {
		e := c.edit(way, f.Rule, p)
		if e == nil && feeds(p, places) {
			continue
		}
		if e == nil {
			return nil
		}
		list = append(list, e)
	}
	return list
}

// feeds tells whether a place only makes what the node of another one reads: what is done there does
// for both.
func feeds(p rules.Place, places []rules.Place) bool {
	return slices.ContainsFunc(places, func(o rules.Place) bool {
		return o.Node != nil && o.Node != p.Node && p.Value != nil && slices.Contains(o.Node.Inputs, p.Value)
	})
}

func (c *chooser) edit(way, rule string, p rules.Place) rewrite.Edit {
	switch {
	case p.Node == nil || p.Value == nil, insideCall(p.Node.Graph): // a function is not taken apart for it
		return nil
	case way == "rescale":
		return c.rescaledFor(rule, p.Node)
	case way == "replace":
		return c.replaced(p)
	case way == "clamp" && rule == "mask-constant" && p.Value.Const != nil:
		return rewrite.Clamp{Const: p.Value, Lo: -maskDepth, Hi: c.target.Max()}
	case way == "epsilon" && rule == "tiny-epsilon" && c.unsafe:
		return c.raised(p.Value)
	}
	return nil
}

func insideCall(g *graph.Graph) bool {
	for ; g != nil; g = g.Outer() {
		if g.Kind == graph.CallGraph {
			return true
		}
	}
	return false
}

// maskDepth is how far below zero a clamped mask reaches: exp(-16384) is 0 in every format.
const maskDepth = 16384

// raised makes an epsilon the least normal number of the target.
func (c *chooser) raised(v *graph.Value) rewrite.Edit {
	x, ok := single(v)
	if !ok {
		return nil
	}
	return rewrite.SetConst{Const: v, From: x, To: c.target.MinNormal()}
}

func single(v *graph.Value) (x float64, ok bool) {
	if v == nil || v.Const == nil || v.Const.Len() != 1 {
		return 0, false
	}
	list, err := v.Const.Float64s()
	return list[0], err == nil
}
