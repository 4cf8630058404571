// Command gen writes the assembly of package kern and its Go declarations. In this folder:
//
//	go run . -out ../kernels_avx_amd64.s -stubs ../kernels_avx_amd64.go -pkg kern
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

//go:generate go run . -out ../kernels_avx_amd64.s -stubs ../kernels_avx_amd64.go -pkg kern

func main() {
	ConstraintExpr("amd64,!noasm")
	for m := 1; m <= 6; m++ {
		tile(avx2, m)
	}
	for m := 1; m <= 12; m++ {
		tile(avx512, m)
	}
	for _, s := range []isa{avx2, avx512} {
		for _, r := range []rounding{fused, fp16, fp16Flush, bf16, bf16Flush} {
			sweep(s, r)
		}
	}
	for _, r := range []rounding{fp16, fp16Flush, bf16, bf16Flush} {
		round(r)
	}
	for _, f := range []func(string, func(...Op)){binary, scalar} {
		f("add", VADDPS)
		f("sub", VSUBPS)
		f("mul", VMULPS)
		f("div", VDIVPS)
	}
	normalize()
	clip()
	exp()
	sigmoid()
	rational()
	sum()
	squares()
	maximum()
	fold("total", VADDPS)
	fold("top", VMAXPS)
	stats()
	dots()
	extremes()
	least()
	widenDoubles()
	dotRows()
	extremeRows()
	Generate()
}
