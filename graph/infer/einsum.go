package infer

import (
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
)

// einsum reads the equation: a letter names one size, "..." the axes that broadcast.
func einsum(c *ctx) error {
	equation := strings.ReplaceAll(c.n.Str("equation", ""), " ", "")
	left, right, explicit := strings.Cut(equation, "->")
	words := strings.Split(left, ",")
	if len(words) != len(c.n.Inputs) {
		return c.errorf("the equation %q has %d terms for %d inputs", equation, len(words), len(c.n.Inputs))
	}
	e := einsumSizes{c: c, size: map[byte]graph.Dim{}}
	for i, word := range words {
		s := c.shape(i)
		if s == nil {
			return nil
		}
		if err := e.read(word, s); err != nil {
			return err
		}
	}
	if !explicit {
		right = implicitOutput(left)
	}
	out, err := e.write(right)
	c.set(0, out)
	return err
}

type einsumSizes struct {
	c    *ctx
	size map[byte]graph.Dim
	rest graph.Shape // what "..." stands for
}

// read notes the sizes of one term.
func (e *einsumSizes) read(word string, s graph.Shape) error {
	before, after, dots := strings.Cut(word, "...")
	extra := len(s) - len(before) - len(after)
	if extra < 0 || extra > 0 && !dots {
		return e.c.errorf("the term %q does not fit the shape %s", word, s)
	}
	if err := e.letters(before, s); err != nil {
		return err
	}
	rest, err := e.c.broadcast(append(graph.Shape{}, e.rest...), s[len(before):len(before)+extra])
	if err != nil {
		return err
	}
	e.rest = rest
	return e.letters(after, s[len(before)+extra:])
}

func (e *einsumSizes) letters(word string, s graph.Shape) error {
	for i := range len(word) {
		old, ok := e.size[word[i]]
		if !ok {
			e.size[word[i]] = s[i]
			continue
		}
		d, ok := e.c.broadcastDim(old, s[i])
		if !ok {
			return e.c.errorf("%q is both %s and %s", word[i], old, s[i])
		}
		e.size[word[i]] = d
	}
	return nil
}

func (e *einsumSizes) write(word string) (graph.Shape, error) {
	before, after, dots := strings.Cut(word, "...")
	out := graph.Shape{}
	for i := range len(before) {
		out = append(out, e.size[before[i]])
	}
	if dots {
		out = append(out, e.rest...)
	}
	for i := range len(after) {
		out = append(out, e.size[after[i]])
	}
	for i := range len(before) + len(after) {
		if ch := (before + after)[i]; e.size[ch] == (graph.Dim{}) {
			if _, ok := e.size[ch]; !ok {
				return nil, e.c.errorf("no term has the letter %q", ch)
			}
		}
	}
	return out, nil
}

// implicitOutput is "..." and the letters that occur once, sorted.
func implicitOutput(left string) string {
	var once []byte
	for i := range len(left) {
		if ch := left[i]; ch != '.' && ch != ',' && strings.Count(left, string(ch)) == 1 {
			once = append(once, ch)
		}
	}
	slices.Sort(once)
	if strings.Contains(left, "...") {
		return "..." + string(once)
	}
	return string(once)
}
