// Package config reads what a project says about its models: ranges of inputs, thresholds, rules
// and findings to ignore, in a file that lies at the root of the project.
package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/amplint/amplint/rangeprop"
)

// Config is what a project says about its models.
type Config struct {
	Target     string            `yaml:"target"`
	Ranges     map[string]Bounds `yaml:"ranges"`
	Dims       map[string]Sizes  `yaml:"dims"`
	Data       Paths             `yaml:"data"` // from the working folder
	FailOn     string            `yaml:"fail-on"`
	Accumulate string            `yaml:"accumulate"`
	Flush      *bool             `yaml:"flush-subnormals"`
	Runtime    string            `yaml:"runtime"`
	Baseline   string            `yaml:"baseline"` // a path from the working folder
	Rules      map[string]string `yaml:"rules"`
	Ignore     []Ignore          `yaml:"ignore"`

	// Path is the file that the config was read from.
	Path string `yaml:"-"`
}

// Words are the values that the program knows for keys of the config. Other packages own them.
type Words struct {
	Targets, Thresholds, Rules, Runtimes []string
}

// The words that this package owns.
var (
	levels      = []string{"off", "note", "warning", "error"}
	accumulates = []string{"fp32", "target"}
)

// Bounds is a list of two numbers.
type Bounds rangeprop.Range

// UnmarshalYAML reads [lo, hi]; infinities may be spelled as in YAML or as on the command line.
func (b *Bounds) UnmarshalYAML(n ast.Node) error {
	list, ok := n.(*ast.SequenceNode)
	if !ok || len(list.Values) != 2 {
		return located(n, "not a list [lo, hi]")
	}
	r, err := parseBounds(scalar(list.Values[0]) + "," + scalar(list.Values[1]))
	if err != nil {
		return located(n, err.Error())
	}
	*b = Bounds(r)
	return nil
}

func scalar(n ast.Node) string { return n.GetToken().Value }

// located makes an error that is printed with the line and a caret.
func located(n ast.Node, message string) error {
	return &yaml.SyntaxError{Message: message, Token: n.GetToken()}
}

// Sizes is what a dimension may be: in the file a number, "LO..HI" or [LO, HI].
type Sizes struct{ Lo, Hi int64 }

// UnmarshalYAML reads the three forms.
func (d *Sizes) UnmarshalYAML(n ast.Node) error {
	text := scalar(n)
	if list, ok := n.(*ast.SequenceNode); ok && len(list.Values) == 2 {
		text = scalar(list.Values[0]) + ".." + scalar(list.Values[1])
	}
	p, err := parseDim("", text)
	if err != nil {
		return located(n, "not a number, LO..HI or [LO, HI]")
	}
	*d = Sizes{p.Lo, p.Hi}
	return nil
}

// Paths is one path or a list of them.
type Paths []string

// UnmarshalYAML reads both forms.
func (p *Paths) UnmarshalYAML(n ast.Node) error {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		*p = Paths{scalar(n)}
		return nil
	}
	for _, e := range list.Values {
		if _, ok := e.(ast.ScalarNode); !ok {
			return located(e, "not a path")
		}
		*p = append(*p, scalar(e))
	}
	return nil
}

// Load reads a config file. Unknown keys and words are errors, and errors show the line. Paths in
// the file start at its folder.
func Load(path string, words Words) (*Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &Config{Path: path}
	if err := DecodeYAML(b, c); err != nil {
		return nil, fmt.Errorf("%s:\n%w", path, err)
	}
	file, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, fmt.Errorf("%s:\n%w", path, shown(err))
	}
	k := &checker{file: file, words: words}
	k.config(c)
	if k.err != nil {
		return nil, fmt.Errorf("%s:\n%w", path, shown(k.err))
	}
	for i, p := range c.Data {
		c.Data[i] = beside(path, p)
	}
	c.Baseline = beside(path, c.Baseline)
	return c, nil
}

// beside turns a path that starts at the config's folder into one from the working folder.
func beside(config, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(config), path)
}

// List returns the ranges in the order of their names.
func (c *Config) List() []Range {
	if c == nil {
		return nil
	}
	var list []Range
	for _, name := range slices.Sorted(maps.Keys(c.Ranges)) {
		list = append(list, Range{name, rangeprop.Range(c.Ranges[name])})
	}
	return list
}

// Off returns the rules that are turned off.
func (c *Config) Off() map[string]bool {
	off := map[string]bool{}
	if c != nil {
		for name, level := range c.Rules {
			off[name] = level == "off"
		}
	}
	return off
}
