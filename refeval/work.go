package refeval

// Bounds on the operations of a kernel, of about a nanosecond each.
const (
	foldWork = 1 << 32 // of one constant that is folded; shapes take far fewer
	pause    = 1 << 26 // after so many the kernel looks whether the run is still wanted
)

// spend counts operations of a kernel before they are done, and ends the kernel where the run is
// over. Loops call it that an attribute makes long, as do all parts of parallel work. An operator
// that is folded has no context to end it, so a model that lies must not keep it busy for ever.
func (c *Call) spend(ops int) {
	if c.x.fold && c.x.spent.Add(int64(max(ops, 0))) > foldWork {
		refuse("more than %d operations are too many for a constant", foldWork)
	}
	if err := c.x.ctx.Err(); err != nil {
		panic(refusal{err})
	}
}

// steadily calls f on parts of [lo, hi), so that the kernel can be ended between them.
func (c *Call) steadily(lo, hi, cost int, f func(lo, hi int)) {
	step := max(pause/max(cost, 1), 1)
	for lo < hi {
		next := min(hi-lo, step) + lo
		c.spend((next - lo) * min(max(cost, 1), pause))
		f(lo, next)
		lo = next
	}
}
