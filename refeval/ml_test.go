package refeval

import "testing"

// tree is two stumps of two features, whose leaves vote 0.1 or 0.5, and 0.3 or 0.05.
const tree = `nodes_treeids = [0, 0, 0, 1, 1, 1], nodes_nodeids = [0, 1, 2, 0, 1, 2], nodes_featureids = [0, 0, 0, 1, 0, 0],
	nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF"], nodes_values = [0.1, 0.0, 0.0, -0.2, 0.0, 0.0],
	nodes_truenodeids = [1, 0, 0, 1, 0, 0], nodes_falsenodeids = [2, 0, 0, 2, 0, 0]`

func TestMLOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"columns", 17, `(float[A,B] y) <float[2,3] x = {1, 2, 3, 4, 5, 6}, int64[2] k = {2, 0}> { y = ai.onnx.ml.ArrayFeatureExtractor(x, k) }`, "float[2,2] 3 1 6 4"},
		{"columns of one row", 17, `(float[A,B] y) <float[3] x = {1, 2, 3}, int64[1] k = {1}> { y = ai.onnx.ml.ArrayFeatureExtractor(x, k) }`, "float[1,1] 2"},
		{"no such column", 17, `(float[A,B] y) <float[3] x = {1, 2, 3}, int64[1] k = {3}> { y = ai.onnx.ml.ArrayFeatureExtractor(x, k) }`, "error: column 3 of"},
		{"above a threshold", 17, `(float[A] y) <float[3] x = {1, 2, 3}> { y = ai.onnx.ml.Binarizer<threshold = 2.0>(x) }`, "float[3] 0 0 1"},
		{"missing values", 17, `(float[A,B] y) <float[2,2] x = {1, 0, 0, 4}> { y = ai.onnx.ml.Imputer<imputed_value_floats = [8.0, 9.0], replaced_value_float = 0.0>(x) }`, "float[2,2] 1 9 8 4"},
		{"unit rows", 17, `(float[A,B] y, float[A,B] z, float[A,B] w) <float[1,2] x = {3, -4}> { y = ai.onnx.ml.Normalizer<norm = "L2">(x) z = ai.onnx.ml.Normalizer<norm = "L1">(x) w = ai.onnx.ml.Normalizer(x) }`, "float[1,2] 0.6 -0.8; float[1,2] 0.42857 -0.57143; float[1,2] 1 -1.3333"},
		{"one hot", 17, `(float[A,B] y) <string[2] x = {"b", "z"}> { y = ai.onnx.ml.OneHotEncoder<cats_strings = ["a", "b"]>(x) }`, "float[2,2] 0 1 0 0"},
		{"of no category", 17, `(float[A,B] y) <int64[1] x = {4}> { y = ai.onnx.ml.OneHotEncoder<cats_int64s = [1], zeros = 0>(x) }`, "error: element 0 is of no category"},
		{"offset, then scale", 17, `(float[A,B] y) <int64[1,2] x = {3, 5}> { y = ai.onnx.ml.Scaler<offset = [1.0, 2.0], scale = [2.0]>(x) }`, "float[1,2] 4 6"},
		{"side by side", 17, `(float[A,B] y) <float[2,1] x = {1, 2}, float[2,2] z = {3, 4, 5, 6}> { y = ai.onnx.ml.FeatureVectorizer(x, z) }`, "float[2,3] 1 3 4 2 5 6"},
		{"labels", 17, `(int64[N] y, string[N] z) <string[3] x = {"a", "b", "c"}, float[2] f = {1, 2}> { y = ai.onnx.ml.LabelEncoder<keys_strings = ["a", "a", "b"], values_int64s = [1, 2, 3]>(x) z = ai.onnx.ml.LabelEncoder<keys_floats = [2.0], values_strings = ["two"]>(f) }`, "int64[3] 2 3 -1; string[2] _Unused two"},
		{"categories", 17, `(int64[N] y, string[N] z) <string[2] x = {"a", "c"}, int64[1] k = {7}> { y = ai.onnx.ml.CategoryMapper<cats_strings = ["a"], cats_int64s = [7]>(x) z = ai.onnx.ml.CategoryMapper<cats_strings = ["a"], cats_int64s = [7]>(k) }`, "int64[2] 7 -1; string[1] a"},
		{"maps and back", 17, `(float[A,B] y) <float[1,2] x = {5, 6}, int64 i = {0}> { s = ai.onnx.ml.ZipMap<classlabels_strings = ["p", "q"]>(x) m = SequenceAt(s, i) y = ai.onnx.ml.DictVectorizer<string_vocabulary = ["q", "r", "p"]>(m) }`, "float[1,3] 6 0 5"},
		{"by their keys", 17, `(int64[A,B] y) <float[1,2] x = {5, 6}, int64 i = {0}> { s = ai.onnx.ml.ZipMap<classlabels_int64s = [3, 1]>(x) m = SequenceAt(s, i) y = ai.onnx.ml.CastMap<map_form = "SPARSE", max_map = 4, cast_to = "TO_INT64">(m) }`, "int64[1,4] 0 6 0 5"},
	})
}

