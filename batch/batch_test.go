package batch

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes empty files in a folder and works there.
func tree(t *testing.T, files ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

func TestExpand(t *testing.T) {
	tree(t, "b/m.onnx", "b/deep/er/n.ONNX", "b/.git/x.onnx", "b/data.npz", "b/z.onnx.gz", "a.onnx", "a.onnxtxt", "[x].onnx")
	for _, c := range []struct{ args, want string }{
		{"a.onnx", "a.onnx"},
		{"b", "b/deep/er/n.ONNX b/m.onnx b/z.onnx.gz"},
		{"b a.onnx b/m.onnx ./a.onnx", "b/deep/er/n.ONNX b/m.onnx b/z.onnx.gz a.onnx"},
		{"*.onnx", "[x].onnx a.onnx"},
		{"[x].onnx", "[x].onnx"},
		{"**/*.onnx", "[x].onnx a.onnx b/m.onnx"},
		{"b/**/?.*", "b/deep/er/n.ONNX b/m.onnx b/z.onnx.gz"},
		{"*/m.onnx", "b/m.onnx"},
		{"nosuch.onnx -", "nosuch.onnx -"},
	} {
		got, err := Expand(strings.Fields(c.args))
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
		}
		if d := cmp.Diff(strings.Fields(c.want), slices.Collect(slashed(got))); d != "" {
			t.Errorf("%s: %s", c.args, d)
		}
	}
	for _, bad := range []string{"c*", "**/*.pb", "["} {
		if got, err := Expand([]string{bad}); err == nil {
			t.Errorf("%s: no error, but %v", bad, got)
		}
	}
	if err := os.Mkdir("empty", 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Expand([]string{"empty"}); err == nil || !strings.Contains(err.Error(), "no model in this folder") {
		t.Errorf("error %v", err)
	}
}

func slashed(list []string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, p := range list {
			if !yield(filepath.ToSlash(p)) {
				return
			}
		}
	}
}

// TestRunOrder shows that results come in the order of the jobs, whatever order they end in.
func TestRunOrder(t *testing.T) {
	release := make(chan bool)
	var got []int
	Run(context.Background(), Pool{Workers: 2}, 5, func(_ context.Context, i int) int {
		switch i {
		case 0:
			<-release // ends after job 1
		case 1:
			defer close(release)
		}
		return 10 * i
	}, func(i, result int) bool { got = append(got, i, result); return true })
	if d := cmp.Diff([]int{0, 0, 1, 10, 2, 20, 3, 30, 4, 40}, got); d != "" {
		t.Error(d)
	}
}

// TestRunBudget shows that what is at work never costs more than the budget, unless it is one job.
func TestRunBudget(t *testing.T) {
	var now, most atomic.Int64
	costs := []int64{3, 3, 3, 20, 1, 9, 9, 2, 2, 2}
	Run(context.Background(), Pool{Workers: 4, Budget: 10, Cost: func(i int) int64 { return costs[i] }}, len(costs), func(_ context.Context, i int) int {
		sum := now.Add(costs[i])
		if sum > 10 && sum != costs[i] {
			t.Errorf("job %d runs at %d of 10", i, sum)
		}
		if sum > most.Load() {
			most.Store(sum)
		}
		for range 100 {
			runtime.Gosched()
		}
		now.Add(-costs[i])
		return i
	}, func(int, int) bool { return true })
	if most.Load() != 20 {
		t.Errorf("at most %d was at work", most.Load())
	}
}

// TestRunStops shows that no job begins after one is found to end the run, or after an interrupt.
func TestRunStops(t *testing.T) {
	var begun atomic.Int64
	heard := 0
	Run(context.Background(), Pool{Workers: 1}, 1000, func(context.Context, int) int { begun.Add(1); return 0 },
		func(i, _ int) bool { heard++; return i < 3 })
	if heard != 4 || begun.Load() > 6 {
		t.Errorf("%d jobs heard of, %d begun", heard, begun.Load())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	Run(ctx, Pool{Workers: 3}, 10, func(context.Context, int) int { t.Error("a job ran"); return 0 }, func(int, int) bool { return true })
}

func TestShard(t *testing.T) {
	env := func(string) string { return "2" }
	none := func(string) string { return "" }
	for s, want := range map[string]Shard{"": {}, "0/3": {0, 3}, "2/3": {2, 3}, "/4": {2, 4}} {
		if got, err := ParseShard(s, env); err != nil || got != want {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"3/3", "-1/3", "1", "a/3", "1/0", "/", "/x", "/2"} {
		if got, err := ParseShard(s, none); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
	var all []int
	for i := range 3 {
		all = append(all, Shard{i, 3}.Positions(7)...)
	}
	slices.Sort(all)
	if d := cmp.Diff([]int{0, 1, 2, 3, 4, 5, 6}, all); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{0, 1, 2}, Shard{}.Positions(3)); d != "" {
		t.Error(d)
	}
}
