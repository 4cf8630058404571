// Package infer finds the types and shapes of all values of a model and folds constants, in one walk.
//
// Dimensions are numbers or symbols; sums, products and quotients of symbols are kept in a canonical spelling, so
// that equal sizes have equal names. Chains that compute a shape (Shape, Gather, Concat, Reshape …) are folded
// with symbolic elements too. Every operator has one line in the table of its family file.
package infer
