// Package batch works on many models: it finds them, hands them out to the processors, keeps results
// between runs and divides a run between machines.
package batch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// extensions are those of the models in a folder.
var extensions = []string{".onnx", ".onnx.gz", ".onnxtxt"}

// Expand returns the models that arguments name, each once and in order: a folder stands for the
// models in it and below it, a pattern for what it matches (** for any number of folders), both in
// the order of their names. What is neither stays as it is, whether it is there or not.
func Expand(args []string) ([]string, error) {
	var list []string
	for _, arg := range args {
		found, err := expand(arg)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(path string) bool {
		key := filepath.Clean(path)
		twice := seen[key]
		seen[key] = true
		return twice
	}), nil
}

func expand(arg string) ([]string, error) {
	st, err := os.Stat(arg)
	switch {
	case err == nil && st.IsDir():
		found, err := walk(arg, isModel)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("%s: no model in this folder (%s)", arg, strings.Join(extensions, ", "))
		}
		return found, err
	case err == nil || !strings.ContainsAny(arg, "*?["):
		return []string{arg}, nil
	}
	found, err := match(arg)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s matches no file", arg)
	}
	return found, err
}

// walk lists the files below a folder that are wanted. Hidden folders are passed over: checkouts and
// caches keep copies there.
func walk(dir string, wanted func(path string) bool) ([]string, error) {
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case wanted(path) && isFile(path, d):
			list = append(list, path)
		}
		return nil
	})
	return list, err
}

// isFile tells whether an entry is a file or a link to one.
func isFile(path string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return d.Type().IsRegular()
	}
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

func isModel(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	return slices.ContainsFunc(extensions, func(ext string) bool { return strings.HasSuffix(name, ext) })
}

// match lists the files that a pattern matches.
func match(pattern string) ([]string, error) {
	if _, err := filepath.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	steps := strings.Split(filepath.ToSlash(pattern), "/")
	i := slices.Index(steps, "**")
	if i < 0 {
		found, err := filepath.Glob(pattern)
		return slices.DeleteFunc(found, func(path string) bool {
			st, err := os.Stat(path)
			return err == nil && st.IsDir()
		}), err
	}
	dirs, err := filepath.Glob(filepath.FromSlash(strings.Join(steps[:i], "/")))
	switch {
	case i == 0:
		dirs = []string{"."}
	case i == 1 && steps[0] == "":
		dirs = []string{"/"}
	}
	var list []string
	for _, dir := range dirs {
		var found []string
		if found, err = walk(dir, func(path string) bool { return below(dir, path, steps[i:]) }); err != nil {
			break
		}
		list = append(list, found...)
	}
	return list, err
}

// below tells whether the way from a folder to a file is that of a pattern.
func below(dir, path string, pattern []string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && follows(pattern, strings.Split(filepath.ToSlash(rel), "/"))
}

func follows(pattern, steps []string) bool {
	if len(pattern) == 0 {
		return len(steps) == 0
	}
	if pattern[0] == "**" {
		for i := range len(steps) + 1 {
			if follows(pattern[1:], steps[i:]) {
				return true
			}
		}
		return false
	}
	if len(steps) == 0 {
		return false
	}
	ok, _ := filepath.Match(pattern[0], steps[0])
	return ok && follows(pattern[1:], steps[1:])
}
