//go:build (darwin || windows || (linux && ort)) && (amd64 || arm64)

package ort

import "github.com/ebitengine/purego"

// entryPoint is the one symbol of the library that is looked up; all else stands in its table.
const entryPoint = "OrtGetApiBase"

// call calls a C function. What pointers among the arguments lead to must be pinned.
func call(f uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(f, args...)
	return r
}
