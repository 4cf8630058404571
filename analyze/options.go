package analyze

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rules"
)

// Options are what the flags say; the config fills in what they leave open.
type Options struct {
	Target     Target
	Ranges     []NamedRange
	Dims       []NamedDim
	Data       string // a path for package samples, "" for none
	Accumulate string // fp32 or target
	Effort     string // off, quick or full
	Flush      bool   // subnormals count as zero
	Strict     bool
	FailOn     Threshold
	Config     *Config
	// Lenient allows ranges for inputs that the model does not have: of several models each has
	// its own.
	Lenient bool
}

// Threshold is the least severity that makes a run fail.
type Threshold uint8

// The thresholds; the zero value is the default.
const (
	FailOnError Threshold = iota
	FailOnWarning
	FailOnNote
	FailNever
)

// ParseThreshold reads a value of --fail-on.
func ParseThreshold(s string) (Threshold, error) {
	i := slices.Index([]string{"error", "warning", "note", "never"}, s)
	if i < 0 {
		return 0, fmt.Errorf("%q is none of error, warning, note and never", s)
	}
	return Threshold(i), nil
}

// Reached tells whether a finding of the severity makes the run fail.
func (t Threshold) Reached(s rules.Severity) bool {
	switch t {
	case FailOnError:
		return s >= rules.Error
	case FailOnWarning:
		return s >= rules.Warning
	case FailOnNote:
		return true
	}
	return false
}

// UsageError is a mistake in what was asked for, not in the model.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// configRanges returns the ranges of the config in the order of their names.
func (c *Config) configRanges() []NamedRange {
	if c == nil {
		return nil
	}
	var list []NamedRange
	for _, name := range slices.Sorted(maps.Keys(c.Ranges)) {
		list = append(list, NamedRange{name, rangeprop.Range(c.Ranges[name])})
	}
	return list
}

// CheckRules refuses rule names in the config that do not exist.
func (c *Config) CheckRules() error {
	for _, name := range slices.Sorted(maps.Keys(c.Rules)) {
		if !slices.ContainsFunc(rules.All(), func(r rules.Rule) bool { return r.Name == name }) {
			return usagef("config: no rule is named %q; the rules are %s", name, strings.Join(ruleNames(), ", "))
		}
	}
	return nil
}

func ruleNames() []string {
	var list []string
	for _, r := range rules.All() {
		list = append(list, r.Name)
	}
	return list
}
