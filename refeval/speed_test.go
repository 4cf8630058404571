package refeval

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/samples"
)

// BenchmarkRunModel times the models that AMPLINT_MODELS names, separated by commas, each with an
// NPZ of inputs beside it, on AMPLINT_THREADS threads. It reports the median processor time of a
// run after the first, and the least time of both kinds.
//
//	AMPLINT_MODELS=a.onnx,b.onnx go test ./refeval -run '^$' -bench RunModel -benchtime 20x
func BenchmarkRunModel(b *testing.B) {
	if os.Getenv("AMPLINT_MODELS") == "" {
		b.Skip("AMPLINT_MODELS names no models")
	}
	threads, err := strconv.Atoi(os.Getenv("AMPLINT_THREADS"))
	if err != nil {
		threads = 1
	}
	forms := []struct {
		name string
		opt  Options
	}{
		{"fp32", Options{}},
		{"fp16", Options{As: numfmt.FP16}},
		{"fp16sums", Options{As: numfmt.FP16, Accumulate: Target}},
	}
	for _, path := range strings.Split(os.Getenv("AMPLINT_MODELS"), ",") {
		for _, f := range forms {
			f.opt.Threads = threads
			b.Run(strings.TrimSuffix(filepath.Base(path), ".onnx")+"/"+f.name, func(b *testing.B) { benchModel(b, path, f.opt) })
		}
	}
}

func benchModel(b *testing.B, path string, opt Options) {
	m, err := graph.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	r, err := New(m, opt)
	if err != nil {
		b.Fatal(err)
	}
	in := sampleOf(b, strings.TrimSuffix(path, ".onnx")+".npz", m)
	var times []float64
	var wall time.Duration
	run := func() {
		start, clock := cpuSeconds(), time.Now()
		if _, err := r.Run(context.Background(), in); err != nil {
			b.Fatal(err)
		}
		wall = min(wall, time.Since(clock))
		times = append(times, 1000*(cpuSeconds()-start))
	}
	run()
	times, wall = nil, time.Hour
	for b.Loop() {
		run()
	}
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2], "cpu-ms")
	b.ReportMetric(times[0], "least-cpu-ms")
	b.ReportMetric(float64(wall.Microseconds())/1000, "least-wall-ms")
	b.ReportMetric(0, "ns/op")
}

func sampleOf(t testing.TB, path string, m *graph.Model) map[string]*Value {
	list, err := samples.Load(path, m.Graph.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]*Value{}
	for name, v := range list[0].Inputs {
		if in[name], err = FromSample(v); err != nil {
			t.Fatal(err)
		}
	}
	return in
}
