// Package rules judges what the ranges say: each rule looks for one hazard of low-precision
// arithmetic and reports findings, with the evidence, the consequence and the edits that put it
// right.
//
// A rule is one file and one page in docs/. The page is the rule's documentation and its test: the
// Bad model of the page must give the findings marked in it and no other, the Good one must be
// silent under all rules, and so must the Bad one after its edits.
package rules
