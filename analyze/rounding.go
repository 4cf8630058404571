package analyze

import (
	"context"

	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
)

// Rounding is the ranking of a model's nodes by what their rounding adds to the error of the outputs.
type Rounding struct {
	Path string
	*rangeprop.Rounding
	Notes []string
}

// RoundingOf ranks the nodes of the model of a file, should it run in a format.
func RoundingOf(ctx context.Context, path string, f numfmt.Format, opt Options) (*Rounding, error) {
	if opt.Effort == "off" {
		return nil, usagef("--effort off makes no estimates, which --rounding rests on")
	}
	a, err := load(ctx, path, &opt, false)
	if err != nil {
		return nil, err
	}
	defer a.model.Close()
	return &Rounding{Path: path, Rounding: a.ranges.Rounding(f), Notes: a.allNotes()}, nil
}