func TestMLModels(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"regression", 17, `(float[A,B] y) <float[1,2] x = {1, 2}> { y = ai.onnx.ml.LinearRegressor<coefficients = [1.0, 2.0, 3.0, 4.0], intercepts = [0.5, 1.0], targets = 2>(x) }`, "float[1,2] 5.5 12"},
		{"classes", 17, `(string[A] l, float[A,B] y) <float[1,1] x = {1}> { l, y = ai.onnx.ml.LinearClassifier<coefficients = [1.0, 2.0, 0.0], classlabels_strings = ["a", "b", "c"], post_transform = "SOFTMAX">(x) }`, "string[1] b; float[1,3] 0.24473 0.66524 0.090031"},
		{"two classes of one score", 17, `(int64[A] l, float[A,B] y) <float[1,1] x = {1}> { l, y = ai.onnx.ml.LinearClassifier<coefficients = [0.25], classlabels_ints = [7, 9]>(x) }`, "int64[1] 9; float[1,2] 0.75 0.25"},
		{"coefficients for other columns", 17, `(float[A,B] y) <float[1,2] x = {1, 2}> { y = ai.onnx.ml.LinearRegressor<coefficients = [1.0]>(x) }`, "error: 1 coefficients"},
		{"support vectors", 17, `(float[A,B] y) <float[1,1] x = {1}> { y = ai.onnx.ml.SVMRegressor<kernel_type = "POLY", kernel_params = [1.0, 1.0, 2.0], support_vectors = [1.0, 2.0], coefficients = [1.0, -1.0], n_supports = 2, rho = [0.5]>(x) }`, "float[1,1] -4.5"},
		{"one class", 17, `(float[A,B] y) <float[1,1] x = {1}> { y = ai.onnx.ml.SVMRegressor<kernel_type = "LINEAR", coefficients = [1.0], rho = [-2.0], one_class = 1>(x) }`, "float[1,1] -1"},
		{"votes of pairs", 17, `(int64[A] l, float[A,B] y) <float[1,1] x = {1}> { l, y = ai.onnx.ml.SVMClassifier<kernel_type = "RBF", kernel_params = [0.5, 0.0, 0.0], support_vectors = [0.0, 1.0, 3.0], coefficients = [1.0, -1.0, -1.0, 1.0, 1.0, -1.0], vectors_per_class = [1, 1, 1], rho = [0.0, 0.0, 0.0], classlabels_ints = [4, 5, 6]>(x) }`, "int64[1] 5; float[1,3] -0.39347 0.4712 0.86466"},
		{"probabilities of pairs", 17, `(int64[A] l, float[A,B] y) <float[2,1] x = {1, 2.5}> { l, y = ai.onnx.ml.SVMClassifier<kernel_type = "RBF", kernel_params = [0.5, 0.0, 0.0], support_vectors = [0.0, 1.0, 3.0], coefficients = [1.0, -1.0, -1.0, 1.0, 1.0, -1.0], vectors_per_class = [1, 1, 1], rho = [0.0, 0.1, 0.2], prob_a = [-1.0, -2.0, 0.7], prob_b = [0.1, -0.2, 0.3], classlabels_ints = [4, 5, 6]>(x) }`, "int64[2] 5 6; float[2,3] 0.41865 0.30838 0.27297 0.17777 0.3732 0.44903"},
		{"probabilities of one pair", 17, `(int64[A] l, float[A,B] y, float[A,B] z) <float[2,1] x = {1, -2.5}> { l, y = ai.onnx.ml.SVMClassifier<kernel_type = "LINEAR", kernel_params = [0.5, 0.0, 0.0], support_vectors = [0.0, 1.0, 3.0], coefficients = [1.0, -0.5, -0.5], vectors_per_class = [1, 2], rho = [0.3], prob_a = [-1.0], prob_b = [0.1], classlabels_ints = [4, 5]>(x) m, z = ai.onnx.ml.SVMClassifier<kernel_type = "LINEAR", kernel_params = [0.5, 0.0, 0.0], support_vectors = [0.0, 1.0, 3.0], coefficients = [1.0, -0.5, -0.5], vectors_per_class = [1, 2], rho = [0.3], prob_a = [-1.0], prob_b = [0.1], classlabels_ints = [4, 5], post_transform = "LOGISTIC">(x) }`, "int64[2] 5 4; float[2,2] 0.14172 0.85828 0.99448 0.0055157; float[2,2] 0.53537 0.7023 0.72997 0.50138"},
		{"a classifier without support vectors", 17, `(string[A] l, float[A,B] y) <float[2,2] x = {1, -2.5, 0.3, 0.2}> { l, y = ai.onnx.ml.SVMClassifier<kernel_type = "LINEAR", coefficients = [0.3, 0.2, -0.5, 0.1, 0.7, 0.9], rho = [0.1], classlabels_strings = ["a", "b", "c"]>(x) }`, "string[2] a b; float[2,3] -0.1 -0.65 -1.45 0.23 -0.03 0.49"},
		{"quantiles", 17, `(float[A,B] y) <float[1,2] x = {0.1, 0.2}> { y = ai.onnx.ml.LinearRegressor<coefficients = [1.0, 2.0, -3.0, 4.0], intercepts = [0.25, 0.1], targets = 2, post_transform = "PROBIT">(x) }`, "float[1,2] 0.67449 0.25335"},
		{"trees", 17, `(float[A,B] y, float[A,B] z) <float[2,2] x = {0, 0, 1, -1}> { y = ai.onnx.ml.TreeEnsembleRegressor<` + tree + `, n_targets = 1, target_treeids = [0, 0, 1, 1], target_nodeids = [1, 2, 1, 2], target_ids = [0, 0, 0, 0], target_weights = [0.1, 0.5, 0.3, 0.05]>(x)
			z = ai.onnx.ml.TreeEnsembleRegressor<` + tree + `, aggregate_function = "MAX", base_values = [1.0], n_targets = 1, target_treeids = [0, 0, 1, 1], target_nodeids = [1, 2, 1, 2], target_ids = [0, 0, 0, 0], target_weights = [0.1, 0.5, 0.3, 0.05]>(x) }`, "float[2,1] 0.4 0.55; float[2,1] 1.3 1.5"},
		{"ways of NaN", 17, `(float[A,B] y) <float[2,1] x = {nan, 1}> { y = ai.onnx.ml.TreeEnsembleRegressor<nodes_treeids = [0, 0, 0, 1, 1, 1, 2, 2, 2], nodes_nodeids = [0, 1, 2, 0, 1, 2, 0, 1, 2], nodes_featureids = [0, 0, 0, 0, 0, 0, 0, 0, 0], nodes_modes = ["BRANCH_NEQ", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"], nodes_values = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0], nodes_missing_value_tracks_true = [0, 0, 0, 0, 0, 0, 1, 0, 0], nodes_truenodeids = [1, 0, 0, 1, 0, 0, 1, 0, 0], nodes_falsenodeids = [2, 0, 0, 2, 0, 0, 2, 0, 0], n_targets = 1,
			target_treeids = [0, 0, 1, 1, 2, 2], target_nodeids = [1, 2, 1, 2, 1, 2], target_ids = [0, 0, 0, 0, 0, 0], target_weights = [1.0, 2.0, 10.0, 20.0, 100.0, 200.0]>(x) }`, "float[2,1] 121 222"},
		{"votes of trees", 17, `(int64[A] l, float[A,B] y) <float[2,2] x = {0, 0, 1, -1}> { l, y = ai.onnx.ml.TreeEnsembleClassifier<` + tree + `, class_treeids = [0, 0, 1, 1], class_nodeids = [1, 2, 1, 2], class_ids = [0, 0, 0, 0], class_weights = [0.1, 0.5, 0.3, 0.05], classlabels_int64s = [7, 8]>(x) }`, "int64[2] 7 8; float[2,2] 0.6 0.4 0.45 0.55"},
		{"a tree that never ends", 17, `(float[A,B] y) <float[1,1] x = {0}> { y = ai.onnx.ml.TreeEnsembleRegressor<nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0], nodes_modes = ["BRANCH_LEQ", "BRANCH_LEQ", "BRANCH_LEQ"], nodes_values = [1.0, 1.0, 1.0], nodes_truenodeids = [1, 2, 1], nodes_falsenodeids = [2, 2, 1], n_targets = 1>(x) }`, "error: has no leaf on a way"},
		{"sets of members", 5, `(double[A,B] y) <double[3,1] x = {1, 2, 3}> { y = ai.onnx.ml.TreeEnsemble<n_targets = 1, tree_roots = [0], nodes_modes = uint8[1] {6}, nodes_splits = double[1] {0}, nodes_featureids = [0], nodes_trueleafs = [1], nodes_truenodeids = [0], nodes_falseleafs = [1], nodes_falsenodeids = [1], leaf_targetids = [0, 0], leaf_weights = double[2] {10, 20}, membership_values = double[2] {1, 3}>(x) }`, "double[3,1] 10 20 10"},
	})
}
