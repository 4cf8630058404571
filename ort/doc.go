// Package ort runs models by onnxruntime, where its library is installed.
//
// The library is loaded at run time, without cgo; nothing of it is needed to build. It is worth the
// trouble for models that take the evaluator long. What it computes is float32: onnxruntime on a CPU
// runs float16 graphs in float32 inside and hides their overflow, so a model is instrumented first
// (see [Instrument]): every value becomes float, and a pair of Casts after each node rounds its
// result to what the target holds. Sums run as onnxruntime runs them; only package refeval can
// accumulate as a target does.
//
// On Linux loading a library makes the program need the C library's own loader: it would no longer be
// static. There the engine is built in by the tag ort only; [CanLoad] tells.
package ort
