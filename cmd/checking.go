package cmd

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/batch"
	"github.com/amplint/amplint/report"
)

// record is what is kept of the check of one model.
type record struct {
	Model  *report.Model `json:"model"`
	Notes  []string      `json:"notes"`
	Missed []string      `json:"missed"`
}

// outcome is a record, or why there is none.
type outcome struct {
	record
	whole *analyze.Report // where inputs that show findings are saved
	err   error
}

// checking is the check of several models.
type checking struct {
	*app
	opt       analyze.Options
	witnesses *witnessWriter // nil where none are saved
	cache     *batch.Cache   // nil where nothing is kept
	given     string         // what stands for the options in the keys of the cache
	paths     []string       // of this shard
	at        []int          // their positions in the run

	out    *report.File
	shard  *report.Shard
	missed [][]string
}

func (k *checking) run(ctx context.Context, jobs int) error {
	if jobs == 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	pool := batch.Pool{Workers: jobs, Budget: budget, Cost: k.size}
	step, clear := k.progress("model")
	if len(k.paths) == 1 {
		clear = k.busy(filepath.Base(k.paths[0]))
	}
	defer clear()
	var ended error
	batch.Run(ctx, pool, len(k.paths), k.one, func(i int, o outcome) bool {
		if len(o.Notes) > 0 || o.err != nil {
			clear()
		}
		ended = k.tellOf(i, o)
		if len(k.paths) > 1 {
			step(i+1, len(k.paths))
		}
		return ended == nil
	})
	if ended == nil && ctx.Err() != nil {
		return errInterrupted
	}
	return ended
}

// size is what a model takes of the budget: 0 for one that cannot be opened, which one tells of.
func (k *checking) size(i int) (n int64) {
	path := k.paths[i]
	if guarded(path, func() error { n = analyze.Size(path); return nil }) != nil {
		return 0
	}
	return n
}

// one analyses a model, or takes from the cache what is known of it.
func (k *checking) one(ctx context.Context, i int) (o outcome) {
	path := k.paths[i]
	key := k.key(path)
	if key != "" && k.cache.Get(key, &o.record) && o.Model != nil && o.Model.Unpack() == nil {
		return k.packed(o)
	}
	o = outcome{}
	o.err = guarded(path, func() error {
		r, err := analyze.Check(ctx, path, k.opt)
		if err != nil {
			return err
		}
		o.record = record{report.Of(r), r.Notes, r.Missed}
		if k.witnesses != nil {
			o.whole = r
		}
		return nil
	})
	if o.err == nil && key != "" {
		o = k.keep(key, o)
	}
	return k.packed(o)
}

// keep puts a result into the cache. A cache that cannot be written is no fault of the model.
func (k *checking) keep(key string, o outcome) outcome {
	err := o.Model.Pack()
	if err == nil {
		err = k.cache.Put(key, o.record)
	}
	if err != nil {
		o.Notes = append(o.Notes, "not kept in the cache: "+err.Error())
	}
	return o
}

// packed makes the report of a shard hold what pages draw: merge may have to write one.
func (k *checking) packed(o outcome) outcome {
	if o.err != nil {
		return o
	}
	o.Model.Drawing = nil
	if k.shard != nil {
		o.err = o.Model.Pack()
	}
	return o
}

// key returns the key of a model in the cache, "" where it has none: a stream can be read only once,
// and what cannot be read is told of by the analysis.
func (k *checking) key(path string) (key string) {
	if k.cache == nil || path == analyze.Std {
		return ""
	}
	err := guarded(path, func() (err error) {
		key, err = k.cache.Key(func(w io.Writer) error {
			_, err := io.WriteString(w, k.given)
			return errors.Join(err, analyze.Content(w, path))
		})
		return err
	})
	if err != nil {
		return ""
	}
	return key
}

// tellOf tells of one model and puts it into the report. It fails where the run cannot go on.
func (k *checking) tellOf(i int, o outcome) error {
	if o.err != nil {
		return k.fail(i, o.err)
	}
	k.notes(k.paths[i], o.Notes)
	k.missed = append(k.missed, o.Missed)
	if o.Model.Failed(k.opt.FailOn) {
		k.code = max(k.code, exitFindings)
	}
	k.out.Models = append(k.out.Models, o.Model)
	if k.shard != nil {
		k.shard.Models = append(k.shard.Models, k.at[i])
	}
	if k.witnesses != nil {
		return k.witnesses.add(o.whole)
	}
	return nil
}

// fail notes a model that could not be analysed. A mistake in the command line ends the run, unless
// it is data that fit another of its models.
func (k *checking) fail(i int, err error) error {
	var fail *failure
	var data *analyze.DataError
	misfit := k.opt.Lenient && errors.As(err, &data)
	if errors.As(err, &fail) && (fail.code == exitUsage && !misfit || fail.code == exitInterrupted) {
		return err
	}
	k.code = exitModel
	k.tell(err)
	k.out.Failures = append(k.out.Failures, report.Failure{Path: k.paths[i], Error: err.Error()})
	if k.shard != nil {
		k.shard.Failures = append(k.shard.Failures, k.at[i])
	}
	return nil
}
