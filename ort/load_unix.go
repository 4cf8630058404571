//go:build (darwin || (linux && ort)) && (amd64 || arm64)

package ort

import "github.com/ebitengine/purego"

// CanLoad tells whether this build can load libraries.
const CanLoad = true

// load opens a shared library and returns the address of its entry point.
func load(path string) (uintptr, error) {
	lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, err
	}
	return purego.Dlsym(lib, entryPoint)
}
