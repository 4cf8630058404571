// Package tokens bounds what the first layer of a model computes of its tokens.
//
// The input of that layer is one of finitely many vectors: a row of a table of words, added to a row of
// a table of positions and perhaps one of types, and normalised. A ball around all of them forgets that no
// two directions are far out at once. Here the rows are taken one by one:
//
//	token = (e + s) · ρ(e + s),  e a row of the large table, s a sum of rows of the small ones,
//	ρ(x) = 1/√(coef·‖x‖² + ε), or 1 where nothing is normalised
//
// where both are less their mean for a LayerNormalization. A pair costs no more than the product e·s that
// tells ‖e + s‖; what else is asked is bounded with s anywhere in the small tables, and looked at pair by
// pair only where that bound is the largest.
//
// Products are taken in float32, by the kernels of the evaluator. Their rounding is part of every bound.
package tokens
