package main

import (
	"slices"
	"testing"

	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// TestKeys holds the operator tables against each other: what has types has bounds, and what has
// bounds can be evaluated, so that a model of it can be held against them.
func TestKeys(t *testing.T) {
	tables := []struct {
		name string
		keys []string
	}{{"types", infer.Keys()}, {"a transfer function", rangeprop.Keys()}, {"an evaluation", refeval.Keys()}}
	for _, a := range tables {
		if len(a.keys) < 100 {
			t.Errorf("only %d operators have %s", len(a.keys), a.name)
		}
		for _, b := range tables {
			for _, key := range a.keys {
				if !slices.Contains(b.keys, key) {
					t.Errorf("%s has %s and not %s", key, a.name, b.name)
				}
			}
		}
	}
}

// TestBoundsOnly holds that operators with bounds alone have types, and no evaluation.
func TestBoundsOnly(t *testing.T) {
	types, evaluated := infer.TypesOnly(), refeval.Keys()
	for _, key := range rangeprop.BoundsOnly() {
		if !slices.Contains(types, key) {
			t.Errorf("%s has a transfer function but no types", key)
		}
		if slices.Contains(evaluated, key) {
			t.Errorf("%s can be evaluated: its bounds can be tried", key)
		}
	}
}
