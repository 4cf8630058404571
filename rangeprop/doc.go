// Package rangeprop bounds every value of a model: between which numbers it lies, whether it may
// be infinite or not a number, and on what the bound rests.
//
// A range is a claim about the model as it runs in its own types, not about real numbers: in FP32
// Exp(100) is +Inf, and Inf - Inf is NaN. The bounds are sound: no input inside the declared
// ranges leaves them. They are kept per channel where the shape allows it, and what the parts of
// a recognised pattern lose (see package graph/pattern) is put back by its fact: a normalised row
// of n elements lies within ±√n whatever stands in it.
//
// This package knows no thresholds and no kinds of errors: it bounds, the rules judge.
package rangeprop
