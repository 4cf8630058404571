package refeval

import "testing"

func TestGatherOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"gather rows, the last by a negative index", 13,
			`(float[A,B] y) <float[3,2] x = {1, 2, 3, 4, 5, 6}, int64[2] i = {-1, 0}> { y = Gather(x, i) }`, "float[2,2] 5 6 1 2"},
		{"gather columns by a scalar", 1,
			`(float[A] y) <float[3,2] x = {1, 2, 3, 4, 5, 6}, int64 i = {1}> { y = Gather<axis = 1>(x, i) }`, "float[3] 2 4 6"},
		{"gather out of range", 13,
			`(float[A] y) <float[3] x = {1, 2, 3}, int64[1] i = {3}> { y = Gather(x, i) }`, "error: index 3 into a dimension of 3"},
		{"gather elements", 13,
			`(float[A,B] y) <float[2,2] x = {1, 2, 3, 4}, int64[2,2] i = {0, 0, 1, 0}> { y = GatherElements<axis = 1>(x, i) }`, "float[2,2] 1 1 4 3"},
		{"gather by rows of indices in batches", 12,
			`(int32[A,B] y) <int32[2,2,2] x = {0, 1, 2, 3, 4, 5, 6, 7}, int64[2,1] i = {1, 0}> { y = GatherND<batch_dims = 1>(x, i) }`, "int32[2,2] 2 3 4 5"},
		{"gather blocks", 11,
			`(int32[A] y) <int32[2,2] x = {0, 1, 2, 3}, int64[2,2] i = {0, 0, 1, 1}> { y = GatherND(x, i) }`, "int32[2] 0 3"},
		{"scatter elements", 9,
			`(float[A,B] y) <float[1,5] x = {1, 2, 3, 4, 5}, int64[1,2] i = {1, 3}, float[1,2] u = {1.5, 2.5}> { y = Scatter<axis = 1>(x, i, u) }`, "float[1,5] 1 1.5 3 2.5 5"},
		{"scatter elements that add up", 18,
			`(float[A] y) <float[3] x = {1, 2, 3}, int64[3] i = {1, 1, -1}, float[3] u = {10, 20, 30}> { y = ScatterElements<axis = 0, reduction = "add">(x, i, u) }`, "float[3] 1 32 33"},
		{"scatter the largest", 18,
			`(int64[A] y) <int64[3] x = {1, 2, 3}, int64[2] i = {0, 2}, int64[2] u = {5, -5}> { y = ScatterElements<reduction = "max">(x, i, u) }`, "int64[3] 5 2 3"},
		{"scatter blocks", 16,
			`(float[A,B] y) <float[2,2] x = {1, 2, 3, 4}, int64[2,1] i = {1, 1}, float[2,2] u = {2, 3, 4, 5}> { y = ScatterND<reduction = "mul">(x, i, u) }`, "float[2,2] 1 2 24 60"},
		{"scatter into a cache that goes round", 24,
			`(float[A,B,C] y) <float[2,3,1] x = {1, 2, 3, 4, 5, 6}, float[2,2,1] u = {10, 20, 30, 40}, int64[2] w = {0, 2}> { y = TensorScatter<mode = "circular">(x, u, w) }`, "float[2,3,1] 10 20 3 40 5 30"},
		{"scatter past the end of a cache", 24,
			`(float[A,B,C] y) <float[1,3,1] x = {1, 2, 3}, float[1,2,1] u = {10, 20}, int64[1] w = {2}> { y = TensorScatter(x, u, w) }`, "error: index 3 into a dimension of 3"},
	})
}

func TestSelectOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"compress rows", 11,
			`(float[A,B] y) <float[3,2] x = {1, 2, 3, 4, 5, 6}, bool[2] k = {0, 1}> { y = Compress<axis = 0>(x, k) }`, "float[1,2] 3 4"},
		{"compress elements", 11,
			`(float[A] y) <float[3,2] x = {1, 2, 3, 4, 5, 6}, bool[5] k = {0, 1, 0, 0, 1}> { y = Compress(x, k) }`, "float[2] 2 5"},
		{"what is not zero", 13,
			`(int64[A,B] y) <float[2,2] x = {1, 0, 1, 1}> { y = NonZero(x) }`, "int64[2,3] 0 1 1 0 0 1"},
		{"one hot", 11,
			`(float[A,B] y) <int64[3] i = {1, -1, 3}, int64 d = {3}, float[2] v = {2, 5}> { y = OneHot(i, d, v) }`, "float[3,3] 2 5 2 2 2 5 2 2 2"},
		{"one hot along the first axis", 11,
			`(float[A,B] y) <int64[2] i = {1, 0}, int64 d = {2}, float[2] v = {0, 1}> { y = OneHot<axis = 0>(i, d, v) }`, "float[2,2] 0 1 1 0"},
		{"largest, the earlier of equal ones first", 11,
			`(float[A] y, int64[A] i) <float[4] x = {1, 3, 2, 3}, int64[1] k = {3}> { y, i = TopK(x, k) }`, "float[3] 3 3 2; int64[3] 1 3 2"},
		{"smallest along the first axis", 11,
			`(float[A,B] y, int64[A,B] i) <float[2,2] x = {1, 3, 2, 0}, int64[1] k = {1}> { y, i = TopK<axis = 0, largest = 0>(x, k) }`, "float[1,2] 1 0; int64[1,2] 0 1"},
		{"unique, sorted", 11,
			`(float[A] y, int64[A] i, int64[B] v, int64[A] n) <float[6] x = {2, 1, 1, 3, 4, 3}> { y, i, v, n = Unique(x) }`,
			"float[4] 1 2 3 4; int64[4] 1 0 3 4; int64[6] 1 0 0 2 3 2; int64[4] 2 1 2 1"},
		{"unique in order", 11,
			`(float[A] y, int64[A] i, int64[B] v, int64[A] n) <float[6] x = {2, 1, 1, 3, 4, 3}> { y, i, v, n = Unique<sorted = 0>(x) }`,
			"float[4] 2 1 3 4; int64[4] 0 1 3 4; int64[6] 0 1 1 2 3 2; int64[4] 1 2 2 1"},
		{"unique rows", 11,
			`(float[A,B] y) <float[3,2] x = {2, 3, 1, 0, 1, 0}> { y = Unique<axis = 0>(x) }`, "float[2,2] 1 0 2 3"},
	})
}

func TestMovementOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"concat", 13, `(float[A,B] y) <float[2,1] a = {1, 2}, float[2,2] b = {3, 4, 5, 6}> { y = Concat<axis = -1>(a, b) }`, "float[2,3] 1 3 4 2 5 6"},
		{"concat of opset 1", 1, `(float[A,B] y) <float[1,1] a = {1}, float[1,1] b = {2}> { y = Concat(a, b) }`, "float[1,2] 1 2"},
		{"concat of other shapes", 13, `(float[A,B] y) <float[1,2] a = {1, 2}, float[2,1] b = {2, 3}> { y = Concat<axis = 0>(a, b) }`, "error: do not go together along axis 0"},
		{"split by attribute", 11, `(float[A] y, float[B] z) <float[3] x = {1, 2, 3}> { y, z = Split<axis = 0, split = [1, 2]>(x) }`, "float[1] 1; float[2] 2 3"},
		{"split into uneven parts", 18, `(float[A] y, float[B] z) <float[3] x = {1, 2, 3}> { y, z = Split<num_outputs = 2>(x) }`, "float[2] 1 2; float[1] 3"},
		{"split that leaves some", 13, `(float[A] y, float[B] z) <float[3] x = {1, 2, 3}, int64[2] s = {1, 1}> { y, z = Split(x, s) }`, "error: the parts take 2 of the 3"},
		{"slice of opset 1", 1, `(float[A,B] y) <float[2,3] x = {1, 2, 3, 4, 5, 6}> { y = Slice<starts = [1, -2], ends = [9223372036854775807, 3]>(x) }`, "float[1,2] 5 6"},
		{"slice backwards", 13, `(float[A] y) <float[4] x = {1, 2, 3, 4}, int64[1] s = {-1}, int64[1] e = {-9223372036854775807}, int64[1] a = {0}, int64[1] p = {-2}> { y = Slice(x, s, e, a, p) }`, "float[2] 4 2"},
		{"slice of nothing", 13, `(float[A] y) <float[4] x = {1, 2, 3, 4}, int64[1] s = {7}, int64[1] e = {9}> { y = Slice(x, s, e) }`, "float[0]"},
		{"pad of opset 1", 1, `(float[A] y) <float[2] x = {1, 2}> { y = Pad<paddings = [1, 0], value = 5.0>(x) }`, "float[3] 5 1 2"},
		{"pad and cut", 11, `(float[A] y) <float[3] x = {1, 2, 3}, int64[2] p = {-1, 2}> { y = Pad(x, p) }`, "float[4] 2 3 0 0"},
		{"pad an axis by reflection", 18, `(float[A,B] y) <float[1,3] x = {1, 2, 3}, int64[2] p = {2, 1}, int64[1] a = {1}> { y = Pad<mode = "reflect">(x, p, , a) }`, "float[1,6] 3 2 1 2 3 2"},
		{"pad by the edge", 13, `(float[A] y) <float[2] x = {1, 2}, int64[2] p = {2, 1}> { y = Pad<mode = "edge">(x, p) }`, "float[5] 1 1 1 2 2"},
		{"pad round", 19, `(float[A] y) <float[3] x = {1, 2, 3}, int64[2] p = {2, 4}> { y = Pad<mode = "wrap">(x, p) }`, "float[9] 2 3 1 2 3 1 2 3 1"},
		{"pad beyond memory", 13, `(float[A] y) <float[1] x = {1}, int64[2] p = {4611686018427387904, 0}> { y = Pad(x, p) }`, "error: is too large"},
		{"tile", 13, `(float[A,B] y) <float[1,2] x = {1, 2}, int64[2] r = {2, 2}> { y = Tile(x, r) }`, "float[2,4] 1 2 1 2 1 2 1 2"},
		{"tile of opset 1", 1, `(float[A,B] y) <float[1,2] x = {1, 2}, float n = {2}, float a = {0}> { y = Tile(x, n, a) }`, "float[2,2] 1 2 1 2"},
		{"reverse sequences", 10, `(float[A,B] y) <float[3,2] x = {0, 3, 1, 4, 2, 5}, int64[2] n = {3, 2}> { y = ReverseSequence(x, n) }`, "float[3,2] 2 4 1 3 0 5"},
		{"depth to space", 11, `(float[A,B,C,D] y) <float[1,8,1,1] x = {0, 1, 2, 3, 4, 5, 6, 7}> { y = DepthToSpace<blocksize = 2>(x) }`, "float[1,2,2,2] 0 2 4 6 1 3 5 7"},
		{"depth to space by columns", 11, `(float[A,B,C,D] y) <float[1,8,1,1] x = {0, 1, 2, 3, 4, 5, 6, 7}> { y = DepthToSpace<blocksize = 2, mode = "CRD">(x) }`, "float[1,2,2,2] 0 1 2 3 4 5 6 7"},
		{"space to depth", 13, `(float[A,B,C,D] y) <float[1,2,2,2] x = {0, 2, 4, 6, 1, 3, 5, 7}> { y = SpaceToDepth<blocksize = 2>(x) }`, "float[1,8,1,1] 0 1 2 3 4 5 6 7"},
		{"upper triangle", 14, `(float[A,B] y) <float[2,3] x = {1, 2, 3, 4, 5, 6}, int64 k = {1}> { y = Trilu(x, k) }`, "float[2,3] 0 2 3 0 0 6"},
		{"lower triangle", 14, `(float[A,B] y) <float[2,3] x = {1, 2, 3, 4, 5, 6}> { y = Trilu<upper = 0>(x) }`, "float[2,3] 1 0 0 4 5 0"},
		{"crop and pad", 18, `(float[A,B] y) <float[1,4] x = {1, 2, 3, 4}, int64[2] s = {3, 3}> { y = CenterCropPad(x, s) }`, "float[3,3] 0 0 0 1 2 3 0 0 0"},
	})
}
