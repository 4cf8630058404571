// Command gen writes the assembly of package numfmt and its Go declarations. In this folder:
//
//	go run . -out ../half_avx_amd64.s -stubs ../half_avx_amd64.go -pkg numfmt
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

//go:generate go run . -out ../half_avx_amd64.s -stubs ../half_avx_amd64.go -pkg numfmt

// nearest is the rounding mode of VCVTPS2PH: to nearest, ties to even, whatever MXCSR says.
const nearest = 0

func main() {
	ConstraintExpr("amd64,!noasm")
	narrow("narrowAVX2", "func(n int, dst *byte, src *float32, top *[8]uint32)", "writes n float32, a multiple of 8, as float16.",
		func(x reg.VecVirtual, dst Mem) { VCVTPS2PH(I8(nearest), x, dst) }, 16)
	narrow("roundAVX2", "func(n int, dst *float32, src *float32, top *[8]uint32)", "rounds n float32, a multiple of 8, to float16.",
		func(x reg.VecVirtual, dst Mem) {
			h := XMM()
			VCVTPS2PH(I8(nearest), x, h)
			VCVTPH2PS(h, x)
			VMOVUPS(x, dst)
		}, 32)
	widen()
	ends()
	tally()
	quick("quickAVX2", "func(n int, src *float32, normal uint32, lanes *[4][8]uint32)", "takes n float32, a multiple of 8, into extremes and counts those from a magnitude on.", false)
	quick("quickNarrowAVX2", "func(n int, dst *byte, src *float32, normal uint32, lanes *[4][8]uint32)", "does what quickAVX2 does and writes the numbers as float16.", true)
	Generate()
}

// narrow makes a function that turns eight float32 at a time into size bytes, and keeps the greatest
// magnitude of each lane, by its bits.
func narrow(name, signature, doc string, convert func(reg.VecVirtual, Mem), size int) {
	begin(name, signature, doc)
	n, dst, src, out := pointer("n"), pointer("dst"), pointer("src"), pointer("top")
	top, abs := YMM(), repeat("magnitude", 0x7fffffff)
	VPXOR(top, top, top)
	loop(n, func() {
		x, a := YMM(), YMM()
		VMOVUPS(Mem{Base: src}, x)
		VPAND(abs, x, a)
		VPMAXUD(a, top, top)
		convert(x, Mem{Base: dst})
		ADDQ(I8(32), src)
		ADDQ(I8(size), dst)
	})
	VMOVUPS(top, Mem{Base: out})
	end()
}

// widen keeps the greatest magnitudes of lanes of 16 bits.
func widen() {
	begin("widenAVX2", "func(n int, dst *float32, src *byte, top *[8]uint16)", "sets n float32, a multiple of 8, to what float16 hold.")
	n, dst, src, out := pointer("n"), pointer("dst"), pointer("src"), pointer("top")
	top, abs := XMM(), XMM()
	VMOVUPS(constant("half", 0x7fff7fff, 4), abs)
	VPXOR(top, top, top)
	loop(n, func() {
		h, a, x := XMM(), XMM(), YMM()
		VMOVUPS(Mem{Base: src}, h)
		VPAND(abs, h, a)
		VPMAXUW(a, top, top)
		VCVTPH2PS(h, x)
		VMOVUPS(x, Mem{Base: dst})
		ADDQ(I8(16), src)
		ADDQ(I8(32), dst)
	})
	VMOVUPS(top, Mem{Base: out})
	end()
}

// ends keeps the extremes of lanes as package numfmt defines them for the bits of float32.
func ends() {
	begin("endsAVX2", "func(n int, src *float32, top *[8]int32, bottom *[8]uint32, least *[8]uint32)",
		"takes the bits of n float32, a multiple of 8, into extremes.")
	n, src := pointer("n"), pointer("src")
	out := []reg.GPVirtual{pointer("top"), pointer("bottom"), pointer("least")}
	abs, ones := repeat("magnitude", 0x7fffffff), YMM()
	VPCMPEQD(ones, ones, ones)
	lanes := []reg.VecVirtual{YMM(), YMM(), YMM()}
	for i, v := range lanes {
		VMOVUPS(Mem{Base: out[i]}, v)
	}
	loop(n, func() {
		x, a := YMM(), YMM()
		VMOVUPS(Mem{Base: src}, x)
		VPMAXSD(x, lanes[0], lanes[0])
		VPMAXUD(x, lanes[1], lanes[1])
		VPAND(abs, x, a)
		VPADDD(ones, a, a) // takes one off
		VPMINUD(a, lanes[2], lanes[2])
		ADDQ(I8(32), src)
	})
	for i, v := range lanes {
		VMOVUPS(v, Mem{Base: out[i]})
	}
	end()
}

