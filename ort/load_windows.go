//go:build windows && (amd64 || arm64)

package ort

import "golang.org/x/sys/windows"

// CanLoad tells whether this build can load libraries.
const CanLoad = true

// load opens a shared library and returns the address of its entry point. The libraries it needs
// itself are looked for in its own folder too.
func load(path string) (uintptr, error) {
	lib, err := windows.LoadLibraryEx(path, 0, windows.LOAD_WITH_ALTERED_SEARCH_PATH)
	if err != nil {
		return 0, err
	}
	return windows.GetProcAddress(lib, entryPoint)
}
