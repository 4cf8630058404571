package refeval

import (
	"slices"
	"strconv"
	"strings"

	"github.com/amplint/amplint/graph"
)

// grams are the n-grams that a vectorizer counts.
type grams struct {
	number      map[string]int // of an n-gram, by the key of its words
	index       []int          // of the output, by number
	least, most int            // words of an n-gram
	skip        int            // words that may lie between two of an n-gram
	size        int            // of a row of the output
}

// tfIdf counts n-grams of words, which are integers or strings, in each row.
func tfIdf(c *Call) error {
	x, g := c.In(0), c.grams()
	rows, dims := 1, []int{g.size}
	switch {
	case x.Rank() == 2:
		rows, dims = x.Dims[0], []int{x.Dims[0], g.size}
	case x.Rank() > 2:
		refuse("%s is no list of words", x)
	}
	y := c.Out(0, graph.Float, dims)
	n := x.Len() / max(rows, 1)
	for r := range rows {
		g.count(y.F[r*g.size:(r+1)*g.size], x.words(r*n, n))
	}
	return c.weigh(y, g)
}

// words spells n elements from a place on.
func (t *Tensor) words(from, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = t.text(from + i)
	}
	return out
}

// gramKey joins words so that no two n-grams share a key.
func gramKey(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strconv.Itoa(len(w)) + ":" + w)
	}
	return b.String()
}

// grams reads the pool: all single words first, then the pairs, and so on.
func (c *Call) grams() *grams {
	g := &grams{number: map[string]int{}, index: c.Ints("ngram_indexes"),
		least: c.Int("min_gram_length"), most: c.Int("max_gram_length"), skip: c.Int("max_skip_count")}
	pool := c.Strs("pool_strings")
	for _, v := range c.Ints("pool_int64s") {
		pool = append(pool, strconv.Itoa(v))
	}
	if len(g.index) == 0 || slices.Min(g.index) < 0 || g.least < 1 || g.most < g.least || g.skip < 0 {
		refuse("n-grams of %d to %d words with indexes %v", g.least, g.most, g.index)
	}
	g.size = slices.Max(g.index) + 1
	starts := append(c.Ints("ngram_counts"), len(pool))
	id := 0
	for n := 1; n < len(starts); n++ {
		for at := starts[n-1]; at+n <= starts[n]; at += n {
			if id >= len(g.index) {
				refuse("%d indexes for more n-grams", len(g.index))
			}
			g.number[gramKey(pool[at:at+n])] = id
			id++
		}
	}
	return g
}

// count adds up the n-grams of one row. A single word is found once, whatever may be skipped.
func (g *grams) count(row []float32, words []string) {
	for n := g.least; n <= min(g.most, len(words)); n++ {
		for step := 1; step <= min(g.skip, len(words))+1; step++ {
			if n == 1 && step > 1 {
				break
			}
			for start := 0; start+step*(n-1) < len(words); start++ {
				gram := make([]string, n)
				for k := range gram {
					gram[k] = words[start+k*step]
				}
				if id, ok := g.number[gramKey(gram)]; ok {
					row[g.index[id]]++
				}
			}
		}
	}
}

// weigh turns counts into what the mode asks for. Weights belong to the columns of the output, as
// the standard's reference and onnxruntime have it.
func (c *Call) weigh(y *Tensor, g *grams) error {
	mode, weights := c.Str("mode"), c.Floats("weights")
	if len(weights) > 0 && len(weights) < g.size {
		refuse("%d weights for %d columns", len(weights), g.size)
	}
	for i, v := range y.F {
		if mode == "IDF" {
			v = min(v, 1)
		}
		if mode != "TF" && len(weights) > 0 {
			v *= weights[i%g.size]
		}
		y.F[i] = v
	}
	if !slices.Contains([]string{"TF", "IDF", "TFIDF"}, mode) {
		refuse("unknown mode %q", mode)
	}
	return nil
}
