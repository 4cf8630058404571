package trace

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/samples"
)

// BundleSchema names the version of the bundle's form.
const BundleSchema = "amplint.bundle/1"

// Manifest is the first entry of a bundle, manifest.json. A bundle is a zip archive of what it
// takes to see one failure again:
//
//	manifest.json   this
//	inputs.npz      the inputs that trigger it, by name, as [samples.Load] reads them
//	values.npz      what led to it: the operands and results of the first bad node and of the nodes
//	                before it, by key; NAME in the target's formats, NAME@fp32 beside it
//	model.onnx      the model, byte for byte; model.onnxtxt where it is text; neither where it has
//	                external data or is too large
//	trace.json      the report, of the schema amplint.trace/1
//
// Readers must pass over entries and fields that they do not know.
type Manifest struct {
	Schema string `json:"schema"`
	Tool   string `json:"tool"` // the version of amplint
	Model  struct {
		Path   string `json:"path"` // where it was; found again by its sum
		SHA256 string `json:"sha256"`
		Size   int64  `json:"size"`
		Entry  string `json:"entry,omitempty"` // of the archive, none where the model is not in it
	} `json:"model"`
	Run struct {
		As         string `json:"as"` // fp32 for the types as stored
		Accumulate string `json:"accumulate"`
		Flush      bool   `json:"flush_subnormals"`
		Seed       int64  `json:"seed"`
	} `json:"run"`
	Sample string `json:"sample"`
	Node   string `json:"node"`  // key of the first bad node, "" where there is none
	Value  string `json:"value"` // key of its bad result
}

// maxEmbedded is the largest model that a bundle holds itself.
const maxEmbedded = 256 << 20

// Bundle is what a bundle is written from.
type Bundle struct {
	Tool    string
	Model   *graph.Model
	Sample  *samples.Sample
	Options Options
	Trace   *Trace
	Values  []samples.Named
	Report  []byte // trace.json
}

// Write writes the archive.
func (b *Bundle) Write(w io.Writer) error {
	z := zip.NewWriter(w)
	man, err := b.manifest()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(man, "", "  ")
	if err != nil {
		return err
	}
	if err := entry(z, "manifest.json", func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err }); err != nil {
		return err
	}
	if err := entry(z, "inputs.npz", func(w io.Writer) error { return samples.WriteNPZ(w, b.inputs()) }); err != nil {
		return err
	}
	if err := entry(z, "values.npz", func(w io.Writer) error { return samples.WriteNPZ(w, b.Values) }); err != nil {
		return err
	}
	if man.Model.Entry != "" {
		if err := entry(z, man.Model.Entry, func(w io.Writer) error { return copyFile(w, b.Model.Path) }); err != nil {
			return err
		}
	}
	if err := entry(z, "trace.json", func(w io.Writer) error { _, err := w.Write(b.Report); return err }); err != nil {
		return err
	}
	return z.Close()
}

func entry(z *zip.Writer, name string, write func(w io.Writer) error) error {
	w, err := z.Create(name)
	if err != nil {
		return err
	}
	return write(w)
}

func copyFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// inputs lists the sample's values in the order of the model.
func (b *Bundle) inputs() []samples.Named {
	var list []samples.Named
	for _, v := range slices.Concat(b.Model.Graph.Inputs, weights(b.Model)) {
		if x := b.Sample.Inputs[v.Name]; x != nil {
			list = append(list, samples.Named{Name: v.Name, Type: v.Type, Value: x})
		}
	}
	return list
}

func (b *Bundle) manifest() (*Manifest, error) {
	m := &Manifest{Schema: BundleSchema, Tool: b.Tool, Sample: b.Sample.Name}
	sum, size, err := sumOf(b.Model.Path)
	if err != nil {
		return nil, err
	}
	m.Model.Path, m.Model.SHA256, m.Model.Size = b.Model.Path, sum, size
	if size <= maxEmbedded && !hasExternal(b.Model) {
		m.Model.Entry = "model" + filepath.Ext(b.Model.Path)
	}
	m.Run.As, m.Run.Accumulate = asName(b.Options.As), accumulateNames[b.Options.Accumulate]
	m.Run.Flush, m.Run.Seed = b.Options.Flush, b.Options.Seed
	if f := b.Trace.First(); f != nil {
		m.Node, m.Value = f.Value.Producer.Key(), f.Value.Key()
	}
	return m, nil
}

// asName names a format as --as takes it.
func asName(f numfmt.Format) string {
	if f == numfmt.Invalid {
		return numfmt.FP32.String()
	}
	return f.String()
}

var accumulateNames = [...]string{refeval.FP32: "fp32", refeval.Target: "target", refeval.Blocked: "blocked"}

// ParseAccumulate reads a value of --accumulate.
func ParseAccumulate(s string) (refeval.Accumulate, error) {
	for i, name := range accumulateNames {
		if s == name {
			return refeval.Accumulate(i), nil
		}
	}
	return 0, fmt.Errorf("%q is none of fp32, target and blocked", s)
}

func sumOf(path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), size, err
}

// hasExternal tells whether weights of the model lie in other files.
func hasExternal(m *graph.Model) bool {
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if v.Init != nil && len(v.Init.External) > 0 {
				return true
			}
		}
	}
	return false
}

// First returns what the trace is about: the first value that is not finite, else the first that is
// off, else the first with elements that turned to zero; nil where nothing went wrong.
func (t *Trace) First() *First {
	for _, f := range []*First{t.NonFinite, t.Lossy, t.Flush} {
		if f != nil {
			return f
		}
	}
	return nil
}
