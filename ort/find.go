package ort

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// EnvLib is the environment variable that names the library's file.
const EnvLib = "AMPLINT_ORT_LIB"

// MissingError says that no library was found, and how to get one.
type MissingError struct{ Path string } // the file that was named, "" where none was

// Error returns one line that tells what to do.
func (e *MissingError) Error() string {
	if e.Path != "" {
		return fmt.Sprintf("onnxruntime: there is no library %s; pip install onnxruntime, or name its library by --ort-lib or %s", e.Path, EnvLib)
	}
	return fmt.Sprintf("onnxruntime was not found; pip install onnxruntime, or name its library (%s) by --ort-lib or %s", libName(), EnvLib)
}

// libName returns the name of the library's file on this system.
func libName() string {
	switch runtime.GOOS {
	case "windows":
		return "onnxruntime.dll"
	case "darwin":
		return "libonnxruntime.dylib"
	}
	return "libonnxruntime.so"
}

// Find returns the path of the library: the one named, else that of the environment, else the first
// in python's usual places. What is returned without a folder is left to the system's own search.
func Find(named string) (string, error) {
	for _, path := range []string{named, os.Getenv(EnvLib)} {
		if path == "" {
			continue
		}
		if s, err := os.Stat(path); err != nil || s.IsDir() {
			return "", &MissingError{path}
		}
		return path, nil
	}
	for _, dir := range sitePackages() {
		if lib := inPackage(dir); lib != "" {
			return lib, nil
		}
	}
	return libName(), nil
}

// inPackage returns the library of the python package in a site-packages folder, "" without one.
// The file's name ends in its version on Linux and has it in the middle on macOS.
func inPackage(site string) string {
	capi := filepath.Join(site, "onnxruntime", "capi")
	for _, pattern := range []string{libName(), "libonnxruntime.so.*", "libonnxruntime.*.dylib"} {
		found, _ := filepath.Glob(filepath.Join(capi, pattern)) // the pattern is well formed
		if len(found) > 0 {
			return slices.Max(found)
		}
	}
	return ""
}

// sitePackages returns the site-packages folders of this machine: those of the active environment
// first, then the user's, then the system's, each time the newest python first.
func sitePackages() []string {
	home, _ := os.UserHomeDir() // without a home those places are relative and match nothing of note
	var dirs []string
	for _, root := range pythonRoots(home) {
		for _, sub := range []string{
			"lib/python3*/site-packages", "lib/python3*/dist-packages", "lib64/python3*/site-packages",
			"Lib/site-packages", "Python3*/site-packages", "Python3*/Lib/site-packages", "lib/python/site-packages",
		} {
			found, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(sub)))
			slices.Reverse(found)
			dirs = append(dirs, found...)
		}
	}
	return dirs
}

// pythonRoots returns the folders that hold pythons.
func pythonRoots(home string) []string {
	var roots []string
	for _, env := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(env); dir != "" {
			roots = append(roots, dir)
		}
	}
	if python := os.Getenv("AMPLINT_PYTHON"); python != "" {
		roots = append(roots, filepath.Dir(filepath.Dir(python)))
	}
	roots = append(append(roots, ".venv", "venv"), onPath()...)
	switch runtime.GOOS {
	case "windows":
		roots = append(roots, filepath.Join(os.Getenv("APPDATA"), "Python"),
			filepath.Join(os.Getenv("LOCALAPPDATA"), "Programs", "Python"), `C:\`)
	case "darwin":
		roots = append(roots, globDirs(filepath.Join(home, "Library", "Python", "3*"))...)
		roots = append(roots, globDirs("/Library/Frameworks/Python.framework/Versions/3*")...)
		roots = append(roots, "/opt/homebrew")
	}
	return append(roots, filepath.Join(home, ".local"), "/usr/local", "/usr")
}

// onPath returns the folders of the pythons that the shell would find.
func onPath() []string {
	var roots []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		for _, name := range []string{"python3", "python.exe"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				roots = append(roots, filepath.Dir(dir), dir) // dir itself on Windows
			}
		}
	}
	return roots
}

func globDirs(pattern string) []string {
	found, _ := filepath.Glob(pattern)
	slices.Reverse(found)
	return found
}
