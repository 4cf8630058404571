package analyze

import (
	"fmt"
	"slices"

	"github.com/amplint/amplint/baseline"
	"github.com/amplint/amplint/config"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rules"
	"github.com/amplint/amplint/rules/runtime"
)

// Options are what the flags say; the config fills in what they leave open.
type Options struct {
	Target     Target
	Ranges     []config.Range
	Dims       []config.Dim
	Data       []string        // paths for package samples
	Accumulate string          // fp32 or target
	Effort     string          // off, quick or full
	Flush      bool            // subnormals count as zero
	Kernels    runtime.Profile // what is known of the runtime; set by SetKernels
	Strict     bool
	Witnesses  bool // look for an input that shows each error
	FailOn     Threshold
	Config     *config.Config
	Baseline   *baseline.Set // known findings, nil for none
	// Profile asks for what a page draws beside the findings; it reads all weights.
	Profile bool
	// Lenient allows ranges for inputs that the model does not have: of several models each has
	// its own.
	Lenient bool

	memo *rangeprop.Memo // shared by the analyses of one model
	// begun is called once, when the types of the model are known and its weights have not been read yet;
	// it may be nil.
	begun func(m *graph.Model)
	again bool // weights are known, balls left out, and rules will ask for the bounds in FP32 too
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

var thresholdNames = []string{"error", "warning", "note", "never"}

// String returns the threshold as --fail-on takes it.
func (t Threshold) String() string { return thresholdNames[t] }

// ParseThreshold reads a value of --fail-on.
func ParseThreshold(s string) (Threshold, error) {
	i := slices.Index(thresholdNames, s)
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
