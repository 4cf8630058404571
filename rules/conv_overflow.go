package rules

var convOverflow = Rule{
	Name:  "conv-overflow",
	Title: "convolution overflows",
	Kind:  Overflow,
	Model: plainOverflow("the convolution", "Conv", "ConvTranspose"),
}
