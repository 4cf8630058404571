package rules

import "embed"

//go:embed docs/*.md
var pages embed.FS

// Page returns the documentation of a rule in Markdown; ok is false for an unknown name.
func Page(name string) (text string, ok bool) {
	data, err := pages.ReadFile("docs/" + name + ".md")
	return string(data), err == nil
}
