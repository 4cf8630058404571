// Package schema knows the operators of the ONNX standard: what they take, which types they allow, their
// attributes and defaults, in every version of every opset. The facts are text files written from the onnx and
// onnxruntime packages by gen/gen.py; nothing is parsed before an operator is asked for, and then only its line.
//
// Three files are embedded: onnx.schema (the standard), contrib.schema (what onnxruntime adds) and extra.schema
// (kept by hand: operators met in files that no package registers). They share one format. A line that begins
// with # is a comment; any other is one operator version, the lines are sorted, and the fields are separated by
// tabs, the items of a field by spaces:
//
//	domain name since flags inputs outputs constraints attributes
//
//	since        three digits
//	flags        d deprecated, f has a function body (not known for onnxruntime's operators)
//	input        name:variable or name:=types; then nothing for exactly one, ? for optional,
//	             *n for at least n of one type, ~n for at least n of any allowed types
//	constraint   variable=types
//	types        groups separated by ";", each an optional kind and ":" before elements separated by ",":
//	             none tensor, seq sequence of tensors, opt optional tensor, optseq optional sequence,
//	             sparse sparse tensor, map.KEY map, seqmap.KEY sequence of maps
//	element      f float, h float16, b bfloat16, d double, i2 … i64, u2 … u64, bool, str, c64, c128,
//	             e4m3fn, e4m3fnuz, e5m2, e5m2fnuz, e8m0 (float8), e2m1 (float4), e2m3, e3m2 (float6)
//	attribute    name:type, then ! for required or =default; a list's items are separated by ",",
//	             and %XX stands for a sign that the format needs itself
//	type         f float, i int, s string, t tensor, g graph, p sparse tensor, y type; capitals are lists
package schema

//go:generate python3 gen/gen.py
