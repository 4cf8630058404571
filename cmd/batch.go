package cmd

import (
	"context"
	"crypto/sha256"
	"os"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/batch"
	"github.com/amplint/amplint/report"
)

// budget bounds the bytes of the models that are analysed at the same time. Weights are streamed,
// but a run of a model holds them.
const budget = 4 << 30

// batchFlags are the flags of commands that take many models.
type batchFlags struct {
	jobs         int
	cache, shard string
}

func (f *batchFlags) add(c *cobra.Command) {
	c.Flags().IntVarP(&f.jobs, "jobs", "j", 0, "models to analyse at the same time, 0 for one on each processor; no report depends on it")
	c.Flags().StringVar(&f.cache, "cache", "", "keep results in `DIR`: what has not changed since, or was done before a run broke off, is not analysed again")
}

func (f *batchFlags) addShard(c *cobra.Command) {
	c.Flags().StringVar(&f.shard, "shard", "", "check part `I/N` of the models, I from 0 (/N: as JOB_COMPLETION_INDEX says); amplint merge joins the JSON reports")
}

// check analyses the models that arguments name. One that cannot be analysed does not keep the
// others from it; the exit code is the gravest. Inputs that show errors go to dir, if that is named.
func (a *app) check(ctx context.Context, args []string, opt analyze.Options, b *batchFlags, dir string) (*report.File, error) {
	all, err := batch.Expand(args)
	if err != nil {
		return nil, &failure{exitUsage, err}
	}
	opt.Lenient, opt.Witnesses = len(all) > 1, dir != ""
	opt.Profile = (opt.Profile || b.shard != "") && len(all) <= maxDrawn // a page may be made of shards
	k := &checking{app: a, opt: opt, out: &report.File{}}
	if err := k.prepare(b, all); err != nil {
		return nil, err
	}
	if dir != "" {
		if k.witnesses, err = newWitnessWriter(dir, opt); err != nil {
			return nil, err
		}
	}
	if err := k.run(ctx, b.jobs); err != nil {
		return nil, err
	}
	if k.witnesses != nil {
		if err := k.witnesses.close(); err != nil {
			return nil, err
		}
	}
	if k.shard == nil {
		a.missed(k.missed)
	} else {
		k.shard.Missed = common(k.missed)
	}
	k.out.Shard = k.shard
	return k.out, nil
}

// prepare takes the shard's models and opens the cache.
func (k *checking) prepare(b *batchFlags, all []string) error {
	if b.jobs < 0 {
		return usagef("--jobs: %d is negative", b.jobs)
	}
	s, err := batch.ParseShard(b.shard, os.Getenv)
	if err != nil {
		return usagef("--shard: %w", err)
	}
	k.at = s.Positions(len(all))
	for _, i := range k.at {
		k.paths = append(k.paths, all[i])
	}
	if s.Count > 0 {
		k.shard = &report.Shard{Index: s.Index, Count: s.Count, Total: len(all), Models: []int{}, Failures: []int{}, FailOn: k.opt.FailOn.String()}
	}
	if b.cache == "" || k.opt.Witnesses { // which are more than a report
		return nil
	}
	if k.cache, err = batch.OpenCache(b.cache, Version); err != nil {
		return usagef("--cache: %w", err)
	}
	h := sha256.New()
	if err := analyze.Given(h, &k.opt); err != nil {
		return usagef("--cache: %w", err)
	}
	k.given = string(h.Sum(nil))
	return nil
}
