package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowsOf are the addresses of rows of a matrix: every third row has a pointer of its own, the two
// after it are reached by the scales of an index.
type rowsOf struct {
	at     []reg.GPVirtual
	stride reg.GPVirtual
}

func newRows(first, stride reg.GPVirtual, n int) rowsOf {
	r := rowsOf{at: []reg.GPVirtual{first}, stride: stride}
	for i := 3; i < n; i += 3 {
		p, last := GP64(), r.at[len(r.at)-1]
		LEAQ(Mem{Base: last, Index: stride, Scale: 2}, p)
		ADDQ(stride, p)
		r.at = append(r.at, p)
	}
	return r
}

func (r rowsOf) row(i, disp int) Mem {
	m := Mem{Base: r.at[i/3], Disp: disp}
	if i%3 > 0 {
		m.Index, m.Scale = r.stride, uint8(i%3)
	}
	return m
}

func (r rowsOf) advance(bytes int) {
	for _, p := range r.at {
		ADDQ(I32(bytes), p)
	}
}

// tile computes m rows by two vectors of columns. The sums stay in registers.
func tile(s isa, m int) {
	function(fmt.Sprintf("tile%d%s", m, s),
		"func(k int, a *float32, lda int, b *float32, off *int, c *float32, ldc int, add bool)",
		fmt.Sprintf("sets the rows of c, %d in all, %d numbers wide, to the product of a and the k rows of b at off, or adds it. Strides are in bytes.", m, 2*int(s)))
	k := Load(Param("k"), GP64()).(reg.GPVirtual)
	a := Load(Param("a"), GP64()).(reg.GPVirtual)
	lda := Load(Param("lda"), GP64()).(reg.GPVirtual)
	b := Load(Param("b"), GP64()).(reg.GPVirtual)
	off := Load(Param("off"), GP64()).(reg.GPVirtual)
	var acc [12][2]reg.VecVirtual
	for i := range m {
		acc[i] = [2]reg.VecVirtual{s.zero(), s.zero()}
	}
	rows := newRows(a, lda, m)
	body := func(u int) {
		at := GP64()
		MOVQ(Mem{Base: off, Disp: 8 * u}, at)
		b0, b1 := s.vec(), s.vec()
		VMOVUPS(Mem{Base: b, Index: at, Scale: 4}, b0)
		VMOVUPS(Mem{Base: b, Index: at, Scale: 4, Disp: s.bytes()}, b1)
		for i := range m {
			x := s.vec()
			VBROADCASTSS(rows.row(i, 4*u), x)
			VFMADD231PS(b0, x, acc[i][0])
			VFMADD231PS(b1, x, acc[i][1])
		}
	}
	for _, unroll := range []int{4, 1} {
		loop(fmt.Sprintf("by%d", unroll), k, unroll, func() {
			for u := range unroll {
				body(u)
			}
			rows.advance(4 * unroll)
			ADDQ(I32(8*unroll), off)
		})
	}
	storeTile(s, acc[:m])
	end()
}

func storeTile(s isa, acc [][2]reg.VecVirtual) {
	c := Load(Param("c"), GP64()).(reg.GPVirtual)
	ldc := Load(Param("ldc"), GP64()).(reg.GPVirtual)
	add := Load(Param("add"), GP8()).(reg.GPVirtual)
	rows := newRows(c, ldc, len(acc))
	TESTB(add, add)
	JE(LabelRef("store"))
	for i := range acc {
		for j, v := range acc[i] {
			VADDPS(rows.row(i, j*s.bytes()), v, v)
		}
	}
	Label("store")
	for i := range acc {
		for j, v := range acc[i] {
			VMOVUPS(v, rows.row(i, j*s.bytes()))
		}
	}
}
