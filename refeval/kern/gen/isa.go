package main

import (
	"math"
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is an instruction set, by the width of its vectors in numbers.
type isa int

const (
	avx2   isa = 8
	avx512 isa = 16
)

func (s isa) String() string {
	if s == avx2 {
		return "AVX2"
	}
	return "AVX512"
}

func (s isa) bytes() int { return 4 * int(s) }

// vec returns a new vector register.
func (s isa) vec() reg.VecVirtual {
	if s == avx2 {
		return YMM()
	}
	return ZMM()
}

// zero returns a new vector of zeros.
func (s isa) zero() reg.VecVirtual {
	v := s.vec()
	if s == avx2 {
		VXORPS(v, v, v)
	} else {
		VPXORD(v, v, v)
	}
	return v
}

// spread returns a new vector that repeats one number of 32 bits.
func (s isa) spread(bits uint32) reg.VecVirtual {
	v := s.vec()
	VBROADCASTSS(word(bits), v)
	return v
}

// word returns a constant of 32 bits in memory.
func word(bits uint32) Mem {
	return constant("word", bits, 1)
}

// eight returns a vector of AVX2 in memory that repeats a number.
func eight(x float32) Mem { return constant("eight", math.Float32bits(x), 8) }

// eightBits is eight for bits.
func eightBits(bits uint32) Mem { return constant("eight", bits, 8) }

var constants = map[string]Mem{}

func constant(kind string, bits uint32, n int) Mem {
	name := kind + strconv.FormatUint(uint64(bits), 16)
	if m, ok := constants[name]; ok {
		return m
	}
	m := GLOBL(name, 8|16) // read only, no pointers
	for i := range n {
		DATA(4*i, U32(bits))
	}
	constants[name] = m
	return m
}

// loop repeats body while at least step is left in n, and takes step off n each time.
func loop(name string, n reg.GPVirtual, step int, body func()) {
	Label(name)
	CMPQ(n, I32(step))
	JLT(LabelRef(name + "End"))
	body()
	SUBQ(I32(step), n)
	JMP(LabelRef(name))
	Label(name + "End")
}

// function begins a function whose pointers do not escape.
func function(name, signature, doc string) {
	TEXT(name, 4, signature)
	Pragma("noescape")
	Doc(name + " " + doc)
}

// end leaves a function.
func end() {
	VZEROUPPER()
	RET()
}
