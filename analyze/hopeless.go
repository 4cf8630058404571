package analyze

import (
	"fmt"
	"slices"

	"github.com/amplint/amplint/rules"
)

// hopeless tells of each finding that remains and that no edit helps against what has to change, and
// where: it cannot be repaired from the file alone. before is the report on the input.
func (r *Report) hopeless(before *Report, t Threshold) (list []string) {
	for _, x := range r.Findings {
		if !t.Reached(x.Severity) || len(x.Edits) > 0 {
			continue
		}
		if x.Rule == lostRule && x.Value != nil && !before.lost(x.Value.Key()) {
			list = append(list, fmt.Sprintf("%s: the rewriting stored %q low and lost its numbers: let it be held in fp32 (widen in a plan), or do without the flags that forbid it", placeOf(x), x.Value.Key()))
			continue
		}
		list = append(list, fmt.Sprintf("%s: not repairable from this file: %s", placeOf(x), advice(x)))
	}
	return list
}

// lostRule is the rule that tells of constants whose numbers are gone.
const lostRule = "constants-lost"

// lost tells whether the numbers of a constant are gone in this model already.
func (r *Report) lost(key string) bool {
	return slices.ContainsFunc(r.Findings, func(x rules.Finding) bool {
		return x.Rule == lostRule && x.Value != nil && x.Value.Key() == key
	})
}

func placeOf(x rules.Finding) string {
	switch {
	case x.Node != nil:
		return fmt.Sprintf("node %q (%s)", x.Node.Key(), x.Node.OpName())
	case x.Value != nil:
		return fmt.Sprintf("value %q", x.Value.Key())
	}
	return "the model"
}

// advice says what whoever makes the model has to change.
func advice(x rules.Finding) string {
	if x.Rule == lostRule && x.Value != nil {
		return fmt.Sprintf("the numbers of %q were lost when it was converted; export it in float32, or run amplint fix on the float32 model", x.Value.Key())
	}
	return fmt.Sprintf("no edit helps against %s; amplint explain %s says what to change in the model's source", x.Rule, x.Rule)
}
