package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/rules"
	"github.com/amplint/amplint/samples"
)

// witnessFile is the JSON of witnesses.json, which lists what --save-witness wrote.
type witnessFile struct {
	Schema    string         `json:"schema"`
	Version   string         `json:"version"` // of amplint
	Witnesses []witnessEntry `json:"witnesses"`
}

// witnessEntry is one finding with the input that shows it and the command that does so.
type witnessEntry struct {
	Model       string `json:"model"`
	Target      string `json:"target"`
	Rule        string `json:"rule"`
	Kind        string `json:"kind"`
	Evidence    string `json:"evidence"`
	Node        string `json:"node"`
	Value       string `json:"value"`
	Fingerprint string `json:"fingerprint"`
	File        string `json:"file"`
	Replay      string `json:"replay"`
}

// witnessesName is the file beside the inputs that lists them.
const witnessesName = "witnesses.json"

// witnessWriter writes the inputs that show findings, and the list of them.
type witnessWriter struct {
	dir   string
	opt   analyze.Options
	file  witnessFile
	taken map[string]bool
}

func newWitnessWriter(dir string, opt analyze.Options) (*witnessWriter, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, usagef("--save-witness: %w", err)
	}
	return &witnessWriter{dir, opt, witnessFile{"amplint.witness/1", Version, []witnessEntry{}}, map[string]bool{}}, nil
}

// add writes the input of each finding of a model that has one.
func (w *witnessWriter) add(r *analyze.Report) error {
	for _, x := range r.Findings {
		if x.Input == nil || x.Node == nil {
			continue
		}
		name := witnessName(r.Path, x, w.taken)
		path := filepath.Join(w.dir, name)
		if err := analyze.WriteFile(path, func(out io.Writer) error { return samples.WriteNPZ(out, arrays(x.Input)) }); err != nil {
			return err
		}
		w.file.Witnesses = append(w.file.Witnesses, entryOf(r, x, name, replayCommand(r, x, path, w.opt)))
	}
	return nil
}

// close writes the list.
func (w *witnessWriter) close() error {
	return analyze.WriteFile(filepath.Join(w.dir, witnessesName), func(out io.Writer) error {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(w.file)
	})
}

func entryOf(r *analyze.Report, x rules.Finding, name, replay string) witnessEntry {
	return witnessEntry{Model: r.Path, Target: r.Target.String(), Rule: x.Rule, Kind: x.Kind.String(), Evidence: x.Evidence.String(),
		Node: x.Node.Key(), Value: shownValue(x).Key(), Fingerprint: x.Fingerprint, File: name, Replay: replay}
}

// witnessName names a file after the model, the rule and the fingerprint.
func witnessName(model string, x rules.Finding, taken map[string]bool) string {
	base := strings.TrimSuffix(filepath.Base(model), filepath.Ext(model))
	name := fmt.Sprintf("%s-%s-%s", base, x.Rule, x.Fingerprint)
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%s-%s-%d", base, x.Rule, x.Fingerprint, i)
	}
	taken[name] = true
	return name + ".npz"
}

// arrays lists an input by name.
func arrays(in map[string]*refeval.Value) []samples.Named {
	var list []samples.Named
	for _, name := range slices.Sorted(maps.Keys(in)) {
		list = append(list, samples.Named{Name: name, Value: in[name].ToSample()})
	}
	return list
}

// shownValue is the value to look at: a trace lists no constants of integer type, and a constant
// itself tells less than what is made of it.
func shownValue(x rules.Finding) *graph.Value {
	if x.Value != nil && x.Value.Producer != nil && x.Value.Const == nil {
		return x.Value
	}
	for _, v := range x.Node.Outputs {
		if v != nil {
			return v
		}
	}
	return x.Value
}

// replayCommand is what shows a finding again.
func replayCommand(r *analyze.Report, x rules.Finding, path string, opt analyze.Options) string {
	args := []string{"amplint", "trace", r.Path, "--data", path}
	switch r.Target {
	case analyze.FP16, analyze.BF16:
		args = append(args, "--as", r.Target.String())
	}
	if opt.Accumulate == "target" {
		args = append(args, "--accumulate", "target")
	}
	if opt.Flush {
		args = append(args, "--flush-subnormals")
	}
	args = append(args, "--value", shownValue(x).Key())
	for i, s := range args {
		args[i] = quoted(s)
	}
	return strings.Join(args, " ")
}

// quoted makes a word safe for a shell.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,+@%", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
