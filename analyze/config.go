package analyze

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/amplint/amplint/rangeprop"
)

// ConfigName is the file that is read from the working folder when no other is named.
const ConfigName = ".amplint.yaml"

// Config is what a project says about its models.
type Config struct {
	Target     string            `yaml:"target"`
	Ranges     map[string]bounds `yaml:"ranges"`
	Dims       map[string]dim    `yaml:"dims"`
	Data       string            `yaml:"data"`
	FailOn     string            `yaml:"fail-on"`
	Accumulate string            `yaml:"accumulate"`
	Flush      *bool             `yaml:"flush-subnormals"`
	Rules      map[string]level  `yaml:"rules"`
	Ignore     []Ignore          `yaml:"ignore"`
}

// Ignore silences findings that were looked at and found harmless. Rule, Node and Value are globs;
// an empty one matches everything.
type Ignore struct {
	Rule   string `yaml:"rule"`
	Node   string `yaml:"node"`
	Value  string `yaml:"value"`
	Reason string `yaml:"reason"`
	Until  string `yaml:"until"` // a date; from then on the finding is reported again
}

// bounds is a list of two numbers.
type bounds rangeprop.Range

// UnmarshalYAML reads [lo, hi]; infinities may be spelled as in YAML or as on the command line.
func (b *bounds) UnmarshalYAML(n ast.Node) error {
	list, ok := n.(*ast.SequenceNode)
	if !ok || len(list.Values) != 2 {
		return located(n, "not a list [lo, hi]")
	}
	r, err := parseBounds(scalar(list.Values[0]) + "," + scalar(list.Values[1]))
	if err != nil {
		return located(n, err.Error())
	}
	*b = bounds(r)
	return nil
}

func scalar(n ast.Node) string { return n.GetToken().Value }

// located makes an error that is printed with the line and a caret.
func located(n ast.Node, message string) error {
	return &yaml.SyntaxError{Message: message, Token: n.GetToken()}
}

// dim is a number, "LO..HI" or [LO, HI].
type dim NamedDim

// UnmarshalYAML reads the three forms.
func (d *dim) UnmarshalYAML(n ast.Node) error {
	text := scalar(n)
	if list, ok := n.(*ast.SequenceNode); ok && len(list.Values) == 2 {
		text = scalar(list.Values[0]) + ".." + scalar(list.Values[1])
	}
	p, err := parseDim("", text)
	if err != nil {
		return located(n, "not a number, LO..HI or [LO, HI]")
	}
	*d = dim(p)
	return nil
}

// level is what a rule is set to: off, note, warning or error.
type level string

// UnmarshalYAML reads a level.
func (l *level) UnmarshalYAML(n ast.Node) error {
	*l = level(scalar(n))
	switch *l {
	case "off", "note", "warning", "error":
		return nil
	}
	return located(n, "none of off, note, warning and error")
}

// LoadConfig reads a config file. Unknown keys are errors, and errors show the line. The data it
// names lies beside it.
func LoadConfig(path string) (*Config, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := &Config{}
	d := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict())
	if err := d.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s:\n%s", path, yaml.FormatError(err, false, true))
	}
	if c.Data != "" && !filepath.IsAbs(c.Data) {
		c.Data = filepath.Join(filepath.Dir(path), c.Data)
	}
	return c, c.check(path)
}

func (c *Config) check(path string) error {
	for i, ig := range c.Ignore {
		if ig.Rule == "" && ig.Node == "" && ig.Value == "" {
			return fmt.Errorf("%s: ignore %d names no rule, node or value: it would hide every finding", path, i+1)
		}
		for _, glob := range []string{ig.Rule, ig.Node, ig.Value} {
			if _, err := filepath.Match(glob, ""); err != nil {
				return fmt.Errorf("%s: ignore %d: %q: %w", path, i+1, glob, err)
			}
		}
		if ig.Until == "" {
			continue
		}
		if _, err := time.Parse(time.DateOnly, ig.Until); err != nil {
			return fmt.Errorf("%s: ignore %d: until %q is not a date like 2030-01-31", path, i+1, ig.Until)
		}
	}
	return nil
}
