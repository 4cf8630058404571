package kern

import "github.com/amplint/amplint/numfmt"

// Round rounds x to the format in place, as numfmt does, and turns its subnormals to zero if flush
// is set.
func (e *Engine) Round(f numfmt.Format, x []float32, flush bool) {
	e.Parallel(len(x), 64, 1, func(lo, hi int) { e.round(f, flush, x[lo:hi]) })
}

func (e *Engine) round(f numfmt.Format, flush bool, x []float32) {
	done := e.level.round(f, flush, x)
	roundGo(f, flush, x[done:])
}

func roundGo(f numfmt.Format, flush bool, x []float32) {
	f.RoundFloats(x, x)
	if flush {
		f.FlushFloats(x)
	}
}
