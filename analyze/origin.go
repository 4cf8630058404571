package analyze

import (
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/witness"
)

// origin is what a rewritten model was made from.
type origin struct {
	*analysis
	sought []*graph.Value // the suspects of the check whose fixes made it
	seen   *witness.Seen
	edits  []rewrite.Edit // that made it, in all rounds
	// alike tells that values of the form are held as they were judged in the original, but for the edits.
	alike bool
	// beside tells that runs of the form beside the original follow, so that those beside itself need not.
	beside bool
}

// runs tells whether runs of a model beside its original follow.
func (o *origin) runs() bool { return o != nil && o.beside }

// showed returns what runs of the original showed of all that runs of a form of it are to decide, nil where they
// may show something else. Where nothing had to be edited and nothing overflowed, they would show the same again.
func (o *origin) showed(a *analysis) *witness.Seen {
	if o == nil || !o.alike || len(o.edits) > 0 || !o.seen.Harmless() || len(a.inputs.given) > 0 {
		return nil
	}
	known := map[*graph.Value]*graph.Value{}
	for _, v := range a.sought {
		if known[v] = o.find(v.Key()); known[v] == nil || known[v].Key() != v.Key() || !slices.Contains(o.sought, known[v]) {
			return nil
		}
	}
	return o.seen.Carried(known, func(old *graph.Value) *graph.Value {
		if v := a.find(old.Key()); v != nil && v.Key() == old.Key() {
			return v
		}
		return nil
	})
}
