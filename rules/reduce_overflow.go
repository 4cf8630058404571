package rules

var reduceOverflow = Rule{
	Name:  "reduce-overflow",
	Title: "sum overflows",
	Kind:  Overflow,
	Model: plainOverflow("the sum", "ReduceSum", "ReduceL1", "CumSum", "ReduceLogSumExp", "Sum"),
}
