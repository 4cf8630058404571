package rangeprop

import (
	"maps"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// beside is an analysis of the same model, with values held in other formats, that goes on at the same time: one
// takes a single processor wherever no large weight is read.
type beside struct {
	res    *Result
	err    error
	broken any // what it panicked with
	done   chan struct{}
	memo   *Memo
	known  int // what the other's memo had made by then
}

// begin starts it, with all that is known of constants.
func (r *Result) begin(hold func(v *graph.Value) numfmt.Format) *beside {
	b := &beside{done: make(chan struct{}), memo: r.p.memo.fork(), known: r.p.memo.made}
	opt := r.heldIn(hold)
	opt.Memo = b.memo
	go func() {
		defer close(b.done)
		defer func() { b.broken = recover() }()
		b.res, b.err = analyze(r.p.m, r.p.info, opt, r.p.facts)
	}()
	return b
}

// end waits for it. It is kept where it is what [Result.Held] would give now: where the other one has made sums of
// products meanwhile, those may tell more than was known, and whoever asks has to begin anew.
func (r *Result) end(b *beside) {
	if b == nil {
		return
	}
	if <-b.done; b.broken != nil {
		panic(b.broken)
	}
	if memo := r.p.memo; b.err == nil && memo.made == b.known {
		memo.products, memo.made = b.memo.products, b.memo.made
		maps.Copy(memo.consts, b.memo.consts)
		b.res.p.memo, r.beside = memo, b.res
	}
}

// Beside returns the bounds that Options.Beside asked for, nil where there are none: then [Result.Held] gives them.
func (r *Result) Beside() *Result { return r.beside }

// fork returns a memo that knows as much.
func (m *Memo) fork() *Memo {
	y := *m
	y.consts, y.products, y.turned = maps.Clone(m.consts), maps.Clone(m.products), maps.Clone(m.turned)
	return &y
}
