package rules

var powOverflow = Rule{
	Name:  "pow-overflow",
	Title: "power overflows",
	Kind:  Overflow,
	Model: plainOverflow("the power", "Pow"),
}
