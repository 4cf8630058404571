package analyze

import (
	"testing"

	"github.com/amplint/amplint/config"
	"github.com/amplint/amplint/rules"
)

// TestSuppressed shows that an ignored finding is kept apart, with the reason and the date that the
// config gives.
func TestSuppressed(t *testing.T) {
	c := &config.Config{Ignore: []config.Ignore{{Rule: "long-*", Reason: "measured", Until: "2999-01-31"}}}
	r := &Report{}
	r.sift([]rules.Finding{{Rule: "long-sum"}, {Rule: "near-one"}}, c)
	kept := r.Findings
	if len(kept) != 1 || kept[0].Rule != "near-one" {
		t.Errorf("kept %v", kept)
	}
	if len(r.Suppressed) != 1 || r.Summary.Ignored != 1 {
		t.Fatalf("suppressed %v, counted %d", r.Suppressed, r.Summary.Ignored)
	}
	if s := r.Suppressed[0]; s.Rule != "long-sum" || s.By != "config" || s.Reason != "measured" || s.Until != "2999-01-31" {
		t.Errorf("suppressed %+v", s)
	}
}
