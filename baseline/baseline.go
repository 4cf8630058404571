// Package baseline keeps the findings that a project knew of when it began to check its models: they
// are counted and fail nothing, new ones do.
package baseline

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/amplint/amplint/rules"
)

// Schema names the form of the file.
const Schema = "amplint.baseline/1"

// File is what a baseline file holds.
type File struct {
	Schema string  `json:"schema"`
	Models []Model `json:"models"`
}

// Model is what is known of one model.
type Model struct {
	Path     string  `json:"path"` // from the folder of the baseline, with slashes
	Findings []Entry `json:"findings"`
}

// Entry is a known finding, or several that are alike.
type Entry struct {
	Rule        string `json:"rule"`
	Severity    string `json:"severity"`
	Message     string `json:"message"`
	Fingerprint string `json:"fingerprint"`
	Count       int    `json:"count,omitempty"` // 0 is one
}

// String names an entry by its rule and message.
func (e Entry) String() string { return fmt.Sprintf("%s [%s]", e.Message, e.Rule) }

// Add puts findings that are alike into one entry.
func (m *Model) Add(e Entry) {
	for i := range m.Findings {
		have := &m.Findings[i]
		if have.Fingerprint == e.Fingerprint && have.Severity == e.Severity {
			have.Count = max(have.Count, 1) + 1
			return
		}
	}
	m.Findings = append(m.Findings, e)
}

// Write writes the file, one field a line, so that a review shows what is new in it.
func (f *File) Write(w io.Writer) error {
	f.Schema = Schema
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(f)
}

// Set is a baseline that models are held against.
type Set struct {
	Path   string
	models map[string]Model
}

// Load reads a baseline, or the JSON report of a check, which has all that a baseline has.
func Load(path string) (*Set, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var f File
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s := &Set{Path: path, models: map[string]Model{}}
	for _, m := range f.Models {
		switch f.Schema {
		case Schema:
			s.models[m.Path] = m
		case "amplint.check/1": // its paths start at the working folder
			s.models[Rel(path, m.Path)] = m
		}
	}
	if f.Schema != Schema && f.Schema != "amplint.check/1" {
		return nil, fmt.Errorf("%s is no baseline: its schema is %q, not %q", path, f.Schema, Schema)
	}
	return s, nil
}

// Rel returns the path of a model from the folder of a baseline, as the baseline has it: it stays the
// same wherever the program is run.
func Rel(file, model string) string {
	from, errFrom := filepath.Abs(filepath.Dir(file))
	to, errTo := filepath.Abs(model)
	rel, err := filepath.Rel(from, to)
	if errFrom != nil || errTo != nil || err != nil {
		return filepath.ToSlash(model)
	}
	return filepath.ToSlash(rel)
}

// Known is what is left of the known findings of one model while those found are held against them.
type Known struct {
	entries []Entry
	left    []int
}

// Of returns what is known of a model, given by a path from the working folder. The set may be nil.
func (s *Set) Of(model string) *Known {
	k := &Known{}
	if s == nil {
		return k
	}
	k.entries = s.models[Rel(s.Path, model)].Findings
	for _, e := range k.entries {
		k.left = append(k.left, max(e.Count, 1))
	}
	return k
}

// Take tells whether a finding is known, and uses up what knows it: of two alike where one was known
// the second is new, and so is one that was milder.
func (k *Known) Take(fingerprint string, s rules.Severity) bool {
	for i, e := range k.entries {
		was, ok := rules.ParseSeverity(e.Severity)
		if k.left[i] > 0 && e.Fingerprint == fingerprint && ok && s <= was {
			k.left[i]--
			return true
		}
	}
	return false
}

// Gone returns the known findings that none found was like.
func (k *Known) Gone() []Entry {
	var list []Entry
	for i, e := range k.entries {
		if k.left[i] > 0 {
			e.Count = k.left[i]
			list = append(list, e)
		}
	}
	return list
}
