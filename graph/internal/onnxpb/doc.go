// Package onnxpb is a generated decoder of ONNX files, used by tests to check what package graph
// reads and writes.
package onnxpb

//go:generate protoc --go_out=. --go_opt=paths=source_relative onnx.proto
