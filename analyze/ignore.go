package analyze

import (
	"fmt"
	"slices"
	"time"

	"github.com/amplint/amplint/baseline"
	"github.com/amplint/amplint/config"
	"github.com/amplint/amplint/rules"
	"github.com/amplint/amplint/rules/runtime"
)

// LoadConfig reads a config file. Errors show the place.
func LoadConfig(path string) (*config.Config, error) {
	return config.Load(path, config.Words{Targets: targetNames, Thresholds: thresholdNames, Rules: ruleNames(), Runtimes: runtime.Names()})
}

func ruleNames() []string {
	var list []string
	for _, r := range rules.All() {
		list = append(list, r.Name)
	}
	return list
}

// sift sets the severities of the config and puts aside the findings it ignores. Ignores that match
// nothing are noted: what they were for is gone, and so should they be.
func (r *Report) sift(found []rules.Finding, c *config.Config) {
	r.Findings = []rules.Finding{}
	if c == nil {
		c = &config.Config{}
	}
	used := make([]bool, len(c.Ignore))
	for _, f := range found {
		if level, ok := rules.ParseSeverity(c.Rules[f.Rule]); ok {
			f.Severity = level
		}
		if i := ignoredBy(c, f); i >= 0 {
			used[i] = true
			r.Suppressed = append(r.Suppressed, Suppressed{f, "config", c.Ignore[i].Reason, c.Ignore[i].Until})
			continue
		}
		r.Findings = append(r.Findings, f)
	}
	for i := range c.Ignore {
		if !used[i] && !c.Ignore[i].Lapsed(time.Now()) {
			r.Missed = append(r.Missed, fmt.Sprintf("%s: %s: matches no finding", c.Path, &c.Ignore[i]))
		}
	}
	r.count()
}

// ignoredBy returns the first ignore that a finding falls under, -1 for none.
func ignoredBy(c *config.Config, f rules.Finding) int {
	node, value := "", ""
	if f.Node != nil {
		node = f.Node.Key()
	}
	if f.Value != nil {
		value = f.Value.Key()
	}
	return slices.IndexFunc(c.Ignore, func(ig config.Ignore) bool {
		return !ig.Lapsed(time.Now()) && ig.Matches(f.Rule, node, value)
	})
}

// forgive puts aside the findings that a baseline has. Those it has and the model no longer are noted.
func (r *Report) forgive(s *baseline.Set) {
	known := s.Of(r.Path)
	kept := []rules.Finding{}
	for _, f := range r.Findings {
		if known.Take(f.Fingerprint, f.Severity) {
			r.Suppressed = append(r.Suppressed, Suppressed{Finding: f, By: "baseline"})
			continue
		}
		kept = append(kept, f)
	}
	r.Findings = kept
	for _, e := range known.Gone() {
		r.Notes = append(r.Notes, fmt.Sprintf("baseline: gone: %s; amplint baseline write forgets it", e))
	}
	r.count()
}

// count brings the summary up to date with the findings.
func (r *Report) count() {
	s := &r.Summary
	s.Errors, s.Warnings, s.Notes, s.Ignored, s.Known = 0, 0, 0, 0, 0
	for _, f := range r.Findings {
		switch f.Severity {
		case rules.Error:
			s.Errors++
		case rules.Warning:
			s.Warnings++
		default:
			s.Notes++
		}
	}
	for _, f := range r.Suppressed {
		if f.By == "baseline" {
			s.Known++
			continue
		}
		s.Ignored++
	}
}
