package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// each runs body over n numbers, a multiple of 8, four vectors at a time; the pointers advance.
func each(n reg.GPVirtual, pointers []reg.GPVirtual, vecs []int, body func(disp int)) {
	for _, v := range vecs {
		loop(fmt.Sprintf("wide%d", v), n, 8*v, func() {
			for i := range v {
				body(32 * i)
			}
			for _, p := range pointers {
				ADDQ(I32(32*v), p)
			}
		})
	}
}

// pointers loads n and the pointers of parameters.
func pointers(names ...string) (reg.GPVirtual, []reg.GPVirtual) {
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	var list []reg.GPVirtual
	for _, name := range names {
		list = append(list, Load(Param(name), GP64()).(reg.GPVirtual))
	}
	return n, list
}

func binary(name string, do func(...Op)) {
	function(name+"AVX2", "func(n int, dst *float32, x *float32, y *float32)", "computes n numbers, a multiple of 8.")
	n, p := pointers("dst", "x", "y")
	each(n, p, []int{4, 1}, func(disp int) {
		v := YMM()
		VMOVUPS(Mem{Base: p[1], Disp: disp}, v)
		do(Mem{Base: p[2], Disp: disp}, v, v)
		VMOVUPS(v, Mem{Base: p[0], Disp: disp})
	})
	end()
}

// scalar computes with one number on the right.
func scalar(name string, do func(...Op)) {
	function(name+"ScalarAVX2", "func(n int, dst *float32, x *float32, y float32)", "computes n numbers, a multiple of 8.")
	n, p := pointers("dst", "x")
	y := YMM()
	VBROADCASTSS(NewParamAddr("y", 24), y)
	each(n, p, []int{4, 1}, func(disp int) {
		v := YMM()
		VMOVUPS(Mem{Base: p[1], Disp: disp}, v)
		do(y, v, v)
		VMOVUPS(v, Mem{Base: p[0], Disp: disp})
	})
	end()
}

// normalize does what normalizeGo does, step by step.
func normalize() {
	function("normalizeAVX2", "func(n int, dst *float32, x *float32, scale *float32, bias *float32, mean float32, inv float32)",
		"sets n numbers, a multiple of 8, to (x-mean) * inv * scale + bias.")
	n, p := pointers("dst", "x", "scale", "bias")
	mean, inv := YMM(), YMM()
	VBROADCASTSS(NewParamAddr("mean", 40), mean)
	VBROADCASTSS(NewParamAddr("inv", 44), inv)
	each(n, p, []int{4, 1}, func(disp int) {
		v := YMM()
		VMOVUPS(Mem{Base: p[1], Disp: disp}, v)
		VSUBPS(mean, v, v)
		VMULPS(inv, v, v)
		VMULPS(Mem{Base: p[2], Disp: disp}, v, v)
		VADDPS(Mem{Base: p[3], Disp: disp}, v, v)
		VMOVUPS(v, Mem{Base: p[0], Disp: disp})
	})
	end()
}

// between puts x into [lo, hi]. Where a comparison is not true, the instructions give their second
// source, which is written first: NaN stays, and so does the sign of zero.
func between(x, lo, hi reg.VecVirtual) {
	VMAXPS(x, lo, x)
	VMINPS(x, hi, x)
}

func clip() {
	function("clipAVX2", "func(n int, dst *float32, x *float32, lo float32, hi float32)", "computes n numbers, a multiple of 8.")
	n, p := pointers("dst", "x")
	lo, hi := YMM(), YMM()
	VBROADCASTSS(NewParamAddr("lo", 24), lo)
	VBROADCASTSS(NewParamAddr("hi", 28), hi)
	each(n, p, []int{4, 1}, func(disp int) {
		v := YMM()
		VMOVUPS(Mem{Base: p[1], Disp: disp}, v)
		between(v, lo, hi)
		VMOVUPS(v, Mem{Base: p[0], Disp: disp})
	})
	end()
}

// exp does what exp32 does in Go, step by step.
func exp() {
	function("expAVX2", "func(n int, dst *float32, x *float32, m float32)", "sets n numbers, a multiple of 8, to e^(x-m).")
	n, p := pointers("dst", "x")
	m := YMM()
	VBROADCASTSS(NewParamAddr("m", 24), m)
	e := newExp()
	each(n, p, []int{2, 1}, func(disp int) {
		x := YMM()
		VMOVUPS(Mem{Base: p[1], Disp: disp}, x)
		VSUBPS(m, x, x)
		VMOVUPS(e.of(x), Mem{Base: p[0], Disp: disp})
	})
	end()
}

