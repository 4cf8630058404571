package rules

import "github.com/amplint/amplint/refeval"

// Confirm raises a finding that was only likely: an input inside the declared ranges has shown it.
// consequence is what it did to the outputs, "" where nothing is known of that.
func (f *Finding) Confirm(in map[string]*refeval.Value, consequence string) {
	f.Input, f.Evidence, f.Consequence = in, Witness, consequence
	f.Severity = max(f.Severity, grade(Witness, consequence))
	f.Reason = "an input inside the declared ranges shows it"
	f.Message += consequenceText(consequence)
}
