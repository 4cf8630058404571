package kern

// Add sets dst to x + y. Of x and y one may be a single number.
func (e *Engine) Add(dst, x, y []float32) { e.binary(opAdd, addGo, dst, x, y) }

// Sub sets dst to x - y. Of x and y one may be a single number.
func (e *Engine) Sub(dst, x, y []float32) { e.binary(opSub, subGo, dst, x, y) }

// Mul sets dst to x * y. Of x and y one may be a single number.
func (e *Engine) Mul(dst, x, y []float32) { e.binary(opMul, mulGo, dst, x, y) }

// Div sets dst to x / y. Of x and y one may be a single number.
func (e *Engine) Div(dst, x, y []float32) { e.binary(opDiv, divGo, dst, x, y) }

// Clip sets dst to x where it lies in [lo, hi], else to the nearer end, with lo first; NaN stays.
func (e *Engine) Clip(dst, x []float32, lo, hi float32) {
	e.Parallel(len(dst), 64, 1, func(i, j int) {
		done := e.level.clip(dst[i:j], x[i:j], lo, hi)
		clipGo(dst[i+done:j], x[i+done:j], lo, hi)
	})
}

// op is an operation on two numbers.
type op uint8

const (
	opAdd op = iota
	opSub
	opMul
	opDiv
)

// binary spreads a single number over a short stretch, so that all kernels take two slices.
func (e *Engine) binary(o op, f kernel2, dst, x, y []float32) {
	e.Parallel(len(dst), 64, 1, func(i, j int) {
		if len(x) == len(dst) && len(y) == len(dst) {
			e.run2(o, f, dst[i:j], x[i:j], y[i:j])
			return
		}
		b := getFloats(spread)
		defer putFloats(b)
		single := y
		if len(y) == len(dst) {
			single = x
		}
		for k := range *b {
			(*b)[k] = single[0]
		}
		for ; i < j; i += spread {
			to := min(j, i+spread)
			if len(y) == len(dst) {
				e.run2(o, f, dst[i:to], (*b)[:to-i], y[i:to])
			} else {
				e.run2(o, f, dst[i:to], x[i:to], (*b)[:to-i])
			}
		}
	})
}

// kernel2 is an operation in Go.
type kernel2 func(dst, x, y []float32)

func (e *Engine) run2(o op, f kernel2, dst, x, y []float32) {
	done := e.level.binary(o, dst, x, y)
	f(dst[done:], x[done:], y[done:])
}

// spread is how often a single number is repeated for a kernel.
const spread = 512

func addGo(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] + y[i]
	}
}

func subGo(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] - y[i]
	}
}

func mulGo(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] * y[i]
	}
}

func divGo(dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	for i := range dst {
		dst[i] = x[i] / y[i]
	}
}

func clipGo(dst, x []float32, lo, hi float32) {
	for i, v := range x[:len(dst)] {
		if lo > v {
			v = lo
		}
		if hi < v {
			v = hi
		}
		dst[i] = v
	}
}
