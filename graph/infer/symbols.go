package infer

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/amplint/amplint/graph"
)

// symbols knows what the names of dimensions mean: the expression behind each spelling and the bounds of each
// symbol.
type symbols struct {
	text   map[string]poly     // a dimension's spelling and what it stands for
	parts  map[string]compound // symbols that stand for a quotient, maximum …
	ranges map[string]DimRange // what the user says
	fixed  map[string]int64    // symbols of which the value is known
	made   int                 // symbols made up so far
}

// compound is a symbol that stands for an operation a polynomial cannot hold.
type compound struct {
	op   string // floor, min, max, broadcast
	a, b poly
}

func newSymbols(dims map[string]DimRange) *symbols {
	s := &symbols{text: map[string]poly{}, parts: map[string]compound{}, ranges: dims, fixed: map[string]int64{}}
	for name, r := range dims {
		if r.Lo == r.Hi {
			s.fixed[name] = r.Lo
		}
	}
	return s
}

// madeUp is the spelling of symbols for sizes that nothing names.
var madeUp = regexp.MustCompile(`^_d[0-9]+$`)

// fresh returns a new dimension of unknown size. It has a name, so that values that share it are known to agree.
func (s *symbols) fresh() graph.Dim {
	d := graph.Dim{Sym: "_d" + strconv.Itoa(s.made), N: -1}
	s.made++
	return d
}

// madeSince tells whether a dimension is a symbol made up as number start or later.
func madeSince(d graph.Dim, start int) bool {
	if !madeUp.MatchString(d.Sym) {
		return false
	}
	n, err := strconv.Atoi(d.Sym[2:])
	return err == nil && n >= start
}

// num returns the number or expression that a dimension is.
func (s *symbols) num(d graph.Dim) num {
	if d.Sym == "" {
		if d.N < 0 {
			return num{}
		}
		return intNum(d.N)
	}
	return polyNum(s.parse(d.Sym))
}

// dim returns the dimension that holds a number or expression: a fresh one where it is unknown.
func (s *symbols) dim(x num) graph.Dim {
	switch x.k {
	case numInt:
		return graph.Dim{N: x.i}
	case numPoly:
		text := x.p.String()
		if len(text) <= maxText {
			s.text[text] = x.p
			return graph.Dim{Sym: text, N: -1}
		}
	}
	return s.fresh()
}

// maxText bounds the spelling of an expression; what grows beyond is unknown.
const maxText = 200

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// parse returns the expression of a spelling. Exporters write sums and products such as "2*seq" and "a + b" too;
// anything else is a name.
func (s *symbols) parse(text string) poly {
	if n, ok := s.fixed[text]; ok {
		return constPoly(n)
	}
	if p, ok := s.text[text]; ok {
		return p
	}
	p, ok := s.parseSum(text)
	if !ok {
		p = atomPoly(text)
	}
	s.text[text] = p
	return p
}

func (s *symbols) parseSum(text string) (poly, bool) {
	if len(text) > maxText || !strings.ContainsAny(text, "+*-") {
		return nil, false
	}
	text = strings.ReplaceAll(text, " - ", "+-")
	sum := poly{}
	for part := range strings.SplitSeq(text, "+") {
		p, ok := s.parseProduct(part)
		if ok {
			sum, ok = sum.plus(p, 1)
		}
		if !ok {
			return nil, false
		}
	}
	return sum, true
}

func (s *symbols) parseProduct(text string) (poly, bool) {
	sign := int64(1)
	text = strings.TrimSpace(text)
	if rest, minus := strings.CutPrefix(text, "-"); minus {
		text, sign = rest, -1
	}
	out := constPoly(sign)
	for word := range strings.SplitSeq(text, "*") {
		word = strings.TrimSpace(word)
		p := atomPoly(word)
		if n, err := strconv.ParseInt(word, 10, 32); err == nil {
			p = constPoly(n)
		} else if n, ok := s.fixed[word]; ok {
			p = constPoly(n)
		} else if !identifier.MatchString(word) {
			return nil, false
		}
		var ok bool
		if out, ok = out.times(p); !ok {
			return nil, false
		}
	}
	return out, true
}

