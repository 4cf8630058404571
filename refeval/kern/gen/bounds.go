package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// doubles repeats body for four numbers of n at a time, a multiple of 4; the pointers advance.
func doubles(n reg.GPVirtual, pointers []reg.GPVirtual, body func()) {
	loop("four", n, 4, func() {
		body()
		for _, p := range pointers {
			ADDQ(I32(32), p)
		}
	})
}

// magnitudes returns a mask without the sign of a double.
func magnitudes() reg.VecVirtual {
	v := YMM()
	VPCMPEQD(v, v, v)
	VPSRLQ(I8(1), v, v)
	return v
}

// dots does what dotsGo does, step by step.
func dots() {
	function("dotsAVX2", "func(n int, lo *float64, hi *float64, total *float64, w *float64, mid float64, rad float64)",
		"adds the products of n weights, a multiple of 4, with a range to sums.")
	n, p := pointers("lo", "hi", "total", "w")
	mid, rad, abs := YMM(), YMM(), magnitudes()
	VBROADCASTSD(NewParamAddr("mid", 40), mid)
	VBROADCASTSD(NewParamAddr("rad", 48), rad)
	doubles(n, p, func() {
		w, m, r, s := YMM(), YMM(), YMM(), YMM()
		VMOVUPD(Mem{Base: p[3]}, w)
		VMULPD(mid, w, m)
		VANDPD(abs, w, r)
		VMULPD(rad, r, r)
		VSUBPD(r, m, s)
		VADDPD(Mem{Base: p[0]}, s, s)
		VMOVUPD(s, Mem{Base: p[0]})
		VADDPD(r, m, s)
		VADDPD(Mem{Base: p[1]}, s, s)
		VMOVUPD(s, Mem{Base: p[1]})
		VANDPD(abs, m, s)
		VADDPD(r, s, s)
		VADDPD(Mem{Base: p[2]}, s, s)
		VMOVUPD(s, Mem{Base: p[2]})
	})
	end()
}

// extremes keeps what is there where a number is NaN: of two operands the instructions then take the
// second.
func extremes() {
	function("extremesAVX2", "func(n int, lo *float64, hi *float64, x *float64)", "takes n numbers, a multiple of 4, into least and greatest ones.")
	n, p := pointers("lo", "hi", "x")
	doubles(n, p, func() {
		x, e := YMM(), YMM()
		VMOVUPD(Mem{Base: p[2]}, x)
		VMINPD(Mem{Base: p[0]}, x, e)
		VMOVUPD(e, Mem{Base: p[0]})
		VMAXPD(Mem{Base: p[1]}, x, e)
		VMOVUPD(e, Mem{Base: p[1]})
	})
	end()
}

// least takes zeros for infinities.
func least() {
	function("leastAVX2", "func(n int, x *float64, least *[4]float64, nan *[4]uint64)",
		"takes n numbers, a multiple of 4, into the least magnitudes that are not 0, and marks the lanes of NaN.")
	n, p := pointers("x", "least", "nan")
	abs, zero, inf, low, nan := magnitudes(), YMM(), YMM(), YMM(), YMM()
	VXORPD(zero, zero, zero)
	VMOVUPD(Mem{Base: p[1]}, low)
	VMOVUPD(Mem{Base: p[2]}, nan)
	VPCMPEQD(inf, inf, inf)
	VPSLLQ(I8(53), inf, inf)
	VPSRLQ(I8(1), inf, inf)
	doubles(n, p[:1], func() {
		x, a, t := YMM(), YMM(), YMM()
		VMOVUPD(Mem{Base: p[0]}, x)
		VCMPPD(I8(3), x, x, t) // not ordered
		VORPD(t, nan, nan)
		VANDPD(abs, x, a)
		VCMPPD(I8(0), zero, a, t) // equal
		VBLENDVPD(t, inf, a, a)
		VMINPD(low, a, low)
	})
	VMOVUPD(low, Mem{Base: p[1]})
	VMOVUPD(nan, Mem{Base: p[2]})
	end()
}

// widenDoubles turns eight float32 at a time into doubles.
func widenDoubles() {
	function("doublesAVX2", "func(n int, dst *float64, x *float32)", "sets n doubles, a multiple of 8, to the numbers of x.")
	n, p := pointers("dst", "x")
	loop("eight", n, 8, func() {
		a, b := YMM(), YMM()
		VCVTPS2PD(Mem{Base: p[1]}, a)
		VCVTPS2PD(Mem{Base: p[1], Disp: 16}, b)
		VMOVUPD(a, Mem{Base: p[0]})
		VMOVUPD(b, Mem{Base: p[0], Disp: 32})
		ADDQ(I8(64), p[0])
		ADDQ(I8(32), p[1])
	})
	end()
}
