// Package refeval runs an ONNX model in Go, rounding as the target does.
//
// A [Runner] is planned once from a linked model and may run many times, from several goroutines.
// Every node is one function of its family (elementwise.go, reduce.go, …), found by the operator's
// name in one table. A kernel computes in the type its tensors are held in; what rounds a result
// to float16, bfloat16 or float8 is the executor, after the node. Only sums inside a kernel, which
// [Options].Accumulate governs, are the kernel's own business.
//
// A kernel that is given nonsense panics, by an index out of range or by a refusal of its own; the
// executor turns that into an error that names the node. So the kernels stay short, and no model
// can bring the process down.
package refeval