// part returns the symbol of an operation on a and b.
func (s *symbols) part(op string, a, b poly) poly {
	name := op + "(" + a.String() + "," + b.String() + ")"
	if op == "floor" {
		name = "floor((" + a.String() + ")/" + b.String() + ")"
	}
	if len(name) > maxText {
		return s.parse(s.fresh().Sym)
	}
	s.parts[name] = compound{op, a, b}
	return atomPoly(name)
}

// floorDiv returns ⌊p/n⌋ for n > 0, with all that n divides taken out and nested quotients merged.
func (s *symbols) floorDiv(p poly, n int64) (poly, bool) {
	if n <= 0 {
		return nil, false
	}
	if n == 1 {
		return p, true
	}
	q, r := p.split(n)
	if k, ok := r.constant(); ok && k < n {
		return q, true // 0 ≤ k < n
	}
	if a, m, ok := s.nested(r); ok { // ⌊(⌊a/m⌋+k)/n⌋ = ⌊(a+k·m)/(m·n)⌋
		if mn, fits := mulOK(m, n); fits {
			inner, ok := s.floorDiv(a, mn)
			if !ok {
				return nil, false
			}
			return q.plus(inner, 1)
		}
	}
	return q.plus(s.part("floor", r, constPoly(n)), 1)
}

// nested takes ⌊a/m⌋ + k apart into a + k·m and m.
func (s *symbols) nested(p poly) (a poly, m int64, ok bool) {
	k := int64(0)
	if len(p) == 2 && len(p[1].atoms) == 0 {
		k, p = p[1].c, p[:1]
	}
	name, ok := p.atom()
	c := s.parts[name]
	if !ok || c.op != "floor" {
		return nil, 0, false
	}
	if m, ok = c.b.constant(); !ok {
		return nil, 0, false
	}
	a, ok = c.a.plus(constPoly(m), k)
	return a, m, ok
}

// Bounds in which nothing is known are infinite.
const (
	minusInf = math.MinInt64
	plusInf  = math.MaxInt64
)

// bounds returns what p lies in, sizes being at least 0.
func (s *symbols) bounds(p poly) (lo, hi int64) {
	for _, t := range p {
		l, h := int64(1), int64(1)
		for _, a := range t.atoms {
			al, ah := s.atomBounds(a)
			l, h = mulSat(l, al), mulSat(h, ah)
			if al < 0 { // a quotient of something negative: give up on the product
				l, h = minusInf, plusInf
				break
			}
		}
		l, h = mulSat(l, t.c), mulSat(h, t.c)
		if t.c < 0 {
			l, h = h, l
		}
		lo, hi = addSat(lo, l), addSat(hi, h)
	}
	return lo, hi
}

func (s *symbols) atomBounds(name string) (lo, hi int64) {
	if r, ok := s.ranges[name]; ok {
		return max(r.Lo, 0), max(r.Hi, 0)
	}
	c, ok := s.parts[name]
	if !ok {
		return 0, plusInf
	}
	al, ah := s.bounds(c.a)
	bl, bh := s.bounds(c.b)
	switch c.op {
	case "floor":
		if n, ok := c.b.constant(); ok && n > 0 {
			return floorSat(al, n), floorSat(ah, n)
		}
		return 0, plusInf
	case "min":
		return min(al, bl), min(ah, bh)
	case "max":
		return max(al, bl), max(ah, bh)
	}
	return min(al, bl), max(ah, bh)
}

func floorSat(a, n int64) int64 {
	if a == minusInf || a == plusInf {
		return a
	}
	q, _ := floorDivMod(a, n)
	return q
}

func addSat(a, b int64) int64 {
	if a == minusInf || b == minusInf {
		return minusInf
	}
	if a == plusInf || b == plusInf {
		return plusInf
	}
	if c, ok := addOK(a, b); ok || b == 0 {
		return c
	}
	if a > 0 {
		return plusInf
	}
	return minusInf
}

func mulSat(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	inf := a == minusInf || a == plusInf || b == minusInf || b == plusInf
	if c, ok := mulOK(a, b); ok && !inf {
		return c
	}
	if (a < 0) == (b < 0) {
		return plusInf
	}
	return minusInf
}
