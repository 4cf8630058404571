package infer

// strides returns how far apart neighbours along each dimension lie.
func strides(dims []int64) []int64 {
	s := make([]int64, len(dims))
	n := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = n
		n *= dims[i]
	}
	return s
}

// pick returns the elements of a tensor of shape dims that lie at base + Σ index·step.
func (d *data) pick(dims, step []int64, base int64) []num {
	n := int64(1)
	for _, k := range dims {
		n *= k
	}
	out := make([]num, 0, n)
	index := make([]int64, len(dims))
	for at := base; int64(len(out)) < n; {
		if at < 0 || at >= d.len() {
			return nil
		}
		out = append(out, d.at[at])
		for i := len(dims) - 1; i >= 0; i-- {
			index[i]++
			if at += step[i]; index[i] < dims[i] {
				break
			}
			at -= step[i] * dims[i]
			index[i] = 0
		}
	}
	return out
}

// spread broadcasts to dims; nil where that is not possible.
func (d *data) spread(dims []int64) []num {
	skip := len(dims) - len(d.dims)
	if skip < 0 {
		return nil
	}
	own := strides(d.dims)
	step := make([]int64, len(dims))
	for i, k := range d.dims {
		switch k {
		case dims[skip+i]:
			step[skip+i] = own[i]
		case 1:
		default:
			return nil
		}
	}
	return d.pick(dims, step, 0)
}

// reshaped keeps the elements under the inferred shape.
func reshaped(c *ctx, in []*data) []*data {
	dims, ok := c.out[0].Shape.Ints()
	if n, _ := elements(c.out[0].Shape); !ok || n != in[0].len() {
		return nil
	}
	return []*data{{dims: dims, at: append([]num(nil), in[0].at...)}}
}

func foldTranspose(c *ctx, in []*data) []*data {
	dims, ok := c.out[0].Shape.Ints()
	perm := c.n.Ints("perm")
	if !ok || len(dims) != len(in[0].dims) || perm != nil && len(perm) != len(dims) {
		return nil
	}
	own := strides(in[0].dims)
	step := make([]int64, len(dims))
	for i := range dims {
		from := len(dims) - 1 - i
		if perm != nil {
			from = int(perm[i])
		}
		step[i] = own[from]
	}
	return []*data{{dims: dims, at: in[0].pick(dims, step, 0)}}
}

func foldExpand(c *ctx, in []*data) []*data {
	dims, ok := c.out[0].Shape.Ints()
	if !ok {
		return nil
	}
	at := in[0].spread(dims)
	if at == nil {
		return nil
	}
	return []*data{{dims: dims, at: at}}
}

// foldTile reads each dimension several times: as the outer one of a pair with step 0.
func foldTile(c *ctx, in []*data) []*data {
	dims, ok := c.out[0].Shape.Ints()
	if !ok || len(dims) != len(in[0].dims) {
		return nil
	}
	own := strides(in[0].dims)
	var pairs, step []int64
	for i, k := range in[0].dims {
		if k == 0 {
			return nil
		}
		pairs = append(pairs, dims[i]/k, k)
		step = append(step, 0, own[i])
	}
	return []*data{{dims: dims, at: in[0].pick(pairs, step, 0)}}
}

// alongAxis returns the number of blocks before an axis and the elements of one index of it.
func alongAxis(dims []int64, axis int) (outer, inner int64) {
	outer, inner = 1, 1
	for _, k := range dims[:axis] {
		outer *= k
	}
	for _, k := range dims[axis+1:] {
		inner *= k
	}
	return outer, inner
}

func foldGather(c *ctx, in []*data) []*data {
	dims, ok := c.out[0].Shape.Ints()
	if !ok || len(in) < 2 || in[1] == nil {
		return nil
	}
	axis, err := c.axis(c.n.Int("axis", 0), len(in[0].dims))
	if err != nil {
		return nil
	}
	outer, inner := alongAxis(in[0].dims, axis)
	size := in[0].dims[axis]
	out := make([]num, 0, outer*inner*in[1].len())
	for o := range outer {
		for _, x := range in[1].at {
			i := x.i
			if i < 0 {
				i += size
			}
			if x.k != numInt || i < 0 || i >= size {
				return nil
			}
			at := (o*size + i) * inner
			out = append(out, in[0].at[at:at+inner]...)
		}
	}
	return []*data{{dims: dims, at: out}}
}

func foldSlice(c *ctx, in []*data) []*data {
	list, ok := c.slices(len(in[0].dims))
	dims, known := c.out[0].Shape.Ints()
	if !ok || !known || len(dims) != len(in[0].dims) {
		return nil
	}
	step, base := strides(in[0].dims), int64(0)
	for _, s := range list {
		start, _, by, ok := s.numbers(in[0].dims[s.axis])
		if !ok {
			return nil
		}
		base += start * step[s.axis]
		step[s.axis] *= by
	}
	if n, _ := elements(c.out[0].Shape); n == 0 {
		return []*data{{dims: dims, at: []num{}}}
	}
	at := in[0].pick(dims, step, base)
	if at == nil {
		return nil
	}
	return []*data{{dims: dims, at: at}}
}

