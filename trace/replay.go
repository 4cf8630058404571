package trace

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplint/amplint/numfmt"
)

// Replay is an opened bundle.
type Replay struct {
	Manifest Manifest
	Model    string // where the model is to be opened
	Inputs   string // an archive of numpy

	dir string
}

// maxManifest bounds the manifest, which is text of some hundred bytes.
const maxManifest = 1 << 20

// OpenBundle unpacks what a run needs into a temporary folder, which Close removes. A model that is
// not in the bundle is looked for where it was, from this folder or the bundle's, and must be the
// same to the byte.
func OpenBundle(path string) (*Replay, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s: no bundle: %w", path, err)
	}
	defer z.Close()
	r := &Replay{}
	if err := r.read(&z.Reader, path); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), r.Close())
	}
	return r, nil
}

func (r *Replay) read(z *zip.Reader, path string) (err error) {
	if err := r.readManifest(z); err != nil {
		return err
	}
	if r.dir, err = os.MkdirTemp("", "amplint-bundle-"); err != nil {
		return err
	}
	if r.Inputs, err = r.unpack(z, "inputs.npz"); err != nil {
		return err
	}
	if e := r.Manifest.Model.Entry; e != "" {
		r.Model, err = r.unpack(z, e)
	} else {
		r.Model, err = r.find(filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	sum, _, err := sumOf(r.Model)
	if err == nil && sum != r.Manifest.Model.SHA256 {
		err = fmt.Errorf("%s is not the model that the bundle was made of", r.Model)
	}
	return err
}

func (r *Replay) readManifest(z *zip.Reader) error {
	f, err := z.Open("manifest.json")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := json.NewDecoder(io.LimitReader(f, maxManifest)).Decode(&r.Manifest); err != nil {
		return fmt.Errorf("manifest.json: %w", err)
	}
	if r.Manifest.Schema != BundleSchema {
		return fmt.Errorf("its form is %q, not %s", r.Manifest.Schema, BundleSchema)
	}
	return nil
}

// unpack copies an entry, whose name must be plain, into the folder.
func (r *Replay) unpack(z *zip.Reader, name string) (string, error) {
	if name != filepath.Base(name) || strings.ContainsAny(name, `/\`) || name == ".." {
		return "", fmt.Errorf("an entry named %q", name)
	}
	f, err := z.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	to := filepath.Join(r.dir, name)
	out, err := os.Create(to)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, f)
	return to, errors.Join(err, out.Close())
}

// find looks for a model that is not in the bundle.
func (r *Replay) find(dir string) (string, error) {
	path := r.Manifest.Model.Path
	for _, p := range []string{path, filepath.Join(dir, path), filepath.Join(dir, filepath.Base(path))} {
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("the model %s is not in the bundle, and not found", path)
}

// Options returns the options that the bundle was made under.
func (r *Replay) Options() (o Options, err error) {
	run := r.Manifest.Run
	if o.As, err = numfmt.Parse(run.As); err != nil {
		return o, err
	}
	o.Accumulate, err = ParseAccumulate(run.Accumulate)
	o.Flush, o.Seed = run.Flush, run.Seed
	return o, err
}

// Close removes what was unpacked.
func (r *Replay) Close() error {
	if r.dir == "" {
		return nil
	}
	return os.RemoveAll(r.dir)
}
