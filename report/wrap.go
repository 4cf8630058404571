package report

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
)

// wrapped prints a line behind what stands in it already, and breaks it between words where it would
// pass the width of the terminal; what follows is indented. Without a width it is one line.
func (p *printer) wrapped(head verbatim, taken, indent int, format string, args ...any) {
	text := fmt.Sprintf(format, Clean(args...)...)
	p.f("%s", head)
	if p.width == 0 {
		p.f("%s\n", verbatim(text))
		return
	}
	p.f("%s\n", verbatim(broken(text, p.width, taken, indent)))
}

// broken breaks a text between words. A word that is wider than a line stays whole: names are copied.
func broken(text string, width, taken, indent int) string {
	var b strings.Builder
	for i, word := range strings.SplitAfter(text, " ") {
		w := runewidth.StringWidth(strings.TrimRight(word, " "))
		if i > 0 && taken+w > width && taken > indent {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			taken = indent
		}
		b.WriteString(word)
		taken += runewidth.StringWidth(word)
	}
	return strings.ReplaceAll(b.String(), " \n", "\n")
}

// minName is what is left of a name in a table, however narrow the terminal.
const minName = 24

// short cuts the middle out of a name in a table that would leave no room for its numbers.
func (p *printer) short(name string) string {
	most := max(minName, p.width/3)
	if p.width == 0 || runewidth.StringWidth(name) <= most {
		return name
	}
	r := []rune(name)
	half := (most - 1) / 2
	if len(r) <= 2*half {
		return name
	}
	return string(r[:half]) + "…" + string(r[len(r)-half:])
}
