package config

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/goccy/go-yaml"
)

// maxNesting bounds how deep the lists of a YAML file may stand in each other: what the parser takes
// grows with the square of it.
const maxNesting = 1000

// DecodeYAML reads a YAML file into x; keys that x does not have are errors. What is wrong is said with
// the line and a caret, in words of YAML.
func DecodeYAML(b []byte, x any) error {
	if nesting(b) > maxNesting {
		return fmt.Errorf("lists are nested more than %d deep", maxNesting)
	}
	err := yaml.UnmarshalWithOptions(b, x, yaml.Strict())
	var kind *yaml.TypeError
	if errors.As(err, &kind) {
		err = &yaml.SyntaxError{Message: "want " + kindName(kind.DstType), Token: kind.Token}
	}
	return shown(err)
}

// shown prints an error with its place in the file.
func shown(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(yaml.FormatError(err, false, true))
}

// kindName says what a place of a YAML file should hold.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindName(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	case reflect.String:
		return "a text"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "an integer"
}

// nesting is how many brackets and dashes stand open at once, those in quotes too.
func nesting(b []byte) int {
	most, open, dashes := 0, 0, 0
	for _, c := range b {
		switch c {
		case '[', '{':
			open++
		case ']', '}':
			open--
		case '\n':
			dashes = 0
		case '-':
			dashes++
		}
		most = max(most, open+dashes)
	}
	return most
}
