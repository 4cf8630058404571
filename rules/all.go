package rules

// All returns every rule, in the order in which they run: special ones first, since a general rule
// leaves alone what they have named.
func All() []Rule {
	return []Rule{
		maskConstant,
		constantOverflow,
		constantsLost,
		tinyEpsilon,
		attentionLogits,
		sumOfSquares,
		expOverflow,
		crossEntropyInput,
		logOfZero,
		nearOne,
		aboveOne,
		cancellation,
		normVariance,
		constantUnderflow,
		integerInHalf,
		positionIDs,
		rotaryAngle,
		castOverflow,
		powOverflow,
		divisionByZero,
		reciprocalOverflow,
		reduceOverflow,
		matmulOverflow,
		convOverflow,
		fp8Saturation,
		valueOverflow,
		longSum,
		domainError,
		unknownRange,
		unknownOperator,
	}
}
