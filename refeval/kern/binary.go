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

func (e *Engine) binary(o op, f kernel2, dst, x, y []float32) {
	e.Parallel(len(dst), 64, 1, func(i, j int) {
		switch {
		case len(y) == 1 && len(x) == len(dst):
			e.right(o, f, dst[i:j], x[i:j], y[0])
		case len(x) == 1 && len(y) == len(dst) && (o == opAdd || o == opMul): // they commute
			e.right(o, f, dst[i:j], y[i:j], x[0])
		case len(x) == 1 && len(y) == len(dst):
			e.left(o, f, dst[i:j], x[0], y[i:j])
		default:
			done := e.level.binary(o, dst[i:j], x[i:j], y[i:j])
			f(dst[i+done:j], x[i+done:j], y[i+done:j])
		}
	})
}

// kernel2 is an operation in Go.
type kernel2 func(dst, x, y []float32)

// spread is how often a single number is repeated where a kernel takes none.
const spread = 64

// right computes with one number on the right.
func (e *Engine) right(o op, f kernel2, dst, x []float32, y float32) {
	i := e.level.scalar(o, dst, x, y)
	if i == len(dst) {
		return
	}
	b := repeat(y)
	for ; i < len(dst); i += spread {
		to := min(len(dst), i+spread)
		f(dst[i:to], x[i:to], b[:to-i])
	}
}

// left computes with one number on the left.
func (e *Engine) left(o op, f kernel2, dst []float32, x float32, y []float32) {
	b := repeat(x)
	for i := 0; i < len(dst); i += spread {
		to := min(len(dst), i+spread)
		d, v := dst[i:to], y[i:to]
		done := e.level.binary(o, d, b[:len(d)], v)
		f(d[done:], b[done:len(d)], v[done:])
	}
}

func repeat(x float32) (b [spread]float32) {
	for i := range b {
		b[i] = x
	}
	return b
}

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
