package config

import (
	"os"
	"path/filepath"
)

// Name is what a config file is called.
const Name = ".amplint.yaml"

// Find returns the config that is in force in a folder: that of the folder itself or of the nearest
// one above, up to the root of the repository. "" where there is none.
func Find(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(dir, Name)
		if exists(path) {
			return path, nil
		}
		up := filepath.Dir(abs)
		if up == abs || exists(filepath.Join(abs, ".git")) {
			return "", nil
		}
		abs, dir = up, filepath.Join(dir, "..")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
