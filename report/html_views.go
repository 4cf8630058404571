package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules"
)

// modelView is a model as the page shows it.
type modelView struct {
	*Model
	ID         string
	Filter     bool // before the findings
	Target     string
	Profile    *profileView
	Inputs     []inputView
	Findings   []findingView
	Suppressed []findingView
}

type inputView struct{ Name, Range, Basis, Note string }

// profileView holds the drawings of a model.
type profileView struct {
	Format          string
	Ranges, Weights template.HTML
	Tightest        []tightRow
	Formats         []formatRow
	Tensors         []tensorRow
	Values          int
	Count           int64 // of weights
}

type tensorRow struct {
	Name, Range           string
	Over, Zero, Subnormal int64
	Count                 int64
}

// findingView is a finding as the page shows it.
type findingView struct {
	*Finding
	ID, Place, Op, Repeated string
	Source                  string
	Evidence                string
	AlsoAt, Carries         []string
	Fixes                   []string
	Chain                   []stepView
	Suppressed              string // why, "" for one that counts
}

// stepView is a step of the chain of a finding, or a gap in it.
type stepView struct {
	Value, Op, Range, Factor string
	Grows                    bool // the bound at least doubles here
	Gap                      int  // steps left out
}

// The steps of a chain that the page shows: the first, and the last ones.
const (
	maxSteps  = 16
	growsFrom = 2.0
)

func (o *Options) modelView(m *Model, id string) modelView {
	v := modelView{Model: m, ID: id, Target: targetName(m)}
	for _, in := range m.Inputs {
		v.Inputs = append(v.Inputs, inputView{in.Name, span(in.Range), in.Basis, in.Note})
	}
	for i, f := range bySeverity(m.Findings) {
		v.Findings = append(v.Findings, o.findingView(m, f, fmt.Sprintf("%s-f%d", id, i+1)))
	}
	for i := range m.Suppressed {
		x := &m.Suppressed[i]
		f := o.findingView(m, &x.Finding, fmt.Sprintf("%s-s%d", id, i+1))
		f.Suppressed = justification(x)
		v.Suppressed = append(v.Suppressed, f)
	}
	if m.Profile != nil {
		v.Profile = viewProfile(m.Profile)
	}
	return v
}

func viewProfile(p *analyze.Profile) *profileView {
	v := &profileView{Format: p.Format.String(), Values: len(p.Values), Count: p.Weights.Count()}
	if len(p.Values) > 0 {
		v.Ranges, v.Tightest = rangeChart(p), tightest(p)
	}
	if v.Count > 0 {
		v.Weights, v.Formats = weightChart(p), formatRows(p)
	}
	for _, t := range p.Tensors {
		v.Tensors = append(v.Tensors, tensorRow{t.Name, span(Span{Number(t.Lo), Number(t.Hi)}), t.Over, t.Zero, t.Subnormal, t.Count})
	}
	return v
}

func (o *Options) findingView(m *Model, f *Finding, id string) findingView {
	v := findingView{Finding: f, ID: id, Place: f.Node.Key, Repeated: strings.TrimPrefix(repeated(f), ", "),
		Evidence: evidence(f), AlsoAt: bounded(otherPlaces(f)), Carries: bounded(f.Consequences), Fixes: bounded(fixes(f))}
	if f.Node.Key == "" {
		v.Place = f.valueKey()
	} else {
		v.Op = graph.OpName(f.Node.Domain, f.Node.Op)
	}
	if s := f.Source; s != nil {
		if s.File != "" {
			at := spot{slashed(s.File), s.Line}
			if mapped, ok := o.at(m, f); ok {
				at = mapped
			}
			v.Source = fmt.Sprintf("%s:%d", at.File, at.Line)
		}
		if s.Module != "" {
			v.Source = strings.TrimSpace(v.Source + " in " + s.Module)
		}
	}
	if m.Profile != nil {
		v.Chain = viewChain(m.Profile.Chains[f.valueKey()])
	}
	return v
}

// maxInList is how many names or edits the page lists in one finding.
const maxInList = 25

func bounded(list []string) []string {
	if len(list) <= maxInList {
		return list
	}
	return append(slices.Clone(list[:maxInList]), fmt.Sprintf("and %d more", len(list)-maxInList))
}

// viewChain shows the steps of a chain. One step alone says no more than the finding.
func viewChain(steps []analyze.ProfileStep) []stepView {
	if len(steps) < 2 {
		return nil
	}
	gap := max(len(steps)-maxSteps, 0)
	var list []stepView
	for i, s := range steps {
		switch {
		case i == 1 && gap > 0:
			list = append(list, stepView{Gap: gap})
			continue
		case i >= 1 && i <= gap:
			continue
		}
		v := stepView{Value: s.Value, Op: s.Op, Range: span(Span{Number(s.Range.Lo), Number(s.Range.Hi)}), Grows: s.Factor >= growsFrom}
		if s.Factor != 0 {
			v.Factor = fmt.Sprintf("× %.4g", s.Factor)
		}
		list = append(list, v)
	}
	return list
}

// ruleView is a rule that the findings of a page name.
type ruleView struct{ Name, Title, Text string }

// ruleViews explains the rules that occur, in the order of [rules.All].
func ruleViews(models []*Model) []ruleView {
	used := map[string]bool{}
	for _, m := range models {
		for _, f := range m.Findings {
			used[f.Rule] = true
		}
	}
	var list []ruleView
	for _, r := range rules.All() {
		if used[r.Name] {
			page, _ := rules.Page(r.Name)
			list = append(list, ruleView{r.Name, r.Title, opening(page, r.Title)})
		}
	}
	return list
}
