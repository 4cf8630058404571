package kern

// BlockK is how many products one chain of fused multiply-adds takes. It fixes the bits of results.
const BlockK = 256

// Panels of B are panelN columns wide. Blocks of blockN columns and blockM rows stay in the caches.
const (
	panelN = 32
	blockN = 16 * panelN
	blockM = 120
)

// Matrix is a view of numbers as rows and columns, each a stride apart.
type Matrix struct {
	X        []float32
	Row, Col int
}

// Rows returns the matrix in row-major order, each row a stride after the other.
func Rows(x []float32, stride int) Matrix { return Matrix{x, stride, 1} }

// Transpose returns the same numbers with rows and columns exchanged.
func (m Matrix) Transpose() Matrix { return Matrix{m.X, m.Col, m.Row} }

// from returns the view whose first element is that of a row and a column.
func (m Matrix) from(i, j int) Matrix { return Matrix{m.X[i*m.Row+j*m.Col:], m.Row, m.Col} }

// Packed is a matrix laid out for the right side of products: panels of 32 columns, the last one
// filled up with zeros, each in row-major order.
type Packed struct {
	x    []float32
	k, n int
}

// Pack lays out k rows of n columns.
func Pack(b Matrix, k, n int) *Packed {
	p := &Packed{make([]float32, roundUp(n, panelN)*k), k, n}
	for j := 0; j < n && k > 0; j += panelN {
		packPanel(p.x[j*k:], b.from(0, j), k, min(panelN, n-j))
	}
	return p
}

// packPanel lays out k rows of n columns, at most panelN.
func packPanel(dst []float32, b Matrix, k, n int) {
	if b.Col == 1 && n == panelN {
		for i := range k {
			*(*[panelN]float32)(dst[i*panelN:]) = *(*[panelN]float32)(b.X[i*b.Row:])
		}
		return
	}
	if n < panelN {
		clear(dst[:k*panelN])
	}
	for j := range n {
		at := j * b.Col
		for i := range k {
			dst[i*panelN+j] = b.X[at]
			at += b.Row
		}
	}
}

// gemm is one product c (+)= a b, with b either packed beforehand or not.
type gemm struct {
	level   Level
	c       []float32
	ldc     int
	a       Matrix // Col is 1
	b       Matrix
	packed  []float32
	inPlace bool // b is read where it is
	m, n, k int
	add     bool
}

// Gemm sets c, m rows of n a stride ldc apart, to the product of a (m by k) and b (k by n), or adds
// it to c. With k = 0 the product is 0.
func (e *Engine) Gemm(c []float32, ldc int, a, b Matrix, m, n, k int, add bool) {
	g := gemm{level: e.level, c: c, ldc: ldc, a: a, b: b, m: m, n: n, k: k, add: add}
	g.inPlace = b.Col == 1 && (m <= 12 || k >= 64)
	e.gemm(&g)
}

// GemmPacked is Gemm with a matrix that was packed beforehand.
func (e *Engine) GemmPacked(c []float32, ldc int, a Matrix, b *Packed, m int, add bool) {
	e.gemm(&gemm{level: e.level, c: c, ldc: ldc, a: a, packed: b.x, m: m, n: b.n, k: b.k, add: add})
}

func (e *Engine) gemm(g *gemm) {
	switch {
	case g.m == 0 || g.n == 0:
		return
	case g.k == 0:
		g.zero()
		return
	case g.a.Col != 1:
		x := getFloats(g.m * g.k)
		defer putFloats(x)
		copyMatrix(*x, g.a, g.m, g.k)
		g.a = Rows(*x, g.k)
	}
	if g.n >= 2*panelN*e.Threads() || g.n >= g.m {
		e.Parallel(g.n, panelN, g.m*g.k/8, func(lo, hi int) { g.part(0, g.m, lo, hi) })
	} else {
		e.Parallel(g.m, 12, g.n*g.k/8, func(lo, hi int) { g.part(lo, hi, 0, g.n) })
	}
}

func (g *gemm) zero() {
	for i := 0; i < g.m && !g.add; i++ {
		clear(g.c[i*g.ldc:][:g.n])
	}
}

// copyMatrix writes m rows of n in row-major order.
func copyMatrix(dst []float32, x Matrix, m, n int) {
	for i := range m {
		at := i * x.Row
		for j := range dst[i*n : (i+1)*n] {
			dst[i*n+j] = x.X[at]
			at += x.Col
		}
	}
}

// part computes rows i0 to i1 and columns j0 to j1, where j0 is a multiple of panelN.
func (g *gemm) part(i0, i1, j0, j1 int) {
	scratch := getFloats(g.scratch(j1 - j0))
	defer putFloats(scratch)
	var table [BlockK]int
	for j := j0; j < j1; j += blockN {
		width := min(blockN, j1-j)
		for k := 0; k < g.k; k += BlockK {
			depth := min(BlockK, g.k-k)
			b := g.block(*scratch, &table, j, width, k, depth)
			for i := i0; i < i1; i += blockM {
				g.rows(b, i, min(blockM, i1-i), j, k)
			}
		}
	}
}

func (g *gemm) scratch(width int) int {
	switch {
	case g.packed != nil:
		return 0
	case g.inPlace:
		return BlockK * panelN
	}
	return BlockK * roundUp(min(width, blockN), panelN)
}

// rightBlock is a block of b: its columns in panels, whose rows are found by offsets.
type rightBlock struct {
	x            []float32 // of the first panel
	next         int       // from one panel to the next
	off          []int     // of each row of a panel
	tail         []float32 // the last panel if it is less wide, packed apart in rows of panelN
	tailOff      []int
	width, depth int
}

// block finds or packs a block of b.
func (g *gemm) block(scratch []float32, table *[BlockK]int, j, width, k, depth int) rightBlock {
	r := rightBlock{off: panelRows()[:depth], width: width, depth: depth}
	switch {
	case g.packed != nil:
		r.x, r.next = g.packed[j*g.k+k*panelN:], g.k*panelN
	case g.inPlace:
		for i := range depth {
			table[i] = i * g.b.Row
		}
		r.x, r.next, r.off = g.b.X[k*g.b.Row+j:], panelN, table[:depth]
		if part := width % panelN; part != 0 {
			packPanel(scratch, g.b.from(k, j+width-part), depth, part)
			r.tail, r.tailOff = scratch, panelRows()[:depth]
		}
	default:
		for p := 0; p < width; p += panelN {
			packPanel(scratch[p*depth:], g.b.from(k, j+p), depth, min(panelN, width-p))
		}
		r.x, r.next = scratch, depth*panelN
	}
	return r
}

// rows multiplies m rows from i on with a block at column j and depth k.
func (g *gemm) rows(b rightBlock, i, m, j, k int) {
	t := tile{a: g.a.X[i*g.a.Row+k:], lda: g.a.Row, m: m, ldc: g.ldc, add: g.add || k > 0}
	for p := 0; p < b.width; p += panelN {
		t.b, t.off = nil, b.off
		t.n = min(panelN, b.width-p)
		if b.tail != nil && t.n < panelN {
			t.b, t.off = b.tail, b.tailOff
		} else {
			t.b = b.x[p/panelN*b.next:]
		}
		t.c = g.c[i*g.ldc+j+p:]
		t.multiply(g.level)
	}
}
