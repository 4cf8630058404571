package ort

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// apiVersion is the least version of the table that is asked for. The library answers any version
// up to its own with a table that begins alike.
const apiVersion = 16

// fn is the place of a function in struct OrtApi.
type fn int

// The functions used here. The places are the order of the members of struct OrtApi in
// include/onnxruntime/core/session/onnxruntime_c_api.h, counted from 0. The table only ever grows at
// its end ("DO NOT MODIFY ABOVE" after each version), so they hold for every later version.
const (
	getErrorMessage                  fn = 2
	createEnv                        fn = 3
	createSessionFromArray           fn = 8
	run                              fn = 9
	createSessionOptions             fn = 10
	setSessionGraphOptimizationLevel fn = 23
	setIntraOpNumThreads             fn = 24
	sessionGetOutputCount            fn = 31
	sessionGetOutputName             fn = 37
	createRunOptions                 fn = 39
	runOptionsSetTerminate           fn = 46
	createTensorAsOrtValue           fn = 48
	isTensor                         fn = 50
	getTensorMutableData             fn = 51
	fillStringTensor                 fn = 52
	getTensorElementType             fn = 60
	getDimensionsCount               fn = 61
	getDimensions                    fn = 62
	getTensorTypeAndShape            fn = 65
	allocatorFree                    fn = 76
	getAllocatorWithDefaultOptions   fn = 78
	releaseStatus                    fn = 93
	releaseSession                   fn = 95
	releaseValue                     fn = 96
	releaseRunOptions                fn = 97
	releaseTensorTypeAndShapeInfo    fn = 99
	releaseSessionOptions            fn = 100
	getStringTensorElementLength     fn = 127
	getStringTensorElement           fn = 128
	addSessionConfigEntry            fn = 130
	lastUsed                            = addSessionConfigEntry
)

// Values of the enums of the same header.
const (
	logFatal   = 4  // ORT_LOGGING_LEVEL_FATAL
	disableAll = 0  // ORT_DISABLE_ALL
	enableAll  = 99 // ORT_ENABLE_ALL
)

// Engine is a loaded library. It is never unloaded: its threads outlive the sessions.
type Engine struct {
	Path    string // of the library
	Version string

	table *[lastUsed + 1]uintptr
	env   uintptr
	alloc uintptr // owned by the library
}

// Open finds the library, as [Find] does, and loads it.
func Open(named string) (*Engine, error) {
	path, err := Find(named)
	if err != nil {
		return nil, err
	}
	base, err := load(path)
	if err != nil && path == libName() {
		return nil, fmt.Errorf("%w (%w)", &MissingError{}, err)
	}
	if err != nil {
		return nil, fmt.Errorf("onnxruntime: %s cannot be loaded: %w", path, err)
	}
	e := &Engine{Path: path}
	return e, e.start(base)
}

// apiBase is struct OrtApiBase.
type apiBase struct{ getAPI, getVersion uintptr }

// start fetches the table and makes what all sessions share.
func (e *Engine) start(entry uintptr) error {
	base := (*apiBase)(pointer(call(entry)))
	if base == nil {
		return errors.New("onnxruntime: the library gives no table of functions")
	}
	e.Version = goString(call(base.getVersion))
	e.table = (*[lastUsed + 1]uintptr)(pointer(call(base.getAPI, apiVersion)))
	if e.table == nil {
		return fmt.Errorf("onnxruntime %s of %s is too old: API version %d is needed, which 1.%d has", e.Version, e.Path, apiVersion, apiVersion)
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	if err := e.do(createEnv, logFatal, cString(&pin, "amplint"), addr(&pin, &e.env)); err != nil {
		return err
	}
	return e.do(getAllocatorWithDefaultOptions, addr(&pin, &e.alloc))
}

// do calls a function that returns a status.
func (e *Engine) do(f fn, args ...uintptr) error {
	status := call(e.table[f], args...)
	if status == 0 {
		return nil
	}
	text := goString(call(e.table[getErrorMessage], status))
	e.free(releaseStatus, status)
	return fmt.Errorf("onnxruntime: %s", text)
}

// free calls a function that releases an object; none is no object.
func (e *Engine) free(f fn, object uintptr) {
	if object != 0 {
		call(e.table[f], object)
	}
}

// addr returns the address of a Go variable for an argument list. Pinned, the variable lies on the
// heap and stays there until the call is over.
func addr[T any](pin *runtime.Pinner, p *T) uintptr {
	pin.Pin(p)
	return uintptr(unsafe.Pointer(p))
}

// cString returns the address of a copy of a string with a zero behind.
func cString(pin *runtime.Pinner, s string) uintptr {
	return addr(pin, &append([]byte(s), 0)[0])
}

// pointer turns an address of the library's memory into a pointer. Go's collector does not move or
// free what lies there, so that the rule against such conversions, which vet enforces, has no
// bearing on it.
func pointer(a uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&a)) }

// goString copies a C string.
func goString(a uintptr) string {
	if a == 0 {
		return ""
	}
	p, n := (*byte)(pointer(a)), 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
