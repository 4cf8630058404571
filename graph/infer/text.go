package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func textOps() map[string]operator {
	return map[string]operator{
		"StringConcat": broadcasting, "RegexFullMatch": sameShape, "StringNormalizer": normalizeStrings,
		"StringSplit": splitStrings, "TfIdfVectorizer": tfIdf, "ImageDecoder": decodeImage,
	}
}

// normalizeStrings drops stop words from a vector or a matrix of one row.
func normalizeStrings(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if s == nil {
		return nil
	}
	if len(s) != 1 && len(s) != 2 {
		return c.errorf("input 0 has shape %s, [n] or [1,n] is wanted", s)
	}
	if len(c.strings("stopwords")) > 0 {
		s[len(s)-1] = c.fresh()
	}
	c.set(0, s)
	return nil
}

// strings returns an attribute that is a list of strings.
func (c *ctx) strings(name string) []string {
	if a := c.n.Attr(name); a != nil {
		return a.Strings
	}
	return nil
}

func splitStrings(c *ctx) error {
	s := c.shape(0)
	c.set(1, s)
	if s != nil {
		c.set(0, append(slices.Clone(s), c.fresh()))
	}
	return nil
}

// tfIdf counts n-grams: one column for each index that the attribute gives them.
func tfIdf(c *ctx) error {
	s := c.shape(0)
	if s == nil {
		return nil
	}
	list := c.n.Ints("ngram_indexes")
	if len(list) == 0 || len(s) > 2 {
		return c.errorf("ngram_indexes %v for shape %s", list, s)
	}
	width, err := c.sizeOf(addNum(intNum(slices.Max(list)), intNum(1)))
	if err != nil {
		return err
	}
	if len(s) == 2 {
		c.set(0, graph.Shape{s[0], width})
		return nil
	}
	c.set(0, graph.Shape{width})
	return nil
}

func decodeImage(c *ctx) error {
	channels := graph.Dim{N: 3}
	if c.n.Str("pixel_format", "RGB") == "Grayscale" {
		channels.N = 1
	}
	c.set(0, graph.Shape{c.fresh(), c.fresh(), channels})
	return nil
}

func tokenize(c *ctx) error {
	if s := c.shape(0); s != nil {
		c.set(0, append(slices.Clone(s), c.fresh()))
	}
	return nil
}
