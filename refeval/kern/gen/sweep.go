package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rounding is what becomes of each product and sum.
type rounding int

const (
	fused rounding = iota
	fp16
	fp16Flush
	bf16
	bf16Flush
)

func (r rounding) String() string {
	return [...]string{"Fused", "FP16", "FP16Flush", "BF16", "BF16Flush"}[r]
}

func (r rounding) flush() bool { return r == fp16Flush || r == bf16Flush }

// rounder holds the constants of a rounding in registers.
type rounder struct {
	isa
	rounding
	abs, sign, normal reg.VecVirtual // to flush
	one, half, top    reg.VecVirtual // for BF16
}

func newRounder(s isa, r rounding) *rounder {
	c := &rounder{isa: s, rounding: r}
	if r.flush() {
		normal := uint32(113 << 23) // 2^-14
		if r == bf16Flush {
			normal = 1 << 23
		}
		c.abs, c.sign, c.normal = s.spread(0x7fffffff), s.spread(0x80000000), s.spread(normal)
	}
	if r == bf16 || r == bf16Flush {
		c.one, c.half, c.top = s.spread(1), s.spread(0x7fff), s.spread(0xffff0000)
	}
	return c
}

// round rounds x in place.
func (c *rounder) round(x reg.VecVirtual) {
	switch c.rounding {
	case fp16, fp16Flush:
		var h Op = XMM()
		if c.isa == avx512 {
			h = YMM()
		}
		VCVTPS2PH(I8(0), x, h)
		VCVTPH2PS(h, x)
	case bf16, bf16Flush:
		c.roundBF16(x)
	}
	if c.flush() {
		c.flushTo0(x)
	}
}

// roundBF16 adds half a spacing, less one if the result would be odd, and cuts. NaN stays.
func (c *rounder) roundBF16(x reg.VecVirtual) {
	t := c.vec()
	VPSRLD(I8(16), x, t)
	if c.isa == avx512 {
		VPANDD(c.one, t, t)
	} else {
		VPAND(c.one, t, t)
	}
	VPADDD(c.half, t, t)
	VPADDD(x, t, t)
	if c.isa == avx512 {
		VPANDD(c.top, t, t)
		number := K()
		VCMPPS(I8(7), x, x, number) // ordered
		VMOVAPS(t, number, x)
		return
	}
	VPAND(c.top, t, t)
	nan := c.vec()
	VCMPPS(I8(3), x, x, nan) // unordered
	VBLENDVPS(nan, x, t, x)
}

// flushTo0 leaves only the sign of magnitudes below the least normal.
func (c *rounder) flushTo0(x reg.VecVirtual) {
	a := c.vec()
	if c.isa == avx512 {
		low := K()
		VPANDD(c.abs, x, a)
		VCMPPS(I8(1), c.normal, a, low) // less than
		VPANDD(c.sign, x, low, x)
		return
	}
	VANDPS(c.abs, x, a)
	VCMPPS(I8(1), c.normal, a, a)
	zero := c.vec()
	VANDPS(c.sign, x, zero)
	VBLENDVPS(a, zero, x, x)
}

// sweep computes one row of results from one row of weights. Its chains are long waits, so that it
// runs up to eight vectors of them side by side.
func sweep(s isa, r rounding) {
	function("sweep"+r.String()+s.String(), "func(n int, dst *float32, src *float32, off *int, w *float32, k int)",
		fmt.Sprintf("sets n numbers of dst, a multiple of %d, to the sums over k of w times src at off.", int(s)))
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	dst := Load(Param("dst"), GP64()).(reg.GPVirtual)
	src := Load(Param("src"), GP64()).(reg.GPVirtual)
	off := Load(Param("off"), GP64()).(reg.GPVirtual)
	w := Load(Param("w"), GP64()).(reg.GPVirtual)
	k := Load(Param("k"), GP64()).(reg.GPVirtual)
	c := newRounder(s, r)
	for vecs := c.width(); vecs > 0; vecs /= 2 {
		loop(fmt.Sprintf("wide%d", vecs), n, vecs*int(s), func() {
			acc := c.chains(fmt.Sprintf("k%d", vecs), vecs, src, off, w, k)
			for i, v := range acc {
				VMOVUPS(v, Mem{Base: dst, Disp: i * s.bytes()})
			}
			ADDQ(I32(vecs*s.bytes()), dst)
			ADDQ(I32(vecs*s.bytes()), src)
		})
	}
	end()
}

// width is how many vectors of sums leave room for the constants.
func (c *rounder) width() int {
	if c.isa == avx2 && c.rounding == bf16Flush {
		return 4
	}
	return 8
}

// chains sums up vecs vectors.
func (c *rounder) chains(name string, vecs int, src, off, w, k reg.GPVirtual) []reg.VecVirtual {
	var acc []reg.VecVirtual
	for range vecs {
		acc = append(acc, c.zero())
	}
	i := GP64()
	XORQ(i, i)
	Label(name)
	CMPQ(i, k)
	JGE(LabelRef(name + "End"))
	at, x := GP64(), c.vec()
	MOVQ(Mem{Base: off, Index: i, Scale: 8}, at)
	VBROADCASTSS(Mem{Base: w, Index: i, Scale: 4}, x)
	for j, v := range acc {
		m := Mem{Base: src, Index: at, Scale: 4, Disp: j * c.bytes()}
		if c.rounding == fused {
			VFMADD231PS(m, x, v)
			continue
		}
		p := c.vec()
		VMULPS(m, x, p)
		c.round(p)
		VADDPS(p, v, v)
		c.round(v)
	}
	INCQ(i)
	JMP(LabelRef(name))
	Label(name + "End")
	return acc
}

// round rounds numbers in place.
func round(r rounding) {
	function("round"+r.String(), "func(n int, x *float32)", "rounds n numbers, a multiple of 8.")
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	x := Load(Param("x"), GP64()).(reg.GPVirtual)
	c := newRounder(avx2, r)
	for _, vecs := range []int{4, 1} {
		loop(fmt.Sprintf("wide%d", vecs), n, vecs*8, func() {
			for i := range vecs {
				v := YMM()
				VMOVUPS(Mem{Base: x, Disp: 32 * i}, v)
				c.round(v)
				VMOVUPS(v, Mem{Base: x, Disp: 32 * i})
			}
			ADDQ(I32(32*vecs), x)
		})
	}
	end()
}
