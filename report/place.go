package report

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

// Root maps the paths that an exporter wrote to those of the checkout: what lies below From lies
// below To.
type Root struct{ From, To string }

// ParseRoot reads FROM=TO.
func ParseRoot(s string) (Root, error) {
	from, to, ok := strings.Cut(s, "=")
	if !ok || from == "" {
		return Root{}, fmt.Errorf("%q is not FROM=TO", s)
	}
	return Root{slashed(from), slashed(to)}, nil
}

// slashed writes a path with slashes. Exporters on Windows write backslashes, which no path in a
// repository holds.
func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// under maps a path, false where it does not lie below From.
func (r Root) under(p string) (string, bool) {
	rest, ok := strings.CutPrefix(p, strings.TrimSuffix(r.From, "/"))
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return path.Join(r.To, rest), true
}

// spot is a line of a file: of the user's program where the exporter recorded it, else the first of
// the model.
type spot struct {
	File string
	Line int
}

// at returns the place that a finding is shown at. A path that no root maps is taken as it is where it
// is relative; an absolute one is a file of the machine that exported the model, and only the roots
// say that it is here too.
func (o *Options) at(m *Model, f *Finding) (s spot, inSource bool) {
	if src := f.Source; src != nil && src.File != "" && src.Line > 0 {
		file := slashed(src.File)
		for _, r := range o.Roots {
			if to, ok := r.under(file); ok {
				return spot{to, src.Line}, true
			}
		}
		if !absolute(file) {
			return spot{path.Clean(file), src.Line}, true
		}
	}
	return spot{filepath.ToSlash(m.Path), 1}, false
}

// absolute tells whether a path with slashes is absolute on any system.
func absolute(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) > 2 && p[1] == ':' && p[2] == '/'
}

// uri writes a path as SARIF wants it: relative ones stay relative to the root of the checkout.
func uri(p string) string {
	u := url.URL{Path: p}
	switch {
	case strings.HasPrefix(p, "/"):
		u.Scheme = "file"
	case absolute(p):
		u.Scheme, u.Path = "file", "/"+p
	case strings.Contains(strings.SplitN(p, "/", 2)[0], ":"): // no scheme
		u.Path = "./" + p
	}
	return u.String()
}
