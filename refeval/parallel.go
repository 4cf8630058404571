package refeval

import (
	"sync"

	"github.com/amplint/amplint/refeval/kern"
)

// engine runs the kernels of the run's threads.
func (c *Call) engine() *kern.Engine { return c.x.r.engine }

// serial returns the engine for rows within a part of a kernel, which has its thread already.
var serial = sync.OnceValue(func() *kern.Engine { return kern.New(1) })

// parallel calls f on ranges that together are [0, n), at the same time where that pays; cost is
// the number of element operations of one of the n. Each result must be computed whole within one
// call, so that the split cannot change it.
func (c *Call) parallel(n, cost int, f func(lo, hi int)) {
	if n == 0 {
		f(0, 0)
		return
	}
	c.engine().Parallel(n, 1, cost, func(lo, hi int) { c.steadily(lo, hi, cost, f) })
}
