package kern

// The compiler turns x*y + z into one instruction that rounds once on this architecture, as the
// language allows and the tests hold. That is the definition of the chains, without detour.

// multiply computes the tile.
func (t *tile) multiply(Level) {
	for i := 0; i < t.m; i += 4 {
		for j := 0; j < t.n; j += 4 {
			var s [16]float32
			if t.m-i >= 4 && t.n-j >= 4 {
				t.fused4x4(i, j, &s)
			} else {
				t.fusedEdge(i, j, &s)
			}
			for r := range min(4, t.m-i) {
				for c := range min(4, t.n-j) {
					t.put(i+r, j+c, s[4*r+c])
				}
			}
		}
	}
}

// fused4x4 runs sixteen chains, which fit in the registers.
func (t *tile) fused4x4(i, j int, s *[16]float32) {
	n := len(t.off)
	a, b, c, d := t.a[i*t.lda:][:n], t.a[(i+1)*t.lda:][:n], t.a[(i+2)*t.lda:][:n], t.a[(i+3)*t.lda:][:n]
	var a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3 float32
	for k, at := range t.off {
		row := t.b[at+j:][:4]
		x0, x1, x2, x3 := row[0], row[1], row[2], row[3]
		a0, a1, a2, a3 = a0+a[k]*x0, a1+a[k]*x1, a2+a[k]*x2, a3+a[k]*x3
		b0, b1, b2, b3 = b0+b[k]*x0, b1+b[k]*x1, b2+b[k]*x2, b3+b[k]*x3
		c0, c1, c2, c3 = c0+c[k]*x0, c1+c[k]*x1, c2+c[k]*x2, c3+c[k]*x3
		d0, d1, d2, d3 = d0+d[k]*x0, d1+d[k]*x1, d2+d[k]*x2, d3+d[k]*x3
	}
	*s = [16]float32{a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3}
}

// fusedEdge runs the chains of a part at the edge.
func (t *tile) fusedEdge(i, j int, s *[16]float32) {
	for r := range min(4, t.m-i) {
		row := t.a[(i+r)*t.lda:]
		for c := range min(4, t.n-j) {
			var z float32
			for k, at := range t.off {
				z += row[k] * t.b[at+j+c]
			}
			s[4*r+c] = z
		}
	}
}

// sweepFused runs chains of fused multiply-adds.
func sweepFused(dst, src []float32, off []int, w []float32) {
	clear(dst)
	for k, at := range off {
		x, row := w[k], src[at:][:len(dst)]
		for j, v := range row {
			dst[j] += x * v
		}
	}
}
