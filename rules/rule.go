package rules

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/runtime"
	"github.com/amplint/amplint/rules/spread"
)

// Rule is one hazard: what it is called and the function that looks for it.
type Rule struct {
	Name  string // kebab-case, by symptom; also the name of its page
	Title string // one line
	Kind  Kind   // what its findings are, unless they say otherwise
	Model func(*Pass)
}

// Place is where a finding stands: a node, or an input of the model where Node is nil.
type Place struct {
	Node  *graph.Node
	Value *graph.Value
}

// Finding is one hazard found.
type Finding struct {
	Rule        string
	Kind        Kind
	Severity    Severity
	Evidence    Evidence
	Consequence string  // Absorbed, Silent, Visible or ""
	Depends     Depends // what a finding of evidence Kernel depends on
	// Node is nil for a finding on an input or on the whole model.
	Node  *graph.Node
	Value *graph.Value
	// Source is where the node comes from in the exported program, as far as the exporter left a trace.
	Source Source
	// Input shows the finding when the model is run on it: values by name for inputs, and for
	// initializers that may move. Nil where none is known.
	Input map[string]*refeval.Value
	// Range holds what the value may be, or the constant's own extremes, and Limit what the format
	// allows.
	Range        rangeprop.Range
	Basis        rangeprop.Basis // what Range rests on
	Limit        float64
	Message      string
	Reason       string // why it is believed, "" where the message says it
	Occurrences  []Place
	Consequences []string // keys of values that carry the damage on
	Edits        []rewrite.Edit
	Free         bool   // the edits cost no cast: a fix makes them for a note too
	Fingerprint  string // the same for the same hazard at the same structure, whatever the names
}

// Places lists where a finding is: at one place, or at all that one hazard was found at.
func (f *Finding) Places() []Place {
	if len(f.Occurrences) == 0 {
		return []Place{{f.Node, f.Value}}
	}
	return f.Occurrences
}

// Sighting is what runs showed of a value that overflowed in them.
type Sighting struct {
	Lo, Hi float64 // what it should have been
	Right  bool    // the outputs were right all the same, in enough runs
	// Observed tells that the user's own data did it.
	Observed bool
}

// Broken is the place where a run stopped being finite on the way to an output that is infinite or
// NaN, and in FP32 is not.
type Broken struct {
	Value *graph.Value
	NaN   bool // and none of its elements infinite
	Input map[string]*refeval.Value
}

// Spoiled is what a run showed of an output that is finite and off by more than rounding.
type Spoiled struct {
	Values []*graph.Value // that must not be held low for it to come out right
	Most   float64        // the largest magnitude of the first in FP32
	Output string
	Error  float64 // as a share of the output's largest magnitude
	Whole  bool    // the output holds whole numbers, and Error is the share of them that differ
	Input  map[string]*refeval.Value
}

// Input is what the rules look at.
type Input struct {
	Model    *graph.Model
	Info     *infer.Info
	Ranges   *rangeprop.Result
	Patterns *pattern.Set
	// Target is the format the model is to run in, or the lowest format it holds.
	Target numfmt.Format
	// Hold returns the low format a value is held in, or would be after narrowing; false where it
	// stays FP32 or holds no floats.
	Hold func(*graph.Value) (numfmt.Format, bool)
	// Seen returns what a run on inputs inside the declared ranges showed of a value: that it is not
	// finite although all its node reads is. It may be nil.
	Seen func(*graph.Value) (Sighting, bool)
	// Sought returns the largest magnitude that runs which looked for more found of a value in FP32;
	// false where none did. It may be nil.
	Sought func(*graph.Value) (float64, bool)
	// Close returns the largest magnitude that runs gave a value in FP32, 0 where that is far below the limit of
	// the format it is held in. It may be nil.
	Close func(*graph.Value) float64
	// Broken is what a run showed that no rule has an explanation for; nil where there is nothing.
	Broken *Broken
	// Spoiled is the same for an output that stays finite.
	Spoiled *Spoiled
	// Kernels is what is known of the runtime; the zero value says nothing.
	Kernels runtime.Profile
	// Tolls returns what runs showed of a value whose node depends on how kernels accumulate, or on
	// whether they flush. It may be nil.
	Tolls func(*graph.Value, Depends) (Toll, bool)
	// Strict turns notes on missing ranges into warnings.
	Strict bool
	// Disabled names the rules that do not run.
	Disabled map[string]bool

	wide      *rangeprop.Result // the ranges of a first run, see widely
	estimates *rangeprop.Result // with the moments that Ranges lacks, see widely
}

// Padding tells of an input that masks the padding of sequences: each has a token at least.
func (in *Input) Padding(v *graph.Value) bool { return spread.Padding(in.Model, v) }

// Run applies all rules that are not disabled and returns their findings in graph order, at one
// place in the order of [All].
func Run(in *Input) []Finding {
	p := newPass(in)
	for i, r := range All() {
		if in.Disabled[r.Name] {
			continue
		}
		p.rule, p.order = r, i
		r.Model(p)
	}
	return p.finish()
}
