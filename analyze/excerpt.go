package analyze

import (
	"context"
	"io"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
)

// Excerpt prints a node and its neighbours as a text model with the ranges of what they read: what
// a bug report needs. A model that cannot be analysed is printed without ranges, since then the
// report is about that.
func Excerpt(ctx context.Context, w io.Writer, path string, find func(*graph.Model) (*graph.Node, error), depth int, maxElements int64, opt Options) error {
	m, err := Open(path)
	if err != nil {
		return err
	}
	defer m.Close()
	n, err := find(m)
	if err != nil {
		return err
	}
	p := onnxtxt.PrintOptions{MaxElements: maxElements}
	if a, err := analyse(ctx, m, &opt); err == nil {
		p.Range = a.known
	}
	return onnxtxt.PrintAround(w, n, depth, p)
}

// known returns the bounds of a value where they say something.
func (a *analysis) known(v *graph.Value) (lo, hi float64, ok bool) {
	b := a.bound(v)
	return b.Range.Lo, b.Range.Hi, b.Range.Bounded()
}
