package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chains32 runs body over n numbers, a multiple of 32, with 32 chains that begin and end in memory.
func chains32(body func(x Mem, s reg.VecVirtual)) {
	n, p := pointers("s", "x")
	var acc [4]reg.VecVirtual
	for i := range acc {
		acc[i] = YMM()
		VMOVUPS(Mem{Base: p[0], Disp: 32 * i}, acc[i])
	}
	loop("wide4", n, 32, func() {
		for i, v := range acc {
			body(Mem{Base: p[1], Disp: 32 * i}, v)
		}
		ADDQ(I32(128), p[1])
	})
	for i, v := range acc {
		VMOVUPS(v, Mem{Base: p[0], Disp: 32 * i})
	}
	end()
}

func sum() {
	function("sumAVX2", "func(n int, s *[32]float32, x *float32)", "adds n numbers, a multiple of 32, to the chains.")
	chains32(func(x Mem, s reg.VecVirtual) { VADDPS(x, s, s) })
}

func squares() {
	function("squaresAVX2", "func(n int, s *[32]float32, x *float32, m float32)", "adds the squares of n numbers, a multiple of 32, less m to the chains.")
	m := YMM()
	VBROADCASTSS(NewParamAddr("m", 24), m)
	chains32(func(x Mem, s reg.VecVirtual) {
		d := YMM()
		VMOVUPS(x, d)
		VSUBPS(m, d, d)
		VMULPS(d, d, d)
		VADDPS(d, s, s)
	})
}

// maximum keeps the chain where a number is NaN.
func maximum() {
	function("maxAVX2", "func(n int, s *[32]float32, x *float32)", "takes the greater of n numbers, a multiple of 32, and the chains.")
	chains32(func(x Mem, s reg.VecVirtual) {
		v := YMM()
		VMOVUPS(x, v)
		VMAXPS(s, v, s)
	})
}

// fold draws 32 chains together: number i with number i + 16, then i + 8 and so on.
func fold(name string, do func(...Op)) {
	function(name+"AVX2", "func(s *[32]float32) float32", "draws the chains together pairwise.")
	p := Load(Param("s"), GP64()).(reg.GPVirtual)
	a, b := YMM(), YMM()
	VMOVUPS(Mem{Base: p}, a)
	VMOVUPS(Mem{Base: p, Disp: 32}, b)
	do(Mem{Base: p, Disp: 64}, a, a)
	do(Mem{Base: p, Disp: 96}, b, b)
	do(b, a, a)
	VEXTRACTF128(I8(1), a, b.AsX())
	x, y := a.AsX(), b.AsX()
	do(y, x, x)
	VMOVHLPS(x, x, y)
	do(y, x, x)
	VMOVSHDUP(x, y)
	do(y, x, x)
	Store(x, ReturnIndex(0))
	end()
}

// stats compares magnitudes by their bits, as signed integers.
func stats() {
	function("statsAVX2", "func(n int, x *float32, normal uint32, out *[7][8]uint32)",
		"counts n numbers, a multiple of 8, into lanes: least, greatest, least magnitude less one, how many are finite, infinite, zero, below normal.")
	n, p := pointers("x", "out")
	normal := YMM()
	VBROADCASTSS(NewParamAddr("normal", 16), normal)
	abs, inf, none := avx2.spread(0x7fffffff), avx2.spread(0x7f800000), avx2.spread(0xff800000)
	one := avx2.spread(1)
	var out [7]reg.VecVirtual
	for i := range out {
		out[i] = YMM()
		VMOVUPS(Mem{Base: p[1], Disp: 32 * i}, out[i])
	}
	each(n, p[:1], []int{1}, func(disp int) {
		x, a, t, u := YMM(), YMM(), YMM(), YMM()
		VMOVUPS(Mem{Base: p[0], Disp: disp}, x)
		VPAND(abs, x, a)
		VPCMPGTD(a, inf, t) // finite
		VPSUBD(t, out[3], out[3])
		VBLENDVPS(t, x, inf, u)
		VMINPS(out[0], u, out[0])
		VBLENDVPS(t, x, none, u)
		VMAXPS(out[1], u, out[1])
		VPCMPEQD(a, inf, t)
		VPSUBD(t, out[4], out[4])
		VPCMPGTD(a, one, t) // zero
		VPSUBD(t, out[5], out[5])
		VPCMPGTD(a, normal, t)
		VPSUBD(t, out[6], out[6])
		VPSUBD(one, a, a)
		VPMINUD(a, out[2], out[2])
	})
	for i, v := range out {
		VMOVUPS(v, Mem{Base: p[1], Disp: 32 * i})
	}
	end()
}
