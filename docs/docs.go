// Package docs holds the guides of the project, so that the program can show them.
package docs

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md
var guides embed.FS

// first are the guides a newcomer reads, in that order; the others follow by name.
var first = [...]string{"howto", "findings", "fix", "runtimes", "gate", "reports", "trace"}

// Names returns the guides in the order they are best read, without ".md".
func Names() []string {
	names := slices.Clone(first[:])
	entries, err := guides.ReadDir(".")
	if err != nil {
		panic(err) // the root of what is embedded
	}
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".md"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Guide returns the text of a guide in Markdown; ok is false for an unknown name.
func Guide(name string) (text string, ok bool) {
	data, err := guides.ReadFile(name + ".md")
	return string(data), err == nil
}
