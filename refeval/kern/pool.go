package kern

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// spin is how long an idle worker looks for work before it sleeps. Waking a goroutine takes longer
// than many kernels; spinning for good would take the processor from others.
const spin = 30 * time.Microsecond

// pool is a team of goroutines that help the caller of run.
type pool struct {
	busy    sync.Mutex // held during a run
	job     atomic.Pointer[job]
	closed  atomic.Bool
	workers []*worker
}

type worker struct {
	asleep atomic.Bool
	wake   chan struct{}
}

// job is one call of run. It is never used again, so that a late worker finds no work in it.
type job struct {
	f    func(i int)
	n    int64
	next atomic.Int64
	left atomic.Int64
	done chan struct{}

	mu     sync.Mutex
	failed any
}

// newPool makes a pool of so many threads, the caller's included.
func newPool(threads int) *pool {
	p := &pool{}
	for range threads - 1 {
		w := &worker{wake: make(chan struct{}, 1)}
		p.workers = append(p.workers, w)
		go p.work(w)
	}
	return p
}

// run calls f(0) to f(n-1) and returns when all have returned. While another goroutine is in run,
// the caller does all by itself.
func (p *pool) run(n int, f func(i int)) {
	j := &job{f: f, n: int64(n), done: make(chan struct{})}
	j.left.Store(j.n)
	if p.busy.TryLock() {
		p.job.Store(j)
		p.wakeAll()
		defer p.busy.Unlock()
	}
	j.take()
	j.wait()
	if j.failed != nil {
		panic(j.failed)
	}
}

func (p *pool) wakeAll() {
	for _, w := range p.workers {
		if w.asleep.CompareAndSwap(true, false) {
			w.wake <- struct{}{}
		}
	}
}

func (p *pool) close() {
	p.closed.Store(true)
	p.wakeAll()
}

// work is the life of a worker.
func (p *pool) work(w *worker) {
	var last *job
	for !p.closed.Load() {
		j := p.job.Load()
		if j == last && !p.look(last) {
			p.sleep(w, last)
			continue
		}
		j = p.job.Load()
		j.take()
		last = j
	}
}

// look spins until there is another job than last, or it is time to sleep.
func (p *pool) look(last *job) bool {
	for start := time.Now(); time.Since(start) < spin; {
		for range 64 {
			if p.job.Load() != last {
				return true
			}
		}
		if p.closed.Load() {
			return false
		}
	}
	return false
}

// sleep waits to be woken. The second look closes the gap in which run saw the worker awake.
func (p *pool) sleep(w *worker, last *job) {
	w.asleep.Store(true)
	if (p.job.Load() != last || p.closed.Load()) && w.asleep.CompareAndSwap(true, false) {
		return
	}
	<-w.wake
}

// take does what is left to do.
func (j *job) take() {
	for i := j.next.Add(1) - 1; i < j.n; i = j.next.Add(1) - 1 {
		j.do(int(i))
	}
}

func (j *job) do(i int) {
	defer func() {
		if r := recover(); r != nil {
			j.mu.Lock()
			j.failed = r
			j.mu.Unlock()
		}
		if j.left.Add(-1) == 0 {
			close(j.done)
		}
	}()
	j.f(i)
}

// wait returns when all is done.
func (j *job) wait() {
	for start := time.Now(); time.Since(start) < spin; {
		for range 64 {
			if j.left.Load() == 0 {
				return
			}
		}
		runtime.Gosched()
	}
	<-j.done
}
