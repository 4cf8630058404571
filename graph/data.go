package graph

import "errors"

// errNoData is what a tensor without elements in reach reports.
var errNoData = errors.New("the tensor's elements are not available")

// Raw streams the elements as raw_data would hold them (little endian, types below 8 bits packed)
// whatever field or file they are stored in, in chunks of at most about 1 MiB that hold whole
// elements. A chunk is valid until visit returns.
func (t *Tensor) Raw(visit func(chunk []byte) error) error { return errNoData }

// Floats streams the elements of any numeric type or bool as float32 (double rounds, integers
// above 2^24 round), in chunks of at most 256 Ki elements.
func (t *Tensor) Floats(visit func(chunk []float32) error) error { return errNoData }

// Float64s returns all elements of any numeric type or bool.
func (t *Tensor) Float64s() ([]float64, error) { return nil, errNoData }

// Int64s returns all elements of an integer or bool tensor; uint64 wraps.
func (t *Tensor) Int64s() ([]int64, error) { return nil, errNoData }

// Strings returns the elements of a string tensor.
func (t *Tensor) Strings() ([]string, error) { return t.strings, nil }
