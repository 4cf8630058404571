package rules

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/walk"
)

// finish orders the findings and joins those that are one hazard at several places.
func (p *Pass) finish() []Finding {
	slices.SortStableFunc(p.findings, func(a, b *located) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.rule, b.rule))
	})
	first := map[string]*located{}
	var list []*located
	for _, f := range p.findings {
		key := p.groupKey(f)
		if g := first[key]; g != nil {
			g.join(f)
			continue
		}
		first[key] = f
		f.Occurrences = append([]Place{{f.Node, f.Value}}, f.Occurrences...)
		list = append(list, f)
	}
	out := make([]Finding, len(list))
	for i, f := range list {
		if len(f.Occurrences) == 1 {
			f.Occurrences = nil
		}
		out[i] = f.Finding
	}
	return out
}

// groupKey is the same for one hazard in several layers: names that differ in their numbers only.
// What is merely not excluded is one finding for each operator. Defects of the model itself, in
// FP32, are put right one by one in its source.
func (p *Pass) groupKey(f *located) string {
	if f.Node == nil {
		return fmt.Sprint(f.Rule, "\x00", f.Value.Key())
	}
	key := []string{f.Rule, f.Kind.String(), f.Evidence.String(), f.Consequence, f.Severity.String(), f.Node.OpName()}
	switch {
	case f.Severity > Note && p.Target == numfmt.FP32:
		key = append(key, f.Node.Key(), strconv.Itoa(f.Node.Index))
	case f.Severity > Note:
		key = append(key, withoutNumbers(f.Node.Key()))
	}
	return strings.Join(key, "\x00")
}

func (f *located) join(g *located) {
	f.Occurrences = append(f.Occurrences, Place{g.Node, g.Value})
	f.Occurrences = append(f.Occurrences, g.Occurrences...)
	for _, c := range g.Consequences {
		if !slices.Contains(f.Consequences, c) {
			f.Consequences = append(f.Consequences, c)
		}
	}
	for _, e := range g.Edits {
		same := func(o rewrite.Edit) bool { return o.Describe() == e.Describe() }
		if !slices.ContainsFunc(f.Edits, same) {
			f.Edits = append(f.Edits, e)
		}
	}
}

// withoutNumbers leaves the numbers out of a name, as layers are counted, with the mark before
// them: exporters name the first of several nodes without one.
func withoutNumbers(s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			b = append(b, s[i])
			continue
		}
		if n := len(b); n > 0 && (b[n-1] == '_' || b[n-1] == '.') && (i == 0 || s[i-1] == b[n-1]) {
			b = b[:n-1]
		}
	}
	return string(b)
}

// fingerprint identifies a finding by its rule and the structure around its node: the operators of
// two steps back, of its readers, and which output it is. Names do not count, so a re-export with
// other names keeps it.
func (p *Pass) fingerprint(f *Finding) string {
	h := fnv.New64a()
	fmt.Fprint(h, f.Rule, "\x00", f.Kind)
	if f.Node == nil {
		if f.Value != nil {
			fmt.Fprint(h, "\x00", inputIndex(f.Value), f.Value.Type.String())
		}
		return fmt.Sprintf("%016x", h.Sum64())
	}
	for g := f.Node.Graph; g.Owner != nil; g = g.Outer() {
		fmt.Fprint(h, "\x00", g.Owner.OpName(), g.Attr)
	}
	fmt.Fprint(h, "\x00", shape(f.Node, 2), "\x00", p.sameBefore(f.Node))
	if f.Value != nil {
		fmt.Fprint(h, "\x00", f.Value.Index, f.Value.Producer == f.Node)
		uses, _ := walk.Flow(f.Value)
		for _, u := range uses {
			fmt.Fprint(h, "\x00", u.Node.OpName(), u.Index)
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// shape writes a node as the operators it is computed by, some steps back.
func shape(n *graph.Node, steps int) string {
	var b strings.Builder
	b.WriteString(n.OpName())
	b.WriteByte('(')
	for i, v := range n.Inputs {
		if i > 0 {
			b.WriteByte(',')
		}
		switch m := walk.Maker(v); {
		case v == nil:
		case m == nil:
			b.WriteString(v.Type.Elem.String())
		case steps == 0:
			b.WriteString(m.OpName())
		default:
			b.WriteString(shape(m, steps-1))
		}
	}
	b.WriteByte(')')
	return b.String()
}

// sameBefore counts the nodes of the same operator before this one in its graph, which tells apart
// places of one structure.
func (p *Pass) sameBefore(n *graph.Node) int {
	count := 0
	for _, m := range n.Graph.Nodes[:n.Index] {
		if m.Op == n.Op && m.Domain == n.Domain {
			count++
		}
	}
	return count
}

func inputIndex(v *graph.Value) int { return slices.Index(v.Graph.Inputs, v) }
