// Package ort runs models by onnxruntime, where its library is installed.
//
// The library is loaded at run time, without cgo; nothing of it is needed to build. It is worth the
// trouble for models that take the evaluator long. What it computes is float32: onnxruntime on a CPU
// runs float16 graphs in float32 inside and hides their overflow, so a model is instrumented first
// (see [Instrument]): every value becomes float, and a pair of Casts after each node rounds its
// result to what the target holds. Sums run as onnxruntime runs them; only package refeval can
// accumulate as a target does.
//
// Built with the tag noort the package knows no library, and the program needs no C library either.
package ort
