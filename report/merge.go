package report

import (
	"fmt"
	"slices"
	"strings"
)

// Shard tells which part of a run a report is of, and what it takes to join it to the others.
type Shard struct {
	Index    int      `json:"index"` // from 0
	Count    int      `json:"count"`
	Total    int      `json:"total"`    // models of the whole run
	Models   []int    `json:"models"`   // the positions of the report's models in the run
	Failures []int    `json:"failures"` // and of those that failed
	FailOn   string   `json:"fail_on"`
	Missed   []string `json:"missed"` // what fits none of the shard's models
}

// Merge joins reports: shards to the report that the whole run would have given, others one after
// the other. names are those of the files, for messages. The parts of a run must all be there.
func Merge(files []*File, names []string) (*File, error) {
	if len(files) == 0 {
		return &File{}, nil
	}
	first := files[0].Shard
	for i, f := range files {
		if (f.Shard == nil) == (first == nil) {
			continue
		}
		part, whole := names[0], names[i]
		if first == nil {
			part, whole = names[i], names[0]
		}
		return nil, fmt.Errorf("%s is a shard and %s is none: shards are joined with shards", part, whole)
	}
	if first == nil {
		out := &File{}
		for _, f := range files {
			out.Models = append(out.Models, f.Models...)
			out.Failures = append(out.Failures, f.Failures...)
		}
		return out, nil
	}
	if err := complete(files, names); err != nil {
		return nil, err
	}
	return join(files), nil
}

// complete makes sure that the files are all the shards of one run.
func complete(files []*File, names []string) error {
	first := files[0]
	seen := make([]int, max(first.Shard.Count, 1)) // number of the file, from 1
	for i, f := range files {
		s := f.Shard
		switch {
		case s.Count != first.Shard.Count || s.Total != first.Shard.Total || s.FailOn != first.Shard.FailOn:
			return fmt.Errorf("%s and %s are shards of different runs", names[0], names[i])
		case f.Tool != first.Tool:
			return fmt.Errorf("%s and %s were written by different versions (%s and %s)", names[0], names[i], first.Tool.Version, f.Tool.Version)
		case s.Index < 0 || s.Index >= len(seen) || len(s.Models) != len(f.Models) || len(s.Failures) != len(f.Failures):
			return fmt.Errorf("%s: its shard does not fit its models", names[i])
		case seen[s.Index] > 0:
			return fmt.Errorf("%s and %s are both shard %d", names[seen[s.Index]-1], names[i], s.Index)
		}
		seen[s.Index] = i + 1
	}
	var missing []string
	for i, n := range seen {
		if n == 0 {
			missing = append(missing, fmt.Sprintf("%d/%d", i, len(seen)))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("shard %s is missing", strings.Join(missing, ", "))
	}
	return nil
}

// placed is something at its position in the run.
type placed[T any] struct {
	at   int
	what T
}

// inOrder returns things by their positions.
func inOrder[T any](list []placed[T]) []T {
	slices.SortStableFunc(list, func(a, b placed[T]) int { return a.at - b.at })
	var out []T
	for _, p := range list {
		out = append(out, p.what)
	}
	return out
}

func join(files []*File) *File {
	var models []placed[*Model]
	var failures []placed[Failure]
	for _, f := range files {
		for i, m := range f.Models {
			models = append(models, placed[*Model]{f.Shard.Models[i], m})
		}
		for i, x := range f.Failures {
			failures = append(failures, placed[Failure]{f.Shard.Failures[i], x})
		}
	}
	return &File{Models: inOrder(models), Failures: inOrder(failures)}
}
