package rangeprop

import (
	"maps"
	"math"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
)

// pastRounds is how often the bounds of a past are tried. A norm in front of keys and values makes what is
// added the same in every run, so that the second round mostly finds nothing new.
const pastRounds = 4

const pastNote = "what earlier runs of this model left, from an empty past on"

// pasts maps the inputs of a decoder that hold keys and values of earlier runs to the outputs that take
// their place in the next: exporters name them past_key_values.0.key and present.0.key, past_0 and
// present_0, past_key_self_0 and present_key_self_0.
func pasts(g *graph.Graph) map[*graph.Value]*graph.Value {
	present := map[string]*graph.Value{}
	for _, v := range g.Outputs {
		if name, ok := stem(v.Name, "present"); ok {
			present[name] = v
		}
	}
	pairs := map[*graph.Value]*graph.Value{}
	for _, v := range g.Inputs {
		name, ok := stem(v.Name, "past")
		if out := present[name]; ok && out != nil && out != v && v.Init == nil && v.Type.Kind == graph.KindTensor && v.Type.Elem.IsFloat() && v.Type.Elem == out.Type.Elem {
			pairs[v] = out
		}
	}
	return pairs
}

// stem is what is left of a name without the word for its time.
func stem(name, word string) (string, bool) {
	for _, w := range []string{word + "_key_values", word} {
		if before, after, ok := strings.Cut(name, w); ok {
			return before + "|" + strings.TrimLeft(after, "._/"), true
		}
	}
	return "", false
}

// settlePasts gives the inputs that hold a past the bounds of the outputs that become it: those are
// inductive from an empty past on. Numbers count as if they were held in FP32, since an overflow that the
// format makes is to be found behind bounds and not to take them away; earlier runs count as having gone right,
// without NaN. An input stays open where its output has no bounds, is the input itself, or grows from run to run.
func settlePasts(m *graph.Model, info *infer.Info, opt *Options, facts *pattern.Set) (map[string]Given, error) {
	open := pasts(m.Graph)
	if len(open) > 0 && opt.Memo == nil {
		opt.Memo = NewMemo(numfmt.Invalid) // the walk behind this one has it too
	}
	trial := *opt
	trial.NoMoments, trial.Beside = true, nil
	trial.Hold = func(v *graph.Value) numfmt.Format {
		if e := v.Type.Elem; e == graph.Float16 || e == graph.BFloat16 {
			return numfmt.FP32
		}
		return numfmt.Invalid
	}
	found := map[string]Given{}
	for in := range open {
		if _, given := opt.Ranges[in.Name]; given {
			delete(open, in)
			continue
		}
		found[in.Name] = Given{Basis: Default, Note: pastNote, Derived: true}
	}
	for round := 0; len(open) > 0; round++ {
		trial.Ranges = maps.Clone(found)
		maps.Copy(trial.Ranges, opt.Ranges)
		r, err := analyze(m, info, trial, facts)
		if err != nil {
			return nil, err
		}
		if !r.carry(open, found, round) {
			break
		}
	}
	return found, nil
}

// carry widens the bounds of each past to those of its output, drops those that do not settle, and tells
// whether anything changed.
func (r *Result) carry(open map[*graph.Value]*graph.Value, found map[string]Given, round int) (changed bool) {
	for in, out := range open {
		x, d := r.Val(out), found[in.Name]
		h := x.Hull()
		switch {
		case !h.Bounded() || h == (Range{}) || round >= pastRounds && !d.Range.Contains(h):
			delete(open, in)
			delete(found, in.Name)
			changed = true
		case !d.Range.Contains(h):
			d.Range = d.Range.join(h)
			if round > 0 {
				d.Range = Range{powerBeyond(d.Range.Lo), powerBeyond(d.Range.Hi)}
			}
			found[in.Name] = d
			changed = true
		}
	}
	return changed
}

// powerBeyond is the next power of two away from zero.
func powerBeyond(x float64) float64 {
	if x == 0 {
		return 0
	}
	return math.Copysign(math.Exp2(math.Ceil(math.Log2(math.Abs(x)))), x)
}
