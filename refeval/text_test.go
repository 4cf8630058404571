package refeval

import "testing"

func TestTextOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"pattern from end to end", 20, `(bool[N] y) <string[3] x = {"ab1", "ab", "xab1"}> { y = RegexFullMatch<pattern = "[a-z]+[0-9]|x">(x) }`, "bool[3] 1 0 1"},
		{"no pattern", 20, `(bool[N] y) <string[1] x = {"a"}> { y = RegexFullMatch<pattern = "(">(x) }`, "error: missing closing )"},
		{"side by side", 20, `(string[A,B] y) <string[2,1] x = {"a", "b"}, string[2] z = {"1", "2"}> { y = StringConcat(x, z) }`, "string[2,2] a1 a2 b1 b2"},
		{"split on a word", 20, `(string[A,B] y, int64[A] n) <string[2] x = {"a--b-c", "d"}> { y, n = StringSplit<delimiter = "-">(x) }`, "string[2,4] a  b c d   ; int64[2] 4 1"},
		{"split on white space, twice", 20, `(string[A,B] y, int64[A] n) <string[2] x = {"  a b  c d ", ""}> { y, n = StringSplit<maxsplit = 2>(x) }`, "string[2,3] a b c d   ; int64[2] 3 0"},
		{"stop words", 10, `(string[N] y, string[N] z) <string[3] x = {"Mon", "tue", "MON"}> { y = StringNormalizer<stopwords = ["mon"], case_change_action = "UPPER">(x) z = StringNormalizer<stopwords = ["mon", "MON"], is_case_sensitive = 1>(x) }`, "string[1] TUE; string[2] Mon tue"},
		{"nothing left", 10, `(string[A,B] y) <string[1,1] x = {"mon"}> { y = StringNormalizer<stopwords = ["MON"]>(x) }`, "string[1,1] "},
		{"pairs with one between", 9, `(float[N] y) <int64[4] x = {1, 2, 1, 2}> { y = TfIdfVectorizer<mode = "TF", min_gram_length = 2, max_gram_length = 2, max_skip_count = 1, ngram_counts = [0, 0], ngram_indexes = [1, 0], pool_int64s = [1, 2, 1, 1]>(x) }`, "float[2] 1 2"},
		{"weighted words", 9, `(float[A,B] y) <string[2,2] x = {"a", "a", "b", "c"}> { y = TfIdfVectorizer<mode = "TFIDF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], ngram_indexes = [0, 1], pool_strings = ["a", "b"], weights = [0.5, 3.0]>(x) }`, "float[2,2] 1 0 0 3"},
		{"more skips and words than there are", 9, `(float[A] y) <int64[2] x = {5, 5}> { y = TfIdfVectorizer<mode = "TF", min_gram_length = 1, max_gram_length = 1000000000000, max_skip_count = 1000000000000, ngram_counts = [0], ngram_indexes = [0], pool_int64s = [5]>(x) }`, "float[1] 2"},
		{"seen at all", 9, `(float[A] y) <int64[2] x = {5, 5}> { y = TfIdfVectorizer<mode = "IDF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], ngram_indexes = [0], pool_int64s = [5]>(x) }`, "float[1] 1"},
	})
}
