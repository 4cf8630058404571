package refeval

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/amplint/amplint/graph"
)

// textOps are operators on strings.
func textOps() []entry {
	return []entry{
		op("RegexFullMatch", regexFullMatch),
		op("StringConcat", stringConcat),
		op("StringNormalizer", stringNormalizer),
		op("StringSplit", stringSplit),
		op("TfIdfVectorizer", tfIdf),
	}
}

// stringsIn returns the elements of a tensor of strings.
func (c *Call) stringsIn(i int) []string {
	x := c.In(i)
	if x.Elem != graph.String {
		refuse("%s where strings are needed", x)
	}
	return x.S
}

// regexFullMatch tells which strings a pattern matches from end to end. The standard asks for the
// syntax of RE2, which is that of package regexp.
func regexFullMatch(c *Call) error {
	re, err := regexp.Compile(`\A(?:` + c.Str("pattern") + `)\z`)
	if err != nil {
		return err
	}
	y := c.Out(0, graph.Bool, c.In(0).Dims)
	for i, s := range c.stringsIn(0) {
		y.I[i] = bit(re.MatchString(s))
	}
	return nil
}

func stringConcat(c *Call) error {
	x, y := c.stringsIn(0), c.stringsIn(1)
	z := c.Out(0, graph.String, broadcast(c.In(0).Dims, c.In(1).Dims))
	zip(c, z.S, z.Dims, x, c.In(0).Dims, y, c.In(1).Dims, func(a, b string) string { return a + b })
	return nil
}

// stringNormalizer drops stop words from a list and changes the case of the rest. Of nothing left
// it makes one empty string.
func stringNormalizer(c *Call) error {
	x := c.In(0)
	if x.Rank() != 1 && (x.Rank() != 2 || x.Dims[0] != 1) {
		refuse("%s is no list of strings", x)
	}
	fold := strings.ToLower
	if c.Int("is_case_sensitive") != 0 {
		fold = func(s string) string { return s }
	}
	stop := map[string]bool{}
	for _, s := range c.Strs("stopwords") {
		stop[fold(s)] = true
	}
	change := caseChange(c.Str("case_change_action"))
	kept := []string{}
	for _, s := range c.stringsIn(0) {
		if !stop[fold(s)] {
			kept = append(kept, change(s))
		}
	}
	if len(kept) == 0 {
		kept = []string{""}
	}
	dims := slices.Clone(x.Dims)
	dims[len(dims)-1] = len(kept)
	copy(c.Out(0, graph.String, dims).S, kept)
	return nil
}

func caseChange(action string) func(s string) string {
	switch action {
	case "LOWER":
		return strings.ToLower
	case "UPPER":
		return strings.ToUpper
	}
	return func(s string) string { return s }
}

// stringSplit cuts strings into parts along a new last dimension, which empty strings fill up, and
// counts them.
func stringSplit(c *Call) error {
	x, by, limit := c.In(0), c.Str("delimiter"), c.IntOr("maxsplit", -1)
	var lists [][]string
	most := 0
	for _, s := range c.stringsIn(0) {
		list := splitString(s, by, limit)
		lists = append(lists, list)
		most = max(most, len(list))
	}
	y := c.Out(0, graph.String, append(slices.Clone(x.Dims), most))
	n := c.Out(1, graph.Int64, x.Dims)
	for i, list := range lists {
		copy(y.S[i*most:], list)
		n.I[i] = int64(len(list))
	}
	return nil
}

// splitString splits at most limit times, without end where that is negative. Without a delimiter
// runs of white space are one, and those at the ends none.
func splitString(s, by string, limit int) []string {
	if by != "" {
		return strings.SplitN(s, by, pick(limit < 0, -1, limit+1))
	}
	list := []string{}
	for s = strings.TrimSpace(s); s != ""; {
		i := strings.IndexFunc(s, unicode.IsSpace)
		if i < 0 || limit >= 0 && len(list) == limit {
			return append(list, s)
		}
		list = append(list, s[:i])
		s = strings.TrimLeftFunc(s[i:], unicode.IsSpace)
	}
	return list
}
