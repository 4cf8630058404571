package analyze

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
)

// verify analyses a result as any other model, in the formats it holds now.
func (f *Fixed) verify(ctx context.Context, m *graph.Model, opt *FixOptions) (*analysis, error) {
	if err := reread(m); err != nil {
		return nil, fmt.Errorf("%s: the rewritten model is not valid: %w", f.Path, err)
	}
	lenient := opt.Options
	lenient.Lenient = true // initializers may have other names now
	lenient.again = f.target != FP32 && opt.Effort == "off"
	if lenient.again { // bounds are kept twice: garbage beside them is to take less
		defer debug.SetGCPercent(debug.SetGCPercent(50))
	}
	a, err := analyse(ctx, m, &lenient)
	if err != nil {
		return nil, fmt.Errorf("the rewritten model cannot be analysed: %w", err)
	}
	if err := m.Check(); err != nil && f.valid { // not worse than it was
		return nil, fmt.Errorf("%s: the rewritten model is not valid: %w", f.Path, err)
	}
	from := f.origin
	from.edits = slices.Clone(f.Edits)
	from.beside = from.beside && !f.restores()
	a.from, f.last = &from, a
	if f.target != FP32 {
		a.narrowed = narrowing(f.target)
	}
	f.After = a.check(ctx, f.judged(), &opt.Options)
	return a, nil
}

// restores tells whether the file had lost constants that have other numbers now: what it gives is no reference, and
// the result is run beside itself.
func (f *Fixed) restores() bool {
	return lowest(f.origin.model) != numfmt.FP32 && (has[rewrite.SetConst](f.Edits) || has[rewrite.Clamp](f.Edits))
}

// judged is what results are checked for.
func (f *Fixed) judged() Target {
	if f.target == FP32 {
		return FP32
	}
	return AsIs
}

// narrowing is the format that a result of which nothing is low any more is judged as: by what FP32
// does to itself it was not asked to be.
func narrowing(t Target) numfmt.Format {
	if f := t.format(); f != numfmt.Invalid {
		return f
	}
	return numfmt.FP16
}

// reread writes a model to a temporary file and reads it back, so that what will be saved is known
// to be readable. Elements are left out: a save converts them, and nothing reads them before.
func reread(m *graph.Model) error {
	f, err := os.CreateTemp("", "amplint-*.onnx")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err = errors.Join(m.WriteOutline(f), f.Close()); err != nil {
		return err
	}
	again, err := graph.Open(f.Name())
	if err != nil {
		return err
	}
	return again.Close()
}
