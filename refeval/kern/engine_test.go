package kern

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestParallelCoversEveryIndexOnce(t *testing.T) {
	for threads := 1; threads <= 4; threads++ {
		e := NewAt(Go, threads)
		for n := range 70 {
			hits := make([]atomic.Int32, n)
			e.Parallel(n, 4, grain, func(lo, hi int) {
				if lo%4 != 0 {
					t.Errorf("a range of %d begins at %d", n, lo)
				}
				for i := lo; i < hi; i++ {
					hits[i].Add(1)
				}
			})
			for i := range hits {
				if h := hits[i].Load(); h != 1 {
					t.Errorf("%d threads: index %d of %d was done %d times", threads, i, n, h)
				}
			}
		}
		e.Close()
	}
}

func TestParallelFromManyGoroutines(t *testing.T) {
	e := NewAt(Go, 3)
	defer e.Close()
	var wg sync.WaitGroup
	var sum atomic.Int64
	for range 8 {
		wg.Go(func() {
			for range 50 {
				e.Parallel(64, 1, grain, func(lo, hi int) { sum.Add(int64(hi - lo)) })
			}
		})
	}
	wg.Wait()
	if sum.Load() != 8*50*64 {
		t.Errorf("%d calls in all", sum.Load())
	}
}

func TestParallelWakesSleepers(t *testing.T) {
	e := NewAt(Go, 2)
	defer e.Close()
	for range 5 {
		time.Sleep(5 * spin)
		met := make(chan bool)
		e.Parallel(2, 1, grain, func(lo, hi int) { // both must run at the same time
			select {
			case met <- true:
			case <-met:
			case <-time.After(10 * time.Second):
				t.Error("the other half never ran")
			}
		})
	}
}

func TestParallelPassesOnPanics(t *testing.T) {
	e := NewAt(Go, 2)
	defer e.Close()
	defer func() {
		if r := recover(); r != "no" {
			t.Errorf("recovered %v", r)
		}
	}()
	e.Parallel(64, 1, grain, func(lo, hi int) { panic("no") })
}

func TestLevelsHaveNames(t *testing.T) {
	for i, l := range Levels() {
		if l != Level(i) || NewAt(l, 1).Level() != l || l.String() == "" {
			t.Errorf("level %d is %v", i, l)
		}
	}
}