// sigmoid does what sigmoid32 does in Go.
func sigmoid() {
	function("sigmoidAVX2", "func(n int, dst *float32, x *float32)", "computes n numbers, a multiple of 8.")
	n, p := pointers("dst", "x")
	e, sign := newExp(), avx2.spread(0x80000000)
	each(n, p, []int{2, 1}, func(disp int) {
		x, y := YMM(), YMM()
		VXORPS(Mem{Base: p[1], Disp: disp}, sign, x)
		v := e.of(x)
		VADDPS(eight(1), v, v)
		VMOVUPS(eight(1), y)
		VDIVPS(v, y, y)
		VMOVUPS(y, Mem{Base: p[0], Disp: disp})
	})
	end()
}

// expKernel holds what exp keeps in registers.
type expKernel struct{ lo, hi, magic reg.VecVirtual }

func newExp() expKernel {
	return expKernel{avx2.spread(math.Float32bits(-104)), avx2.spread(math.Float32bits(89)), avx2.spread(math.Float32bits(3 << 22))}
}

// of returns e^x; x is lost.
func (e expKernel) of(x reg.VecVirtual) reg.VecVirtual {
	between(x, e.lo, e.hi)
	magic := e.magic
	k, t, r2, y := YMM(), YMM(), YMM(), YMM()
	VMULPS(eight(1.44269504088896341), x, k)
	VADDPS(magic, k, k)
	VSUBPS(magic, k, k)
	VMULPS(eight(0.693359375), k, t)
	VSUBPS(t, x, x)
	VMULPS(eight(-2.12194440e-4), k, t)
	VSUBPS(t, x, x)
	VMOVUPS(eight(1.9875691500e-4), y)
	for _, c := range []float32{1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1} {
		VMULPS(x, y, y)
		VADDPS(eight(c), y, y)
	}
	VMULPS(x, x, r2)
	VMULPS(r2, y, y)
	VADDPS(x, y, y)
	VADDPS(eight(1), y, y)
	half := YMM()
	VCVTTPS2DQ(k, k)
	VPSRAD(I8(1), k, half)
	VPSUBD(half, k, k)
	for _, h := range []reg.VecVirtual{half, k} {
		VPADDD(eightBits(127), h, h)
		VPSLLD(I8(23), h, h)
		VMULPS(h, y, y)
	}
	return y
}

// The places of a form's numbers in memory.
const (
	formP   = 4
	formQ   = formP + 7*4
	formOne = formQ + 5*4
)

// rational does what the method at of a form does in Go.
func rational() {
	function("rationalAVX2", "func(n int, dst *float32, x *float32, form *float32)", "computes n numbers, a multiple of 16.")
	n, p := pointers("dst", "x", "form")
	form := p[2]
	abs, one := avx2.spread(0x7fffffff), avx2.spread(math.Float32bits(1))
	each2(n, p[:2], func() {
		var t, s, y, q [2]reg.VecVirtual
		for i := range 2 {
			t[i], s[i] = YMM(), YMM()
			VANDPS(Mem{Base: p[1], Disp: 32 * i}, abs, t[i])
			VBROADCASTSS(Mem{Base: form}, s[i])
			VMINPS(t[i], s[i], t[i])
			VMULPS(t[i], t[i], s[i])
		}
		polynomial(&y, s, form, formP, 7)
		polynomial(&q, s, form, formQ, 5)
		for i := range 2 {
			VMULPS(y[i], t[i], y[i])
			VDIVPS(q[i], y[i], y[i])
			VMINPS(y[i], one, y[i])
			a, limit := YMM(), YMM()
			VMOVUPS(Mem{Base: p[1], Disp: 32 * i}, t[i])
			VANDPS(abs, t[i], a)
			VBROADCASTSS(Mem{Base: form, Disp: formOne}, limit)
			VCMPPS(I8(13), limit, a, a) // not less
			VBLENDVPS(a, one, y[i], y[i])
			VANDNPS(t[i], abs, t[i])
			VORPS(t[i], y[i], y[i])
			VMOVUPS(y[i], Mem{Base: p[0], Disp: 32 * i})
		}
	})
	end()
}

// each2 is each for bodies that do two vectors themselves.
func each2(n reg.GPVirtual, pointers []reg.GPVirtual, body func()) {
	loop("wide2", n, 16, func() {
		body()
		for _, p := range pointers {
			ADDQ(I32(64), p)
		}
	})
}

// polynomial evaluates n coefficients at s.
func polynomial(y *[2]reg.VecVirtual, s [2]reg.VecVirtual, form reg.GPVirtual, at, n int) {
	for i := range 2 {
		y[i] = YMM()
		VBROADCASTSS(Mem{Base: form, Disp: at}, y[i])
	}
	for k := 1; k < n; k++ {
		c := YMM()
		VBROADCASTSS(Mem{Base: form, Disp: at + 4*k}, c)
		for i := range 2 {
			VMULPS(s[i], y[i], y[i])
			VADDPS(c, y[i], y[i])
		}
	}
}
