package onnxtxt

import (
	"math"
	"strconv"
	"strings"
)

// peekIdent returns the identifier that stands here, "" where none does.
func (p *parser) peekIdent() string {
	p.skip()
	end := p.pos
	for end < len(p.src) {
		c := p.src[end]
		if !isAlpha(c) && c != '_' && (end == p.pos || !isDigit(c)) {
			break
		}
		end++
	}
	return p.src[p.pos:end]
}

func (p *parser) ident(what string) string {
	id := p.peekIdent()
	if id == "" {
		p.expected(what)
	}
	p.pos += len(id)
	return id
}

// id reads a name with or without quotes.
func (p *parser) id(what string) string {
	if p.peek() == '"' {
		return p.str(what)
	}
	return p.ident(what)
}

// str reads a string. A backslash takes the next character as it is; there are no other escapes.
func (p *parser) str(what string) string {
	if p.peek() != '"' {
		p.expected(what)
		return ""
	}
	start := p.pos
	var b strings.Builder
	for i := p.pos + 1; i < len(p.src); i++ {
		switch c := p.src[i]; c {
		case '"':
			p.pos = i + 1
			return b.String()
		case '\\':
			if i++; i < len(p.src) {
				b.WriteByte(p.src[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	p.fail(start, "the string that begins here has no closing quote")
	return ""
}

// number is a literal that is not converted yet, since a float may be written as an integer.
type number struct {
	pos   int
	text  string // "" where reading failed
	float bool
}

// number reads [-]digits[.[digits]][e[sign]digits], or inf, infinity, nan in any case.
func (p *parser) number(what string) number {
	p.skip()
	n := number{pos: p.pos}
	sign := ""
	if p.matches('-') {
		sign = "-"
		p.skip()
	}
	if w := p.peekIdent(); isSpecial(w) {
		p.pos += len(w)
		n.text, n.float = sign+strings.ToLower(w), true
		return n
	}
	start := p.pos
	p.digits()
	if p.pos == start {
		p.noNumber(what, n.pos)
		return n
	}
	if p.at('.') {
		n.float = true
		p.pos++
		p.digits()
	}
	if p.at('e') || p.at('E') {
		n.float = true
		p.exponent()
	}
	if p.err == nil {
		n.text = sign + p.src[start:p.pos]
	}
	return n
}

func (p *parser) noNumber(what string, start int) {
	if p.at('.') {
		p.fail(start, "a number starts with a digit: write 0.5, not .5")
		return
	}
	if p.at('+') {
		p.fail(start, "a positive number has no sign")
		return
	}
	p.expected(what)
}

func (p *parser) exponent() {
	p.pos++
	if p.at('+') || p.at('-') {
		p.pos++
	}
	start := p.pos
	if p.digits(); p.pos == start {
		p.expected("the digits of an exponent")
	}
}

func (p *parser) digits() {
	for p.pos < len(p.src) && isDigit(p.src[p.pos]) {
		p.pos++
	}
}

func (p *parser) at(c byte) bool { return p.pos < len(p.src) && p.src[p.pos] == c }

func isSpecial(word string) bool {
	switch strings.ToLower(word) {
	case "inf", "infinity", "nan":
		return true
	}
	return false
}

func (p *parser) int64(what string) int64 { return p.toInt(p.number(what), what) }

func (p *parser) toInt(n number, what string) int64 {
	if p.err != nil {
		return 0
	}
	if n.float {
		p.fail(n.pos, "expected %s, found the float %s", what, n.text)
		return 0
	}
	v, err := strconv.ParseInt(n.text, 10, 64)
	if err != nil {
		p.fail(n.pos, "%s does not fit in int64", n.text)
	}
	return v
}

func (p *parser) toUint(n number, what string) uint64 {
	if p.err != nil {
		return 0
	}
	v, err := strconv.ParseUint(n.text, 10, 64)
	if n.float || err != nil {
		p.fail(n.pos, "expected %s, found %s", what, n.text)
	}
	return v
}

// toFloat rounds a literal to a float of 32 or 64 bits, once.
func (p *parser) toFloat(n number, bits int) float64 {
	if p.err != nil {
		return 0
	}
	switch n.text {
	case "nan":
		return math.NaN()
	case "-nan":
		return math.Copysign(math.NaN(), -1)
	}
	v, err := strconv.ParseFloat(n.text, bits)
	if err != nil {
		p.fail(n.pos, "%s is out of the range of a %d-bit float; write inf where infinity is meant", n.text, bits)
	}
	return v
}

// float32Bits keeps the sign of NaN, which a conversion by the compiler need not.
func float32Bits(v float64) uint32 {
	if math.IsNaN(v) {
		return 0x7fc00000 | uint32(math.Float64bits(v)>>63)<<31
	}
	return math.Float32bits(float32(v))
}

// float64Bits writes NaN as the quiet one without payload, which is not what Go's NaN is.
func float64Bits(v float64) uint64 {
	b := math.Float64bits(v)
	if math.IsNaN(v) {
		return b&(1<<63) | 0x7ff8<<48
	}
	return b
}
