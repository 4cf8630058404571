package refeval

import "slices"

func scatterOps() []entry {
	return []entry{
		op("Scatter", scatterElements),
		op("ScatterElements", scatterElements),
		op("ScatterND", scatterND),
		mover("TensorScatter", tensorScatter),
	}
}

// scatterElements writes one element for each index. Elements that are named twice under a
// reduction are combined in the order of the indices.
func scatterElements(c *Call) error {
	x, ind, u := c.In(0), c.In(1), c.In(2)
	if !slices.Equal(ind.Dims, u.Dims) {
		refuse("indices %v for updates %v", ind.Dims, u.Dims)
	}
	list := elementsAt(x.Dims, ind, axis(c.Int("axis"), x.Rank()))
	sameType(x, u)
	put := c.reduction()
	y := c.Clone(x)
	for i, k := range list {
		put(y, k, u, i, 1)
	}
	c.Set(0, TensorValue(y))
	return nil
}

// scatterND writes the block of updates that belongs to each row of indices.
func scatterND(c *Call) error {
	x, ind, u := c.In(0), c.In(1), c.In(2)
	if ind.Rank() == 0 || ind.Dims[ind.Rank()-1] > x.Rank() {
		refuse("indices %v into %s", ind.Dims, x)
	}
	depth := ind.Dims[ind.Rank()-1]
	if !slices.Equal(u.Dims, slices.Concat(ind.Dims[:ind.Rank()-1], x.Dims[depth:])) {
		refuse("updates %v for indices %v into %s", u.Dims, ind.Dims, x)
	}
	block := size(x.Dims[depth:])
	sameType(x, u)
	put := c.reduction()
	y := c.Clone(x)
	for i, k := range rowsAt(x.Dims[:depth], ind) {
		put(y, k*block, u, i*block, block)
	}
	c.Set(0, TensorValue(y))
	return nil
}

// reduction returns how elements are written over others: by the attribute of that name.
func (c *Call) reduction() func(y *Tensor, k int, u *Tensor, i, n int) {
	var a arith
	switch r := c.Str("reduction"); r {
	case "", "none":
		return copyRun
	case "add":
		a = addition()
	case "mul":
		a = multiplication()
	case "max":
		a = maximum()
	case "min":
		a = minimum()
	default:
		refuse("unknown reduction %q", r)
	}
	acc := c.accum()
	return func(y *Tensor, k int, u *Tensor, i, n int) {
		for j := range n {
			acc.combine(a, y, k+j, u, i+j)
		}
	}
}

// combine sets element k of y to an operation of it and element i of u.
func (acc accum) combine(a arith, y *Tensor, k int, u *Tensor, i int) {
	switch storeOf(y.Elem) {
	case storeF:
		y.F[k] = acc.round(a.f(y.F[k], u.F[i]))
	case storeD:
		y.D[k] = a.d(y.D[k], u.D[i])
	case storeI:
		y.I[k] = wrap(a.i(y.I[k], u.I[i], y.Elem), y.Elem)
	default:
		refuse("no reduction of %s", y.Elem)
	}
}

// tensorScatter writes new rows into a cache, from an index on that each batch has of its own.
func tensorScatter(c *Call) error {
	x, u := c.In(0), c.In(1)
	at := axis(c.Int("axis"), x.Rank())
	if sameType(x, u); at == 0 || u.Rank() != x.Rank() || u.Dims[at] > x.Dims[at] {
		refuse("an update %s of the cache %s along axis %d", u, x, at)
	}
	outer, n, inner := split3(x.Dims, at)
	rows := u.Dims[at]
	if size(u.Dims[:at]) != outer || size(u.Dims[at+1:]) != inner {
		refuse("an update %s of the cache %s", u, x)
	}
	first := make([]int, x.Dims[0])
	if c.Has(2) {
		first = c.In(2).ints()
	}
	circular := c.Str("mode") == "circular"
	y := c.Clone(x)
	for o := range outer {
		from := first[o/(outer/x.Dims[0])]
		for r := range rows {
			k := from + r
			if circular {
				k %= n
			}
			copyRun(y, (o*n+index(int64(k), n))*inner, u, (o*rows+r)*inner, inner)
		}
	}
	c.Set(0, TensorValue(y))
	return nil
}
