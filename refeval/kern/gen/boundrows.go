package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// panel walks over n columns of a matrix, a multiple of 8, eight at a time, and over all rows for
// each eight: first has what is kept of the columns loaded, row takes their numbers in a row, last
// stores it. The pointers advance by as many bytes as given.
func panel(n, rows, stride, x reg.GPVirtual, kept []reg.GPVirtual, size int, first func(), row func(at Mem, i reg.GPVirtual), last func()) {
	loop("columns", n, 8, func() {
		first()
		at, i := GP64(), GP64()
		MOVQ(x, at)
		XORQ(i, i)
		Label("row")
		row(Mem{Base: at}, i)
		ADDQ(stride, at)
		INCQ(i)
		CMPQ(i, rows)
		JLT(LabelRef("row"))
		last()
		ADDQ(I8(32), x)
		for _, p := range kept {
			ADDQ(I8(size), p)
		}
	})
}

// dotRows adds up the products of eight columns in registers: three of each number and of its magnitude.
func dotRows() {
	function("dotRowsAVX2", "func(n int, rows int, stride int, mids *float64, rads *float64, reaches *float64, x *float32, mid *float64, rad *float64, reach *float64)",
		"adds the products of n columns of a matrix, a multiple of 8, with three numbers for each row to sums. Rows begin stride bytes apart.")
	n, p := pointers("rows", "stride", "mids", "rads", "reaches", "x", "mid", "rad", "reach")
	sums, by, abs := p[2:5], p[6:9], magnitudes()
	var acc [3][2]reg.VecVirtual
	for i := range acc {
		acc[i] = [2]reg.VecVirtual{YMM(), YMM()}
	}
	each := func(do func(m Mem, v reg.VecVirtual)) func() {
		return func() {
			for i, v := range acc {
				for half := range v {
					do(Mem{Base: sums[i], Disp: 32 * half}, v[half])
				}
			}
		}
	}
	panel(n, p[0], p[1], p[5], sums, 64, each(func(m Mem, v reg.VecVirtual) { VMOVUPD(m, v) }), func(at Mem, i reg.GPVirtual) {
		var factors [3]reg.VecVirtual
		for k := range factors {
			factors[k] = YMM()
			VBROADCASTSD(Mem{Base: by[k], Index: i, Scale: 8}, factors[k])
		}
		for half := range 2 {
			w, a, y := YMM(), YMM(), YMM()
			VCVTPS2PD(at.Offset(16*half), w)
			VANDPD(abs, w, a)
			VMULPD(factors[0], w, y)
			VADDPD(y, acc[0][half], acc[0][half])
			for k := 1; k < 3; k++ {
				y := YMM()
				VMULPD(factors[k], a, y)
				VADDPD(y, acc[k][half], acc[k][half])
			}
		}
	}, each(func(m Mem, v reg.VecVirtual) { VMOVUPD(v, m) }))
	end()
}

// extremeRows keeps what is there where a number is NaN, as extremes does.
func extremeRows() {
	function("extremeRowsAVX2", "func(n int, rows int, stride int, lo *float32, hi *float32, x *float32)",
		"takes n columns of a matrix, a multiple of 8, into least and greatest numbers. Rows begin stride bytes apart.")
	n, p := pointers("rows", "stride", "lo", "hi", "x")
	lo, hi := YMM(), YMM()
	panel(n, p[0], p[1], p[4], p[2:4], 32, func() {
		VMOVUPS(Mem{Base: p[2]}, lo)
		VMOVUPS(Mem{Base: p[3]}, hi)
	}, func(at Mem, _ reg.GPVirtual) {
		x := YMM()
		VMOVUPS(at, x)
		VMINPS(lo, x, lo)
		VMAXPS(hi, x, hi)
	}, func() {
		VMOVUPS(lo, Mem{Base: p[2]})
		VMOVUPS(hi, Mem{Base: p[3]})
	})
	end()
}
