package infer

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// poly is a sum of products of symbols with integer factors, such as 2*s+1: the terms sorted, the constant one
// last, none with factor 0. The empty poly is the number 0.
type poly []term

type term struct {
	atoms []string // sorted; none in the constant term
	c     int64
}

// Sizes past these bounds come from hostile files only; such expressions become unknown.
const (
	maxTerms = 32
	maxAtoms = 8
)

func constPoly(n int64) poly {
	if n == 0 {
		return poly{}
	}
	return poly{{c: n}}
}

func atomPoly(name string) poly { return poly{{atoms: []string{name}, c: 1}} }

// constant returns the number that p is, if it is one.
func (p poly) constant() (int64, bool) {
	switch {
	case len(p) == 0:
		return 0, true
	case len(p) == 1 && len(p[0].atoms) == 0:
		return p[0].c, true
	}
	return 0, false
}

// atom returns the symbol that p is, if it is a single one.
func (p poly) atom() (string, bool) {
	if len(p) == 1 && p[0].c == 1 && len(p[0].atoms) == 1 {
		return p[0].atoms[0], true
	}
	return "", false
}

// compareTerms orders terms by their symbols, the constant last.
func compareTerms(a, b term) int {
	if len(a.atoms) == 0 || len(b.atoms) == 0 {
		return len(b.atoms) - len(a.atoms)
	}
	return slices.Compare(a.atoms, b.atoms)
}

// plus returns p + k·q; it is false on overflow.
func (p poly) plus(q poly, k int64) (poly, bool) {
	out := make(poly, 0, len(p)+len(q))
	for len(p) > 0 || len(q) > 0 {
		order := 0
		switch {
		case len(q) == 0:
			order = -1
		case len(p) == 0:
			order = 1
		default:
			order = compareTerms(p[0], q[0])
		}
		t, ok := term{}, true
		if order <= 0 {
			t, p = p[0], p[1:]
		}
		if order >= 0 {
			var c int64
			if c, ok = mulOK(q[0].c, k); ok {
				c, ok = addOK(t.c, c)
			}
			t, q = term{q[0].atoms, c}, q[1:]
		}
		if !ok {
			return nil, false
		}
		if t.c != 0 {
			out = append(out, t)
		}
	}
	return out, len(out) <= maxTerms
}

// times returns p·q; it is false on overflow.
func (p poly) times(q poly) (poly, bool) {
	if len(p)*len(q) > 4*maxTerms {
		return nil, false
	}
	sum := poly{}
	for _, a := range p {
		for _, b := range q {
			c, ok := mulOK(a.c, b.c)
			if !ok || len(a.atoms)+len(b.atoms) > maxAtoms {
				return nil, false
			}
			atoms := append(slices.Clone(a.atoms), b.atoms...)
			slices.Sort(atoms)
			if sum, ok = sum.plus(poly{{atoms, c}}, 1); !ok {
				return nil, false
			}
		}
	}
	return sum, true
}

// over returns p/q where q is a single term that divides every term of p.
func (p poly) over(q poly) (poly, bool) {
	if len(q) != 1 || q[0].c == 0 {
		return nil, false
	}
	out := make(poly, 0, len(p))
	for _, t := range p {
		atoms, ok := without(t.atoms, q[0].atoms)
		if !ok || t.c%q[0].c != 0 {
			return nil, false
		}
		out = append(out, term{atoms, t.c / q[0].c})
	}
	slices.SortFunc(out, compareTerms)
	return out, true
}

// without removes the symbols of b from a; it is false where a lacks one of them.
func without(a, b []string) ([]string, bool) {
	a = slices.Clone(a)
	for _, s := range b {
		i := slices.Index(a, s)
		if i < 0 {
			return nil, false
		}
		a = slices.Delete(a, i, i+1)
	}
	return a, true
}

// split returns q and r with p = n·q + r and all factors of r in [0, n).
func (p poly) split(n int64) (q, r poly) {
	for _, t := range p {
		d, m := floorDivMod(t.c, n)
		if d != 0 {
			q = append(q, term{t.atoms, d})
		}
		if m != 0 {
			r = append(r, term{t.atoms, m})
		}
	}
	return q, r
}

// String writes p as in "2*s+1".
func (p poly) String() string {
	if len(p) == 0 {
		return "0"
	}
	var b strings.Builder
	for i, t := range p {
		c := t.c
		switch {
		case c < 0 && c != math.MinInt64:
			b.WriteByte('-')
			c = -c
		case i > 0:
			b.WriteByte('+')
		}
		if c != 1 || len(t.atoms) == 0 {
			b.WriteString(strconv.FormatInt(c, 10))
			if len(t.atoms) > 0 {
				b.WriteByte('*')
			}
		}
		b.WriteString(strings.Join(t.atoms, "*"))
	}
	return b.String()
}

func addOK(a, b int64) (int64, bool) {
	c := a + b
	return c, b == 0 || (c > a) == (b > 0)
}

func mulOK(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	c := a * b
	return c, c/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
}

func floorDivMod(a, n int64) (q, r int64) {
	q, r = a/n, a%n
	if r != 0 && (r < 0) != (n < 0) {
		q, r = q-1, r+n
	}
	return q, r
}
