// Package onnxtxt reads and writes models in the ONNX textual syntax, the language of onnx.parser
// and onnx.printer, so that test models and bug reports can be read by people.
//
// [Parse] turns a text into the bytes of a ModelProto and reads those with the graph package. A
// text model is thus a model like any other: what is said of a file's bytes holds for it too.
//
// Everything the reference parser accepts is accepted, except text it reads into a broken model:
// element counts that contradict the shape, numbers that do not fit their type, names that nothing
// defines. Beyond the reference these forms are read, and written where a model needs them:
//
//   - lists of tensors, graphs and types as attributes; sparse tensors, as in
//     sparse_tensor(float[9]) s = float[2] {1, 2} int64[2] {0, 4};
//   - quoted attribute names, quoted names of graphs and tensors in attributes, and quoted parts
//     of operator names;
//   - an attribute reference without a type.
//
// Elements of float16, bfloat16, float8 and float4 tensors are integer bit patterns. Types below
// 8 bits are written as the packed bytes, which is what the reference takes the numbers for; a list
// with one number per element is read as well. A '#' starts a comment, "//" does not.
package onnxtxt
