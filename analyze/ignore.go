package analyze

import (
	"fmt"
	"path"
	"time"

	"github.com/amplint/amplint/rules"
)

// disabled returns the rules that the config turns off.
func (c *Config) disabled() map[string]bool {
	off := map[string]bool{}
	if c != nil {
		for name, l := range c.Rules {
			off[name] = l == "off"
		}
	}
	return off
}

// apply sets the severities of the config and puts aside the findings it ignores. Ignores that match
// nothing are noted: what they were for is gone, and so should they be.
func (c *Config) apply(found []rules.Finding, r *Report) []rules.Finding {
	kept := []rules.Finding{}
	if c == nil {
		return append(kept, found...)
	}
	used := make([]bool, len(c.Ignore))
	for _, f := range found {
		if i := c.ignoredBy(f); i >= 0 {
			used[i] = true
			r.Summary.Ignored++
			r.Suppressed = append(r.Suppressed, Suppressed{f, "config", c.Ignore[i].Reason, c.Ignore[i].Until})
			continue
		}
		if s, ok := severities[c.Rules[f.Rule]]; ok {
			f.Severity = s
		}
		kept = append(kept, f)
	}
	for i, ig := range c.Ignore {
		if !used[i] {
			r.Notes = append(r.Notes, fmt.Sprintf("config: ignore %d (rule %q, node %q, value %q) matches nothing%s", i+1, ig.Rule, ig.Node, ig.Value, ig.lapsed()))
		}
	}
	return kept
}

var severities = map[level]rules.Severity{"note": rules.Note, "warning": rules.Warning, "error": rules.Error}

// ignoredBy returns the first entry that a finding falls under, -1 for none.
func (c *Config) ignoredBy(f rules.Finding) int {
	for i, ig := range c.Ignore {
		if ig.lapsed() == "" && ig.matches(f) {
			return i
		}
	}
	return -1
}

func (ig *Ignore) matches(f rules.Finding) bool {
	node, value := "", ""
	if f.Node != nil {
		node = f.Node.Key()
	}
	if f.Value != nil {
		value = f.Value.Key()
	}
	return glob(ig.Rule, f.Rule) && glob(ig.Node, node) && glob(ig.Value, value)
}

// glob matches a whole name. A pattern that ends in /* takes everything below it, since the keys
// of nodes in subgraphs are paths.
func glob(pattern, name string) bool {
	if pattern == "" || pattern == "*" {
		return true
	}
	if n := len(pattern) - 1; pattern[n] == '*' && n > 0 && pattern[n-1] == '/' && len(name) > n && name[:n] == pattern[:n] {
		return true
	}
	ok, _ := path.Match(pattern, name)
	return ok
}

// lapsed says that an entry is no longer in force, "" where it is.
func (ig *Ignore) lapsed() string {
	day, err := time.Parse(time.DateOnly, ig.Until)
	if ig.Until == "" || err != nil || time.Now().Before(day) {
		return ""
	}
	return ": it lapsed on " + ig.Until
}
