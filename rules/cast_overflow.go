package rules

var castOverflow = Rule{
	Name:  "cast-overflow",
	Title: "number does not fit the type it is cast to",
	Kind:  Overflow,
	Model: plainOverflow("the number", "Cast", "CastLike"),
}
