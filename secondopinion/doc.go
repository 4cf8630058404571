// Package secondopinion holds the readers and the evaluator of amplint against those of onnx-go,
// another implementation in Go. It is a module of its own: onnx-go is no longer maintained, and what
// it depends on must not become part of amplint.
//
// What onnx-go cannot read or run says nothing about amplint and is counted apart; it knows no
// float16 and 45 operators. It panics on part of its input, so every call is guarded.
package secondopinion