func foldConcat(c *ctx, in []*data) []*data {
	dims, ok := c.out[0].Shape.Ints()
	if !ok {
		return nil
	}
	axis, err := c.axis(c.concatAxis(), len(dims))
	if err != nil {
		return nil
	}
	outer, _ := alongAxis(dims, axis)
	var out []num
	for o := range outer {
		for _, d := range in {
			if d == nil || len(d.dims) != len(dims) {
				return nil
			}
			n := d.len() / outer
			out = append(out, d.at[o*n:(o+1)*n]...)
		}
	}
	return []*data{{dims: dims, at: out}}
}

func foldSplit(c *ctx, in []*data) []*data {
	axis, err := c.axis(c.n.Int("axis", 0), len(in[0].dims))
	if err != nil {
		return nil
	}
	outer, inner := alongAxis(in[0].dims, axis)
	size, from := in[0].dims[axis], int64(0)
	list := make([]*data, len(c.out))
	for i := range c.out {
		dims, ok := c.out[i].Shape.Ints()
		if !ok || len(dims) != len(in[0].dims) || from+dims[axis] > size {
			return nil
		}
		d := &data{dims: dims, at: []num{}}
		for o := range outer {
			at := (o*size + from) * inner
			d.at = append(d.at, in[0].at[at:at+dims[axis]*inner]...)
		}
		from += dims[axis]
		list[i] = d
	}
	return list
}

// foldScatter folds ScatterElements along the only axis of a vector: how exporters replace elements of a shape.
func foldScatter(c *ctx, in []*data) []*data {
	if len(in) < 3 || len(in[0].dims) != 1 || in[1] == nil || in[2] == nil || in[1].len() != in[2].len() || c.n.Str("reduction", "none") != "none" {
		return nil
	}
	out := append([]num(nil), in[0].at...)
	for j, x := range in[1].at {
		if !put(out, x, in[2].at[j]) {
			return nil
		}
	}
	return []*data{{dims: in[0].dims, at: out}}
}

// put sets the element at an index that may be negative.
func put(list []num, index, value num) bool {
	i := index.i
	if i < 0 {
		i += int64(len(list))
	}
	if index.k != numInt || i < 0 || i >= int64(len(list)) {
		return false
	}
	list[i] = value
	return true
}

// foldScatterND folds updates of single elements of a vector.
func foldScatterND(c *ctx, in []*data) []*data {
	if len(in) < 3 || in[1] == nil || len(in[1].dims) != 2 || in[1].dims[1] != 1 {
		return nil
	}
	return foldScatter(c, in)
}

func foldGatherElements(c *ctx, in []*data) []*data {
	if len(in) < 2 || in[1] == nil || len(in[0].dims) != 1 {
		return nil
	}
	out := make([]num, len(in[1].at))
	for j, x := range in[1].at {
		i := x.i
		if i < 0 {
			i += in[0].len()
		}
		if x.k != numInt || i < 0 || i >= in[0].len() {
			return nil
		}
		out[j] = in[0].at[i]
	}
	return []*data{{dims: in[1].dims, at: out}}
}

// reduction folds along all axes or, for matrices and more, along the last ones: the result is the fold of runs.
func reduction(f binaryFunc) folder {
	return func(c *ctx, in []*data) []*data {
		dims, ok := c.out[0].Shape.Ints()
		reduced, known, err := c.reducedAxes(len(in[0].dims))
		if !ok || !known || err != nil || in[0].len() == 0 || !exact(c.out[0].Elem) {
			return nil
		}
		if c.out[0].Elem.IsFloat() && (c.n.Op == "ReduceSum" || c.n.Op == "ReduceProd") {
			return nil // kernels add in orders of their own
		}
		kept := make([]int64, 0, len(dims))
		var outer, inner, innerDims []int64
		own := strides(in[0].dims)
		for i, k := range in[0].dims {
			if reduced[i] {
				inner, innerDims = append(inner, own[i]), append(innerDims, k)
			} else {
				outer, kept = append(outer, own[i]), append(kept, k)
			}
		}
		all := in[0].pick(append(kept, innerDims...), append(outer, inner...), 0)
		n := int64(1)
		for _, k := range innerDims {
			n *= k
		}
		return []*data{{dims: dims, at: runs(c, all, n, f)}}
	}
}

// runs folds each n elements into one, rounding after each step.
func runs(c *ctx, list []num, n int64, f binaryFunc) []num {
	out := make([]num, 0, int64(len(list))/n)
	for len(list) > 0 {
		x := list[0]
		for _, y := range list[1:n] {
			x = fit(c.out[0].Elem, f(c, x, y))
		}
		out, list = append(out, x), list[n:]
	}
	return out
}

// foldCumSum folds the plain running sum of a vector.
func foldCumSum(c *ctx, in []*data) []*data {
	if len(in[0].dims) != 1 || c.n.Int("exclusive", 0) != 0 || c.n.Int("reverse", 0) != 0 || c.out[0].Elem.IsFloat() {
		return nil
	}
	out := append([]num(nil), in[0].at...)
	for i := 1; i < len(out); i++ {
		out[i] = fit(c.out[0].Elem, addNum(out[i-1], out[i]))
	}
	return []*data{{dims: in[0].dims, at: out}}
}
