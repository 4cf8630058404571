package report

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible replaces the characters by which a name in a model could steer a terminal, reorder what is
// shown or end a line; what is left prints as it is.
func Visible(s string) string {
	if strings.IndexFunc(s, steers) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if steers(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// steers tells whether a character is a control character or one that changes the direction of the
// text or has no width.
func steers(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}

// Clean makes the texts among the arguments of a print visible.
func Clean(args ...any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case verbatim:
			out[i] = string(a)
		case string:
			out[i] = Visible(a)
		case error:
			out[i] = Visible(a.Error())
		case fmt.Stringer:
			out[i] = Visible(a.String())
		default:
			out[i] = a
		}
	}
	return out
}
