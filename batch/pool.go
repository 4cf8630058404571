package batch

import (
	"context"
	"sync"
)

// Pool says how jobs are handed out.
type Pool struct {
	Workers int
	// Budget bounds the sum of the costs of the jobs at work. A job that is dearer runs alone.
	Budget int64
	// Cost is what a job takes of the budget; nil for nothing.
	Cost func(i int) int64
}

// Run does n jobs on several processors. done hears of each in the order of the jobs, one at a time,
// as soon as those before it are done; when it returns false no further job begins. A context that
// ends does the same.
func Run[T any](ctx context.Context, p Pool, n int, do func(ctx context.Context, i int) T, done func(i int, result T) bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	q := &queue{ctx: ctx, pool: p, n: n}
	q.free = sync.NewCond(&q.mu)
	unlock := context.AfterFunc(ctx, func() { q.mu.Lock(); defer q.mu.Unlock(); q.free.Broadcast() })
	defer unlock()
	type result struct {
		i int
		t T
	}
	out := make(chan result)
	var workers sync.WaitGroup
	for range max(1, min(p.Workers, n)) {
		workers.Go(func() {
			for {
				i, cost, ok := q.take()
				if !ok {
					return
				}
				t := do(ctx, i)
				q.give(cost)
				out <- result{i, t}
			}
		})
	}
	go func() { workers.Wait(); close(out) }()
	waiting := map[int]T{}
	next, going := 0, true
	for r := range out {
		waiting[r.i] = r.t
		for going {
			t, ok := waiting[next]
			if !ok {
				break
			}
			delete(waiting, next)
			if going = done(next, t); !going {
				stop()
			}
			next++
		}
	}
}

// queue gives out the numbers of jobs in order.
type queue struct {
	ctx  context.Context
	pool Pool
	n    int

	mu      sync.Mutex
	free    *sync.Cond
	next    int
	working int
	spent   int64
}

// take waits until the next job fits the budget.
func (q *queue) take() (i int, cost int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.ctx.Err() != nil || q.next >= q.n {
			return 0, 0, false
		}
		if cost = 0; q.pool.Cost != nil {
			cost = q.pool.Cost(q.next)
		}
		if q.working == 0 || q.spent+cost <= q.pool.Budget {
			break
		}
		q.free.Wait()
	}
	i = q.next
	q.next++
	q.working++
	q.spent += cost
	return i, cost, true
}

func (q *queue) give(cost int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.working--
	q.spent -= cost
	q.free.Broadcast()
}
