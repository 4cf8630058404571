package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// part is the report of a shard that has the models at the positions given.
func part(index, count int, at ...int) *File {
	f := &File{Shard: &Shard{Index: index, Count: count, Total: 5}}
	for _, i := range at {
		name := string(rune('a' + i))
		if i == 3 { // the one that failed
			f.Failures, f.Shard.Failures = append(f.Failures, Failure{Path: name}), append(f.Shard.Failures, i)
			continue
		}
		f.Models, f.Shard.Models = append(f.Models, &Model{Path: name}), append(f.Shard.Models, i)
	}
	return f
}

func TestMerge(t *testing.T) {
	names := []string{"0.json", "1.json", "2.json"}
	got, err := Merge([]*File{part(1, 3, 1, 4), part(2, 3, 2), part(0, 3, 0, 3)}, names)
	if err != nil {
		t.Fatal(err)
	}
	want := &File{Models: []*Model{{Path: "a"}, {Path: "b"}, {Path: "c"}, {Path: "e"}}, Failures: []Failure{{Path: "d"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	bent := part(1, 2, 1)
	bent.Shard.Models = nil
	other := part(1, 2, 1)
	other.Tool.Version = "2"
	for want, files := range map[string][]*File{
		"shard 1/3, 2/3 is missing":                   {part(0, 3, 0)},
		"0.json and 1.json are both shard 1":          {part(1, 3, 1), part(1, 3, 1)},
		"0.json and 1.json are shards of":             {part(0, 2, 1), part(1, 3, 1)},
		"1.json is a shard and 0.json is none":        {{}, part(0, 2, 0)},
		"0.json is a shard and 1.json is none":        {part(0, 2, 0), {}},
		"1.json: its shard does not fit":              {part(0, 2, 0), bent},
		"0.json and 1.json were written by different": {part(0, 2, 0), other},
		"0.json: its shard does not fit its models":   {part(2, 2)},
	} {
		if _, err := Merge(files, names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