// tally keeps the extremes as ends does, the least magnitude from a limit on, and counts magnitudes from
// limits on. Magnitudes are not negative as signed integers, which is what can be compared.
func tally() {
	begin("tallyAVX2", "func(n int, src *float32, limits *[4]uint32, lanes *[8][8]uint32)",
		"counts n float32, a multiple of 8, by their magnitudes.")
	n, src, limits, out := pointer("n"), pointer("src"), pointer("limits"), pointer("lanes")
	abs, ones := repeat("magnitude", 0x7fffffff), YMM()
	VPCMPEQD(ones, ones, ones)
	var below [4]reg.VecVirtual // the limits less one
	for i := range below {
		below[i] = YMM()
		VPBROADCASTD(Mem{Base: limits, Disp: 4 * i}, below[i])
		VPADDD(ones, below[i], below[i])
	}
	var lanes [8]reg.VecVirtual
	for i := range lanes {
		lanes[i] = YMM()
		VMOVUPS(Mem{Base: out, Disp: 32 * i}, lanes[i])
	}
	loop(n, func() {
		a, t := YMM(), YMM()
		VMOVUPS(Mem{Base: src}, a)
		VPMAXSD(a, lanes[0], lanes[0])
		VPMAXUD(a, lanes[1], lanes[1])
		VPAND(abs, a, a)
		VPCMPGTD(below[0], a, t)
		VPSUBD(t, lanes[4], lanes[4])
		VPCMPGTD(below[1], a, t)
		VPSUBD(t, lanes[5], lanes[5])
		VPCMPGTD(below[2], a, t)
		VPSUBD(t, lanes[6], lanes[6])
		VPCMPGTD(below[3], a, t)
		VPSUBD(t, lanes[7], lanes[7])
		VPADDD(ones, a, a) // takes one off
		VPMINUD(a, lanes[2], lanes[2])
		VPSUBD(below[1], a, t)
		VPMINUD(t, lanes[3], lanes[3])
		ADDQ(I8(32), src)
	})
	for i, v := range lanes {
		VMOVUPS(v, Mem{Base: out, Disp: 32 * i})
	}
	end()
}

// quick keeps the greatest bits as signed and as unsigned integers and the least magnitude, and counts
// magnitudes from a limit on: of weights this mostly tells all that tally does.
func quick(name, signature, doc string, narrows bool) {
	begin(name, signature, doc)
	n, src, out := pointer("n"), pointer("src"), pointer("lanes")
	var dst reg.GPVirtual
	if narrows {
		dst = pointer("dst")
	}
	abs, ones, below := repeat("magnitude", 0x7fffffff), YMM(), YMM()
	limit := Load(Param("normal"), GP32()).(reg.GPVirtual)
	VMOVD(limit, below.AsX())
	VPBROADCASTD(below.AsX(), below)
	VPCMPEQD(ones, ones, ones)
	VPADDD(ones, below, below) // takes one off
	var lanes [4]reg.VecVirtual
	for i := range lanes {
		lanes[i] = YMM()
		VMOVUPS(Mem{Base: out, Disp: 32 * i}, lanes[i])
	}
	loop(n, func() {
		x, a, t := YMM(), YMM(), YMM()
		VMOVUPS(Mem{Base: src}, x)
		if narrows {
			VCVTPS2PH(I8(nearest), x, Mem{Base: dst})
			ADDQ(I8(16), dst)
		}
		VPMAXSD(x, lanes[0], lanes[0])
		VPMAXUD(x, lanes[1], lanes[1])
		VPAND(abs, x, a)
		VPMINUD(a, lanes[2], lanes[2])
		VPCMPGTD(below, a, t)
		VPSUBD(t, lanes[3], lanes[3])
		ADDQ(I8(32), src)
	})
	for i, v := range lanes {
		VMOVUPS(v, Mem{Base: out, Disp: 32 * i})
	}
	end()
}

func begin(name, signature, doc string) {
	TEXT(name, attr.NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + " " + doc)
}

func end() {
	VZEROUPPER()
	RET()
}

func pointer(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

// loop repeats body for every eight of n.
func loop(n reg.GPVirtual, body func()) {
	Label("eight")
	CMPQ(n, I8(8))
	JLT(LabelRef("done"))
	body()
	SUBQ(I8(8), n)
	JMP(LabelRef("eight"))
	Label("done")
}

// repeat returns a vector of eight times the same bits.
func repeat(name string, bits uint32) reg.VecVirtual {
	v := YMM()
	VMOVUPS(constant(name, bits, 8), v)
	return v
}

var constants = map[string]Mem{}

func constant(name string, bits uint32, n int) Mem {
	if m, ok := constants[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range n {
		DATA(4*i, U32(bits))
	}
	constants[name] = m
	return m
}
