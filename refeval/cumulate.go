package refeval

func cumulateOps() []entry {
	return []entry{
		op("CumProd", func(c *Call) error { return c.cumulate(multiplication(), 1) }),
		op("CumSum", func(c *Call) error { return c.cumulate(addition(), 0) }),
	}
}

// cumulate sets output 0 to the results of an operation on all elements up to each along an axis;
// without that itself under exclusive, from the end under reverse.
func (c *Call) cumulate(a arith, neutral float64) error {
	x := c.In(0)
	list := []int{axis(c.In(1).int(), x.Rank())}
	t, n := c.rows(x, list)
	y := c.Temp(x.Elem, t.Dims)
	exclusive, back := c.Int("exclusive") != 0, c.Int("reverse") != 0
	acc := c.accum()
	sofar := c.Temp(x.Elem, []int{1})
	for i := range t.Len() {
		k := i
		if back {
			k = i - i%n + n - 1 - i%n
		}
		if i%n == 0 {
			sofar.put64(0, neutral)
		}
		if exclusive {
			copyRun(y, k, sofar, 0, 1)
		}
		acc.combine(a, sofar, 0, t, k)
		if !exclusive {
			copyRun(y, k, sofar, 0, 1)
		}
	}
	c.unrows(y, list, x.Dims)
	return nil
}
