package refeval

import "testing"

func TestLossOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"mean by weight", 13, `(float y) <float[2,2] x = {-1, -2, -3, -4}, int64[2] k = {0, 1}, float[2] w = {1, 3}> { y = NegativeLogLikelihoodLoss(x, k, w) }`, "float 3.25"},
		{"ignored targets", 13, `(float y, float[N] z) <float[2,2] x = {-1, -2, -3, -4}, int64[2] k = {0, 7}> { y = NegativeLogLikelihoodLoss<ignore_index = 7>(x, k) z = NegativeLogLikelihoodLoss<ignore_index = 7, reduction = "none">(x, k) }`, "float 1; float[2] 1 0"},
		{"places", 13, `(float y) <float[1,2,2] x = {-1, -2, -3, -4}, int64[1,2] k = {1, 0}> { y = NegativeLogLikelihoodLoss<reduction = "sum">(x, k) }`, "float 5"},
		{"of scores", 13, `(float y, float[A,B] l) <float[2,2] x = {0, 0, 1000, 0}, int64[2] k = {0, 1}> { y, l = SoftmaxCrossEntropyLoss<reduction = "sum">(x, k) }`, "float 1000.7; float[2,2] -0.69315 -0.69315 0 -1000"},
		{"a target that is no class", 13, `(float y) <float[1,2] x = {-1, -2}, int64[1] k = {2}> { y = NegativeLogLikelihoodLoss(x, k) }`, "error: target 2 of 2 classes"},
	})
}

func TestRandomOps(t *testing.T) {
	first := opCase{opset: 17, text: `(float[N] y) { y = RandomNormal<shape = [4], seed = 1.0>() }`}
	if a, b := first.run(t, Options{}), first.run(t, Options{Seed: 7}); a != b {
		t.Errorf("one seed gives %s and %s", a, b)
	}
	open := opCase{opset: 17, text: `(float[N] y) { y = RandomUniform<shape = [4]>() }`}
	if a, b := open.run(t, Options{}), open.run(t, Options{Seed: 7}); a == b {
		t.Errorf("two seeds give %s", a)
	}
	checkOps(t, Options{}, []opCase{
		{"never and always", 15, `(float[N] y, int32[N] z) <float[2] x = {0, 1}> { y = Bernoulli(x) z = Bernoulli<dtype = 6>(x) }`, "float[2] 0 1; int32[2] 0 1"},
		{"one class is all there is", 15, `(int32[A,B] y) <float[1,3] x = {-1e30, 5, -1e30}> { y = Multinomial<sample_size = 3>(x) }`, "int32[1,3] 1 1 1"},
		{"dropout passes on", 13, `(float[N] y, bool[N] m) <float[2] x = {1, 2}> { y, m = Dropout(x) }`, "float[2] 1 2; bool[2] 1 1"},
		{"dropout of everything but a little", 13, `(float[N] y) <float[2] x = {1, 2}, float r = {0}, bool t = {1}> { y = Dropout(x, r, t) }`, "float[2] 1 2"},
		{"dropout of the first version", 6, `(float[N] y) <float[2] x = {1, 2}> { y = Dropout<is_test = 1>(x) }`, "float[2] 1 2"},
	})
}
