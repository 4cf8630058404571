package trace

import (
	"context"
	"fmt"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/samples"
)

// Compared is how one value of a model differs from that of another.
type Compared struct {
	Name         string
	Elem         graph.ElemType // in the second model
	Dims         []int
	Diff         Diff
	BadA, BadB   int64 // elements that are not finite
	Missing, New bool  // in the second model, in the first
}

// OK tells whether nothing lies beyond the tolerance.
func (c *Compared) OK() bool { return c.Diff.Outside == 0 && !c.Diff.Shape && !c.Missing }

// Verified is a comparison of two models.
type Verified struct {
	Tolerance Tolerance
	Samples   int
	Outputs   []*Compared
	Values    []*Compared // on request: what both models call alike, in the order of the second
}

// OK tells whether all outputs lie within the tolerance.
func (v *Verified) OK() bool {
	return !slices.ContainsFunc(v.Outputs, func(c *Compared) bool { return !c.OK() })
}

// VerifyOptions say how two models are compared.
type VerifyOptions struct {
	A, B      Options
	Tolerance Tolerance
	Values    bool // compare inner values too
}

// Verify runs two models on the same samples. Outputs are compared by name; where the names differ,
// by position.
func Verify(ctx context.Context, a, b *graph.Model, list []*samples.Sample, opt VerifyOptions) (*Verified, error) {
	opt.A.free, opt.B.free = moved(a, list), moved(b, list)
	v := &verifier{opt: opt, res: &Verified{Tolerance: opt.Tolerance, Samples: len(list)}, known: map[string]*Compared{}}
	var err error
	if v.a, err = refeval.New(a, v.watch(opt.A.target(), v.keep)); err != nil {
		return nil, fmt.Errorf("%s: %w", a.Path, err)
	}
	if v.b, err = refeval.New(b, v.watch(opt.B.target(), v.compare)); err != nil {
		return nil, fmt.Errorf("%s: %w", b.Path, err)
	}
	for _, s := range list {
		if err := v.sample(ctx, a, b, s); err != nil {
			return nil, err
		}
	}
	return v.res, nil
}

// verifier is a comparison at work.
type verifier struct {
	opt   VerifyOptions
	a, b  *refeval.Runner
	res   *Verified
	inner map[string]*refeval.Tensor // of the first model, by name
	known map[string]*Compared
}

// watch has inner values looked at, if that is asked for.
func (v *verifier) watch(o refeval.Options, see func(v *graph.Value, t *refeval.Tensor)) refeval.Options {
	if v.opt.Values {
		o.Observe = see
	}
	return o
}

// keep remembers a value of the first model. Inside loops the last pass counts.
func (v *verifier) keep(x *graph.Value, t *refeval.Tensor) {
	if isReal(t) && x.Producer != nil {
		v.inner[x.Key()] = t
	}
}

// compare holds a value of the second model against that of the first.
func (v *verifier) compare(x *graph.Value, t *refeval.Tensor) {
	if want := v.inner[x.Key()]; want != nil && isReal(t) && x.Producer != nil {
		c := v.entry(&v.res.Values, "value "+x.Key(), x.Key())
		v.add(c, t, want)
	}
}

// entry returns the record of a name, a new one at the first time.
func (v *verifier) entry(list *[]*Compared, key, name string) *Compared {
	c := v.known[key]
	if c == nil {
		c = &Compared{Name: name}
		v.known[key] = c
		*list = append(*list, c)
	}
	return c
}

func (v *verifier) add(c *Compared, got, want *refeval.Tensor) {
	c.Elem, c.Dims = got.Elem, got.Dims
	c.Diff.add(got, want, v.ulp(got, want), v.opt.Tolerance)
	c.BadA, c.BadB = c.BadA+bad(want), c.BadB+bad(got)
}

// ulp returns the format whose unit in the last place counts: the narrower of the two that the
// values are held in.
func (v *verifier) ulp(b, a *refeval.Tensor) numfmt.Format {
	f, g := held(b, v.opt.B), held(a, v.opt.A)
	if g.Unit() > f.Unit() {
		return g
	}
	return f
}

func held(t *refeval.Tensor, o Options) numfmt.Format {
	if t.Elem == graph.Float && o.As != numfmt.Invalid {
		return o.As
	}
	f, _ := t.Elem.Format()
	return f
}

func bad(t *refeval.Tensor) int64 {
	s := noStats()
	s.add(t, numfmt.FP32)
	return s.Inf + s.NaN
}

// sample runs both models on one sample.
func (v *verifier) sample(ctx context.Context, a, b *graph.Model, s *samples.Sample) error {
	v.inner = map[string]*refeval.Tensor{}
	inA, err := feed(a, s)
	if err != nil {
		return fmt.Errorf("%s: %w", a.Path, sampleErr(s, err))
	}
	inB, err := feed(b, s)
	if err != nil {
		return fmt.Errorf("%s: %w", b.Path, sampleErr(s, err))
	}
	outA, err := v.a.Run(ctx, inA)
	if err != nil {
		return fmt.Errorf("%s: %w", a.Path, sampleErr(s, err))
	}
	outB, err := v.b.Run(ctx, inB)
	if err != nil {
		return fmt.Errorf("%s: %w", b.Path, sampleErr(s, err))
	}
	v.outputs(a, b, outA, outB)
	return nil
}

func (v *verifier) outputs(a, b *graph.Model, outA, outB map[string]*refeval.Value) {
	for i, o := range b.Graph.Outputs {
		want := outA[o.Name]
		if want == nil && i < len(a.Graph.Outputs) {
			want = outA[a.Graph.Outputs[i].Name]
		}
		c := v.entry(&v.res.Outputs, "output "+o.Name, o.Name)
		if want == nil {
			c.New, c.Diff.Shape = true, true
			continue
		}
		v.output(c, outB[o.Name], want)
	}
	for i, o := range a.Graph.Outputs {
		if outB[o.Name] == nil && i >= len(b.Graph.Outputs) {
			v.entry(&v.res.Outputs, "output "+o.Name, o.Name).Missing = true
		}
	}
}

// output compares the tensors of an output one by one.
func (v *verifier) output(c *Compared, got, want *refeval.Value) {
	x, y := got.Tensors(), want.Tensors()
	if len(x) != len(y) || got.Kind != want.Kind {
		c.Diff.Shape = true
		return
	}
	for i := range x {
		v.add(c, x[i], y[i])
	}
}
