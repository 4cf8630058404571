//go:build amd64 && !noasm

package kern

// The tiles of the kernels: rows at most, and columns.
const (
	rowsAVX2, colsAVX2     = 6, 16
	rowsAVX512, colsAVX512 = 12, 32
)

// multiply computes the tile.
func (t *tile) multiply(l Level) {
	if l == Go || len(t.off) == 0 {
		t.multiplyGo()
		return
	}
	rows, cols := rowsAVX2, colsAVX2
	if l == AVX512 {
		rows, cols = rowsAVX512, colsAVX512
	}
	for j := 0; j < t.n; j += cols { // outside, for half a panel stays in the nearest cache where a whole one may not
		for i := 0; i < t.m; i += rows {
			m := min(rows, t.m-i)
			if t.n-j < cols {
				t.edge(l, i, j, m, t.n-j)
			} else {
				t.call(l, m, i, j, &t.c[i*t.ldc+j], t.ldc, t.add)
			}
		}
	}
}

// call runs the kernel for m rows.
func (t *tile) call(l Level, m, i, j int, c *float32, ldc int, add bool) {
	a := t.a[i*t.lda:]
	if l == AVX512 {
		tileAVX512(m, len(t.off), &a[0], 4*t.lda, &t.b[j], &t.off[0], c, 4*ldc, add)
	} else {
		tileAVX2(m, len(t.off), &a[0], 4*t.lda, &t.b[j], &t.off[0], c, 4*ldc, add)
	}
}

// edge computes m rows of n columns, fewer than the kernel's.
func (t *tile) edge(l Level, i, j, m, n int) {
	var out [rowsAVX512 * colsAVX512]float32
	t.call(l, m, i, j, &out[0], colsAVX512, false)
	for r := range m {
		c, s := t.c[(i+r)*t.ldc+j:][:n], out[r*colsAVX512:][:n]
		if !t.add {
			copy(c, s)
			continue
		}
		for k, v := range s {
			c[k] += v
		}
	}
}

func tileAVX2(m, k int, a *float32, lda int, b *float32, off *int, c *float32, ldc int, add bool) {
	switch m {
	case 1:
		tile1AVX2(k, a, lda, b, off, c, ldc, add)
	case 2:
		tile2AVX2(k, a, lda, b, off, c, ldc, add)
	case 3:
		tile3AVX2(k, a, lda, b, off, c, ldc, add)
	case 4:
		tile4AVX2(k, a, lda, b, off, c, ldc, add)
	case 5:
		tile5AVX2(k, a, lda, b, off, c, ldc, add)
	case 6:
		tile6AVX2(k, a, lda, b, off, c, ldc, add)
	}
}

func tileAVX512(m, k int, a *float32, lda int, b *float32, off *int, c *float32, ldc int, add bool) {
	switch m {
	case 1:
		tile1AVX512(k, a, lda, b, off, c, ldc, add)
	case 2:
		tile2AVX512(k, a, lda, b, off, c, ldc, add)
	case 3:
		tile3AVX512(k, a, lda, b, off, c, ldc, add)
	case 4:
		tile4AVX512(k, a, lda, b, off, c, ldc, add)
	case 5:
		tile5AVX512(k, a, lda, b, off, c, ldc, add)
	case 6:
		tile6AVX512(k, a, lda, b, off, c, ldc, add)
	case 7:
		tile7AVX512(k, a, lda, b, off, c, ldc, add)
	case 8:
		tile8AVX512(k, a, lda, b, off, c, ldc, add)
	case 9:
		tile9AVX512(k, a, lda, b, off, c, ldc, add)
	case 10:
		tile10AVX512(k, a, lda, b, off, c, ldc, add)
	case 11:
		tile11AVX512(k, a, lda, b, off, c, ldc, add)
	case 12:
		tile12AVX512(k, a, lda, b, off, c, ldc, add)
	}
}
