//go:build !((darwin || linux || windows) && (amd64 || arm64)) || noort

package ort

import "errors"

// load refuses: this build cannot load libraries.
func load(string) (uintptr, error) {
	return 0, errors.New("this build of amplint cannot load libraries")
}

// call is never reached, since load gives no functions.
func call(uintptr, ...uintptr) uintptr { return 0 }
