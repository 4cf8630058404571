package kern

import (
	"os"
	"runtime"
	"sync"
)

// Level is an instruction set that kernels are written for.
type Level uint8

// The levels, from the one every processor has.
const (
	Go Level = iota
	AVX2
	AVX512
)

// String returns the name that AMPLINT_CPU takes.
func (l Level) String() string { return [...]string{"go", "avx2", "avx512"}[l] }

// best is the level that the processor has and the environment allows.
var best = sync.OnceValue(func() Level {
	want := os.Getenv("AMPLINT_CPU")
	for l := Go; l < supported(); l++ {
		if l.String() == want {
			return l
		}
	}
	return supported()
})

// Levels returns the levels this processor can run.
func Levels() []Level {
	var list []Level
	for l := Go; l <= supported(); l++ {
		list = append(list, l)
	}
	return list
}

// maxThreads bounds the default: what the kernels gain from more is not worth a shared machine.
const maxThreads = 4

// Engine runs kernels on one instruction set and a number of threads. Its methods may be called by
// several goroutines at a time; only one of them then has the threads, the others run alone.
type Engine struct {
	level Level
	pool  *pool // nil for one thread
}

// New makes an engine of the best level. Zero threads is one for each processor, at most four.
// Close ends its goroutines.
func New(threads int) *Engine { return NewAt(best(), threads) }

// NewAt makes an engine of a level, or of the highest the processor has below it.
func NewAt(l Level, threads int) *Engine {
	if threads <= 0 {
		threads = min(runtime.GOMAXPROCS(0), maxThreads)
	}
	e := &Engine{level: min(l, supported())}
	if threads > 1 {
		e.pool = newPool(threads)
	}
	return e
}

// Level returns the instruction set in use.
func (e *Engine) Level() Level { return e.level }

// Threads returns how many goroutines a kernel may use.
func (e *Engine) Threads() int {
	if e.pool == nil {
		return 1
	}
	return len(e.pool.workers) + 1
}

// Close ends the goroutines of the engine, which must be idle. It then runs on one thread.
func (e *Engine) Close() {
	if e.pool != nil {
		e.pool.close()
		e.pool = nil
	}
}

// Serial returns an engine that shares nothing with e and runs in the caller's goroutine.
func (e *Engine) Serial() *Engine { return &Engine{level: e.level} }

// Parallel calls f on ranges that together are [0, n), at the same time if the whole work of n
// times cost element operations pays for it. A panic of f is passed on. Ranges begin at multiples
// of align.
func (e *Engine) Parallel(n, align, cost int, f func(lo, hi int)) {
	parts := e.parts(n, align, cost)
	if parts <= 1 {
		if n > 0 {
			f(0, n)
		}
		return
	}
	step := roundUp((n+parts-1)/parts, align)
	e.pool.run((n+step-1)/step, func(i int) { f(i*step, min((i+1)*step, n)) })
}

// grain is the least number of element operations, of about a third of a nanosecond, that are worth
// waking a thread.
const grain = 1 << 15

// parts says into how many ranges to cut. More than there are threads let a late one catch up.
func (e *Engine) parts(n, align, cost int) int {
	if e.pool == nil || n <= align {
		return 1
	}
	most := float64(n) * float64(max(cost, 1)) / grain
	units := (n + align - 1) / align
	if most < 2 {
		return 1
	}
	return min(2*e.Threads(), units, int(min(most, 1<<20)))
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
