package rules

var matmulOverflow = Rule{
	Name:  "matmul-overflow",
	Title: "matrix product overflows",
	Kind:  Overflow,
	Model: plainOverflow("the matrix product", "MatMul", "Gemm", "Einsum"),
}
