package analyze

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/config"
)

// TestConfigWords holds the words of the config's schema to those that the program knows.
func TestConfigWords(t *testing.T) {
	var s struct {
		Properties map[string]struct{ Enum []string }
	}
	if err := json.Unmarshal([]byte(config.Schema()), &s); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string][]string{"target": targetNames, "fail-on": thresholdNames} {
		if d := cmp.Diff(want, s.Properties[key].Enum); d != "" {
			t.Errorf("%s: %s", key, d)
		}
	}
	if !slices.Contains(ruleNames(), "mask-constant") {
		t.Errorf("rules %v", ruleNames())
	}
}
