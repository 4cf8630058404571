package onnxtxt

import (
	"fmt"
	"strings"
)

// Error is a fault in a text model and its place. Columns count bytes, from 1.
type Error struct {
	Name      string // of the text
	Line, Col int
	Message   string
}

// Error returns the message behind name, line and column.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.Name, e.Line, e.Col, e.Message)
}

// parser reads the text by characters: what a character means depends on its place, so there is
// no token stream. The first error stays and moves the parser to the end of the text, where
// nothing matches any more; callers need not look at every step.
type parser struct {
	text
	pos   int
	depth int
	err   *Error
}

// text finds lines and columns in a source.
type text struct {
	name, src string
}

func (t text) place(pos int) (line, col int) {
	before := t.src[:pos]
	return strings.Count(before, "\n") + 1, pos - strings.LastIndexByte(before, '\n')
}

func (t text) errorf(pos int, format string, args ...any) *Error {
	line, col := t.place(pos)
	return &Error{t.name, line, col, fmt.Sprintf(format, args...)}
}

func (p *parser) fail(pos int, format string, args ...any) {
	if p.err == nil {
		p.err = p.errorf(pos, format, args...)
	}
	p.pos = len(p.src)
}

// expected fails with what should stand here and what does.
func (p *parser) expected(what string) {
	p.skip()
	p.fail(p.pos, "expected %s, found %s", what, p.found())
}

// found describes what stands at the parser.
func (p *parser) found() string {
	rest := p.src[p.pos:]
	switch {
	case rest == "":
		return "the end of the text"
	case strings.HasPrefix(rest, "//"):
		return `"//" (a comment starts with #)`
	case strings.HasPrefix(rest, "..."):
		return `"..." (what the reference printer writes where it cannot print elements)`
	case isAlnum(rest[0]) || rest[0] == '_':
		n := 1
		for n < len(rest) && n < 40 && isAlnum(rest[n]) {
			n++
		}
		return fmt.Sprintf("%q", rest[:n])
	case rest[0] == '"':
		return "a string"
	}
	for _, r := range rest {
		return fmt.Sprintf("%q", r)
	}
	return ""
}

// skip passes over white space and comments.
func (p *parser) skip() {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == '#':
			end := strings.IndexByte(p.src[p.pos:], '\n')
			if end < 0 {
				p.pos = len(p.src)
				return
			}
			p.pos += end
		case c == ' ' || c >= '\t' && c <= '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek returns the next character that counts, 0 at the end.
func (p *parser) peek() byte {
	p.skip()
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *parser) matches(c byte) bool {
	if p.peek() != c || p.pos >= len(p.src) {
		return false
	}
	p.pos++
	return true
}

// match passes over a character that must stand here; where says what it belongs to.
func (p *parser) match(c byte, where string) {
	if !p.matches(c) {
		p.expected(fmt.Sprintf("%q %s", c, where))
	}
}

// arrow passes over "=>".
func (p *parser) arrow(where string) {
	p.skip()
	if !strings.HasPrefix(p.src[p.pos:], "=>") {
		p.expected(`"=>" ` + where)
		return
	}
	p.pos += 2
}

// list calls item for each part of a list separated by commas that ends with close. A list that
// has begun has an item unless it ends at once.
func (p *parser) list(close byte, where string, item func()) {
	if p.matches(close) {
		return
	}
	for p.err == nil {
		item()
		if p.matches(',') {
			continue
		}
		if !p.matches(close) {
			p.expected(fmt.Sprintf("',' or %q %s", close, where))
		}
		return
	}
}

// maxDepth bounds graphs inside graphs and types inside types. The decoder behind the parser
// stops a little above; this bound gives the place.
const maxDepth = 60

// enter notes one more level of nesting and returns whether it is still allowed.
func (p *parser) enter() bool {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.pos, "nested more than %d deep", maxDepth)
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }

func isAlpha(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool { return isAlpha(c) || isDigit(c) }

// isIdent tells whether a name can stand without quotes.
func isIdent(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlpha(c) && c != '_' && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return s != ""
}
