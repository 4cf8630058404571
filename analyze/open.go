package analyze

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/rules"
	"github.com/amplint/amplint/witness"
)

// analysis is a model with what was found out about it.
type analysis struct {
	model  *graph.Model
	info   *infer.Info
	ranges *rangeprop.Result
	inputs *inputs
	// narrowed is the format to judge as where nothing is low, for a model that was to be; Invalid
	// takes FP32.
	narrowed numfmt.Format
	// trial holds what the model makes of inputs in FP32, nil where it was not run on any.
	trial  *witness.Trial
	shared *refeval.Shared // of the runs of a check
	// sought are the suspects that runs were to decide, and seen is what these showed; nil without any.
	sought []*graph.Value
	seen   *witness.Seen
	// from is what the model is a rewritten form of, nil for one that was read.
	from *origin
}

// load opens a model, infers its types and bounds its values. The caller closes the model. Who judges
// the bounds asks for what becomes of constants, too.
func load(ctx context.Context, path string, opt *Options, judged bool) (*analysis, error) {
	m, err := Open(path)
	if err != nil {
		return nil, err
	}
	if err := m.CheckExternal(); err != nil {
		m.Close()
		return nil, err
	}
	if judged {
		opt.spare(m, maxRunWeights)
	}
	opt.memo = rangeprop.NewMemo(judgedIn(m, opt, judged))
	a, err := analyse(ctx, m, opt)
	if err != nil {
		m.Close()
		return nil, err
	}
	return a, nil
}

// maxRunWeights is how many bytes the weights of a model may take that is run without being asked for:
// runs of a model beside another hold them up to six times, in float32 and laid out for the products.
const maxRunWeights = 1 << 29

// spare turns runs off for a model whose weights take more bytes than runs may be made with unasked;
// bounds and estimates then decide, and a note says so.
func (o *Options) spare(m *graph.Model, most int64) {
	if w := weights(m); o.Effort == "quick" && w > most {
		o.Effort = ""
		m.Notes = append(m.Notes, fmt.Sprintf("nothing is run: the weights take %d MiB, and runs hold them several times; --effort full runs models of more than %d MiB", w>>20, most>>20))
	}
}

// weights is how many bytes the float constants of a model take.
func weights(m *graph.Model) (total int64) {
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if v.Const != nil && v.Const.Elem.IsFloat() {
				total += v.Const.Len() * int64(v.Const.Elem.Bits()) / 8
			}
		}
	}
	return total
}

// judgedIn is the format that constants are judged in where the bounds are judged.
func judgedIn(m *graph.Model, opt *Options, judged bool) numfmt.Format {
	if !judged {
		return numfmt.Invalid
	}
	if f := opt.Target.resolve(m).format(); f != numfmt.Invalid {
		return f
	}
	return lowest(m)
}

func analyse(ctx context.Context, m *graph.Model, opt *Options) (*analysis, error) {
	in, err := gather(m, opt)
	if err != nil {
		return nil, err
	}
	info, err := infer.Run(m, infer.Options{Dims: dimRanges(opt), Values: in.values, Shapes: in.shapes})
	var misfit *infer.InputError
	if errors.As(err, &misfit) {
		return nil, &DataError{fmt.Errorf("%s: %w", m.Path, err)}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Path, err)
	}
	if opt.begun != nil {
		opt.begun(m)
		opt.begun = nil
	}
	off := opt.Effort == "off"
	bounds := rangeprop.Options{Ranges: in.ranges, Stopped: ctx.Err, NoBalls: off, NoMoments: off && !opt.Target.scaled(), Memo: opt.memo}
	if opt.again {
		bounds.Beside = rules.FP32Of
	}
	r, err := rangeprop.Analyze(m, info, bounds)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Path, err)
	}
	return &analysis{model: m, info: info, ranges: r, inputs: in}, nil
}

// dimRanges joins the dimensions of the config and of the command line, which win.
func dimRanges(opt *Options) map[string]infer.DimRange {
	dims := map[string]infer.DimRange{}
	if opt.Config != nil {
		for name, d := range opt.Config.Dims {
			dims[name] = infer.DimRange{Lo: d.Lo, Hi: d.Hi}
		}
	}
	for _, d := range opt.Dims {
		dims[d.Name] = infer.DimRange{Lo: d.Lo, Hi: d.Hi}
	}
	return dims
}
