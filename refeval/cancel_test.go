package refeval

import (
	"context"
	"errors"
	"testing"
	"time"
)

// busy are models that take very long; each must end soon after its run is called off.
var busy = map[string]string{
	"loop": `m (float[N] x, int64 n) => (float[N] y) {
		y = Loop(n, , x) <body = b (int64 i, bool c, float[N] s) => (bool d, float[N] r) { d = Identity(c) r = Add(s, x) }>
	}`,
	"a long body": `m (float[N] x, int64 n) => (float[N] y) <int64 one = {1}, int64 zero = {0}> {
		y = Loop(one, , x) <body = b (int64 i, bool c, float[N] s) => (bool d, float[N] r) {
			d = Identity(c)
			r = Loop(n, , s) <body = e (int64 j, bool f, float[N] t) => (bool g, float[N] u) { g = Identity(f) u = Neg(t) }>
		}>
	}`,
	"samples of regions": `m (float[N] x, int64 n) => (float[1,1,60,60] y) <float[1,1,2,2] im = {1, 2, 3, 4}, float[1,4] r = {0, 0, 2, 2}, int64[1] b = {0}> {
		y = RoiAlign<output_height = 60, output_width = 60, sampling_ratio = 1024>(im, r, b)
	}`,
	"taps of a window": `m (float[N] x, int64 n) => (float[1,1,2,2] y) <float[1,1,2,2] im = {1, 2, 3, 4}> {
		y = LpPool<kernel_shape = [200001, 3001], pads = [100000, 1500, 100000, 1500], p = 3>(im)
	}`,
}

func TestCancelLong(t *testing.T) {
	for name, text := range busy {
		t.Run(name, func(t *testing.T) {
			r, err := New(parse(t, head(text)), Options{Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
			defer cancel()
			start := time.Now()
			_, err = r.Run(ctx, inputs([]float32{1, 2}, []int64{1 << 40}))
			if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 3*time.Second {
				t.Errorf("%v after %v", err, took)
			}
		})
	}
}
