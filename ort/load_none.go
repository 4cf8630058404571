//go:build !((darwin || windows || (linux && ort)) && (amd64 || arm64))

package ort

import "errors"

// CanLoad tells whether this build can load libraries.
const CanLoad = false

// load refuses: this build cannot load libraries.
func load(string) (uintptr, error) {
	return 0, errors.New("this build of amplint cannot load libraries: build it with go build -tags ort")
}

// call is never reached, since load gives no functions.
func call(uintptr, ...uintptr) uintptr { return 0 }
