package rules

var reciprocalOverflow = Rule{
	Name:  "reciprocal-overflow",
	Title: "reciprocal or quotient overflows",
	Kind:  Overflow,
	Model: plainOverflow("the quotient", "Reciprocal", "Div"),
}
