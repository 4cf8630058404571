package refeval

import "testing"

const three = `float[3] a = {1, 2, 3}, float[2] b = {4, 5}`

func TestSequenceOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"at either end", 11, `(float[N] y, float[M] z, int64 n) <` + three + `, int64 i = {0}, int32 j = {-1}> { s = SequenceConstruct(a, b) y = SequenceAt(s, i) z = SequenceAt(s, j) n = SequenceLength(s) }`, "float[3] 1 2 3; float[2] 4 5; int64 2"},
		{"inserted before, erased from the end", 11, `(float[N] y, float[M] z) <` + three + `, int64 i = {0}, int64 j = {-1}> { s = SequenceConstruct(a, a) t = SequenceInsert(s, b, j) u = SequenceErase(t) v = SequenceErase(u, i) y = ConcatFromSequence<axis = 0>(u) z = ConcatFromSequence<axis = 0>(v) }`, "float[5] 1 2 3 4 5; float[2] 4 5"},
		{"stacked", 11, `(float[A,B] y) <` + three + `> { s = SequenceConstruct(a, a) y = ConcatFromSequence<axis = -1, new_axis = 1>(s) }`, "float[3,2] 1 1 2 2 3 3"},
		{"cut in pieces, the last one shorter", 11, `(float[N] y, int64 n) <` + three + `, int64 two = {2}, int64 i = {1}> { s = SplitToSequence(a, two) y = SequenceAt(s, i) n = SequenceLength(s) }`, "float[1] 3; int64 2"},
		{"cut as told", 11, `(float[A,B] y) <float[2,3] x = {1, 2, 3, 4, 5, 6}, int64[2] p = {1, 2}, int64 i = {1}> { s = SplitToSequence<axis = 1>(x, p) y = SequenceAt(s, i) }`, "float[2,2] 2 3 5 6"},
		{"cut in slices without their axis", 11, `(float y) <` + three + `, int64 i = {2}> { s = SplitToSequence<keepdims = 0>(a) y = SequenceAt(s, i) }`, "float 3"},
		{"optionals", 18, `(bool y, bool z, float[N] v, bool w) <` + three + `> { e = Optional<type: type_proto = float[N]>() o = Optional(a) y = OptionalHasElement(e) z = OptionalHasElement(o) v = OptionalGetElement(o) w = OptionalHasElement() }`, "bool 0; bool 1; float[3] 1 2 3; bool 0"},
		{"past the end", 11, `(float[N] y) <` + three + `, int64 i = {2}> { s = SequenceConstruct(a, b) y = SequenceAt(s, i) }`, "error: position 2 in a sequence of 2"},
		{"of two types", 11, `(float[N] y) <` + three + `, int64[1] i = {2}> { s = SequenceConstruct(a, i) y = SequenceAt(s, i) }`, "error: inputs of types float and int64"},
		{"parts that do not add up", 11, `(int64 n) <` + three + `, int64[2] p = {1, 1}> { s = SplitToSequence(a, p) n = SequenceLength(s) }`, "error: parts of [1 1] do not make 3"},
		{"nothing to join", 11, `(float[N] y) { s = SequenceEmpty() y = ConcatFromSequence<axis = 0>(s) }`, "error: nothing to join"},
		{"nothing to erase", 11, `(int64 y) { s = SequenceEmpty() t = SequenceErase(s) y = SequenceLength(t) }`, "error: nothing to erase"},
	})
}
