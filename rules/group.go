package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
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
	prints := map[string]int{}
	for i, f := range list {
		if prints[f.Fingerprint]++; prints[f.Fingerprint] > 1 { // two hazards of one rule at one place
			f.Fingerprint = hashed(f.Fingerprint, strconv.Itoa(prints[f.Fingerprint]))
		}
		if len(f.Occurrences) == 1 {
			f.Occurrences = nil
		}
		out[i] = f.Finding
	}
	return out
}

// groupKey is the same for one hazard in several layers: names of nodes and modules that differ in
// their numbers only.
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
		key = append(key, withoutNumbers(f.Node.Key()), withoutNumbers(f.Source.Module))
	}
	return strings.Join(key, "\x00")
}

func (f *located) join(g *located) {
	f.Occurrences = append(f.Occurrences, Place{g.Node, g.Value})
	f.Occurrences = append(f.Occurrences, g.Occurrences...)
	if f.told == nil {
		f.told = map[string]bool{}
		f.tell(&f.Finding)
	}
	edits, consequences := f.tell(&g.Finding)
	f.Edits, f.Consequences = append(f.Edits, edits...), append(f.Consequences, consequences...)
}

// tell returns the edits and consequences of a finding that were not told of before.
func (f *located) tell(g *Finding) (edits []rewrite.Edit, consequences []string) {
	fresh := func(key string) bool {
		was := f.told[key]
		f.told[key] = true
		return !was
	}
	for _, e := range g.Edits {
		if fresh("edit " + e.Describe()) {
			edits = append(edits, e)
		}
	}
	for _, c := range g.Consequences {
		if fresh("value " + c) {
			consequences = append(consequences, c)
		}
	}
	return edits, consequences
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
