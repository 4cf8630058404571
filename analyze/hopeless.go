package analyze

import (
	"fmt"

	"github.com/amplint/amplint/rules"
)

// hopeless tells of each finding that remains and that no edit helps against what has to change, and
// where: it cannot be repaired from the file alone.
func (r *Report) hopeless(t Threshold) (list []string) {
	for _, x := range r.Findings {
		if !t.Reached(x.Severity) || len(x.Edits) > 0 {
			continue
		}
		list = append(list, fmt.Sprintf("%s: not repairable from this file: %s", placeOf(x), advice(x)))
	}
	return list
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
	if x.Rule == "constants-lost" && x.Value != nil {
		return fmt.Sprintf("the numbers of %q were lost when it was converted; export it in float32, or run amplint fix on the float32 model", x.Value.Key())
	}
	return fmt.Sprintf("no edit helps against %s; amplint explain %s says what to change in the model's source", x.Rule, x.Rule)
}
