package refeval

import "sync"

// grain is the least number of element operations worth a goroutine.
const grain = 1 << 15

// parallel calls f on ranges that together are [0, n), at the same time where that pays; cost is
// the number of element operations of one of the n. Each result must be computed whole within one
// call, so that the split cannot change it.
func (c *Call) parallel(n, cost int, f func(lo, hi int)) {
	k := min(c.x.threads(), n, n*max(cost, 1)/grain)
	if k <= 1 {
		f(0, n)
		return
	}
	step := (n + k - 1) / k
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed any
	for lo := 0; lo < n; lo += step {
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					mu.Lock()
					failed = r
					mu.Unlock()
				}
			}()
			f(lo, min(lo+step, n))
		})
	}
	wg.Wait()
	if failed != nil {
		panic(failed) // where the executor can catch it
	}
}
