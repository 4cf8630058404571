package cmd

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/rules"
	"github.com/amplint/amplint/samples"
)

// minimizeFlags are the flags that minimize has beside those of the analysis.
type minimizeFlags struct {
	finding, node, out string
	budget             int
}

func (a *app) minimizeCommand() *cobra.Command {
	var f analysisFlags
	var x minimizeFlags
	c := &cobra.Command{
		Use: "minimize MODEL -o FILE",
		Example: "  amplint minimize model.onnx -o bug.onnxtxt\n" +
			"  amplint minimize model.onnx --range x=-8,8 --node /encoder/layer.0/MatMul -o bug.onnxtxt\n" +
			"  amplint minimize model.onnx --finding 606bfa2e543cc100 -o bug.onnx",
		Short: "Cut a model down to the smallest part that shows a finding",
		Long: "Cut a model down to the smallest part that shows a finding: the first error, or what --finding\n" +
			"or --node name. The part is a model of its own, for a bug report; the input that shows the\n" +
			"finding is written beside it as an NPZ file. Exit code 1 where there is no such finding.",
		Args: takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			opt, err := f.options(c)
			if err == nil {
				err = x.check(opt)
			}
			if err != nil {
				return err
			}
			return a.analysed(args[0], func() error {
				m, err := analyze.Minimize(c.Context(), args[0], opt, x.choose, x.budget)
				if err != nil {
					return err
				}
				return a.writeMinimized(m, x.out, opt)
			})
		},
	}
	f.addInputs(c)
	f.addTarget(c)
	c.Flags().StringVar(&x.finding, "finding", "", "the finding of this `FINGERPRINT`, as JSON reports have it")
	c.Flags().StringVar(&x.node, "node", "", "the gravest finding at the node of this `KEY`")
	c.Flags().StringVarP(&x.out, "output", "o", "", "`file` to write the part to, as text (.onnxtxt) or binary (.onnx)")
	c.Flags().IntVar(&x.budget, "budget", 400, "parts that are tried at most")
	return c
}

func (x *minimizeFlags) check(opt analyze.Options) error {
	switch {
	case x.out == "":
		return usagef("minimize needs -o FILE")
	case x.finding != "" && x.node != "":
		return usagef("--finding and --node exclude each other")
	case x.budget < 1:
		return usagef("--budget %d: 1 or more is meant", x.budget)
	case opt.Effort == "off":
		return usagef("minimize runs the parts, --effort off does not")
	}
	return nil
}

// choose picks the finding that is asked for, else the first of the gravest.
func (x *minimizeFlags) choose(found []rules.Finding) (*rules.Finding, error) {
	var best *rules.Finding
	for i := range found {
		f := &found[i]
		named := x.finding == f.Fingerprint || x.node != "" && x.at(f)
		if f.Node == nil || x.finding+x.node != "" && !named {
			continue
		}
		if best == nil || f.Severity > best.Severity {
			best = f
		}
	}
	if best == nil {
		return nil, &failure{exitFindings, fmt.Errorf("there is no such finding; amplint check --format json lists them")}
	}
	return best, nil
}

// at tells whether a finding stands at the node, which becomes its place where it is one of
// several.
func (x *minimizeFlags) at(f *rules.Finding) bool {
	if f.Node != nil && f.Node.Key() == x.node {
		return true
	}
	i := slices.IndexFunc(f.Occurrences, func(o rules.Place) bool { return o.Node != nil && o.Node.Key() == x.node })
	if i >= 0 {
		f.Node, f.Value = f.Occurrences[i].Node, f.Occurrences[i].Value
	}
	return i >= 0
}

// besideNPZ returns where the input lies that shows what a part shows.
func besideNPZ(out string) string { return strings.TrimSuffix(out, filepath.Ext(out)) + ".npz" }

// writeMinimized writes the part and, beside it, the input that shows the finding.
func (a *app) writeMinimized(m *analyze.Minimized, out string, opt analyze.Options) error {
	npz := besideNPZ(out)
	head := headOf(m, out, npz, opt)
	var err error
	if onnxtxt.IsText(out) {
		err = a.toFile(out, func(w io.Writer) error {
			for _, l := range head {
				if _, err := fmt.Fprintf(w, "# %s\n", l); err != nil {
					return err
				}
			}
			return onnxtxt.Print(w, m.Model, onnxtxt.PrintOptions{})
		})
	} else {
		m.Model.Graph.Doc = strings.Join(head, "\n")
		err = m.Model.Save(out, graph.SaveOptions{})
	}
	if err == nil && m.Shown.Input != nil {
		err = a.toFile(npz, func(w io.Writer) error { return samples.WriteNPZ(w, arrays(m.Shown.Input)) })
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: %d of %d nodes show %s at %s\n", out, len(m.Model.Graph.Nodes), m.Before, m.Finding.Rule, m.Finding.Node.Key())
	return nil
}

// headOf says what a part shows, and the commands that do.
func headOf(m *analyze.Minimized, out, npz string, opt analyze.Options) []string {
	f := m.Finding
	list := []string{fmt.Sprintf("%s (%s) at %s of %s, as %s", f.Rule, f.Kind, visible(f.Node.Key()), filepath.Base(m.Path), m.Target)}
	if s := f.Source; s.Module != "" || s.File != "" {
		list = append(list, visible(strings.TrimSpace(fmt.Sprintf("from %s %s", s.Module, placeOf(s)))))
	}
	list = append(list, visible(m.Shown.Message), strings.Join([]string{"amplint", "check", quoted(filepath.Base(out)), "--target", m.Target.String()}, " "))
	if m.Shown.Input == nil {
		return list
	}
	r := &analyze.Report{Path: filepath.Base(out), Target: m.Target}
	list = append(list, replayCommand(r, m.Shown, filepath.Base(npz), opt))
	for _, x := range arrays(m.Shown.Input) {
		if t := m.Shown.Input[x.Name].Tensor; t != nil && t.Len() <= maxListed {
			list = append(list, visible(x.Name)+" = "+elements(t))
		}
	}
	return list
}

func placeOf(s rules.Source) string {
	if s.File == "" {
		return ""
	}
	return s.File + ":" + strconv.Itoa(s.Line)
}

// maxListed bounds the elements of an input that a comment lists.
const maxListed = 32

func elements(t *refeval.Tensor) string {
	var list []string
	for _, f := range t.F {
		list = append(list, strconv.FormatFloat(float64(f), 'g', -1, 32))
	}
	for _, f := range t.D {
		list = append(list, strconv.FormatFloat(f, 'g', -1, 64))
	}
	for _, i := range t.I {
		list = append(list, strconv.FormatInt(i, 10))
	}
	return fmt.Sprintf("%v {%s}", t.Dims, strings.Join(list, ", "))
}
