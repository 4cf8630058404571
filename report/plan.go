package report

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph/diff"
	"github.com/amplint/amplint/rewrite"
)

// plan prints what a dry run would do: the nodes that stay or become FP32 with the reason, how many
// become low, and what else differs.
func (p *printer) plan(r *analyze.Fixed) {
	p.wide(r.Summary.Formats)
	p.narrowed(r.Summary.Formats)
	for _, e := range r.Edits {
		switch e.(type) {
		case rewrite.Widen, rewrite.KeepFP32: // the reasons say so
		default:
			p.f("%s\n", e.Describe())
		}
	}
	p.diff(brief(r.Diff))
}

// wide prints the table of the nodes in FP32.
func (p *printer) wide(list []rewrite.Format) {
	t := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	rows := 0
	for _, f := range list {
		if f.Why == "" {
			continue
		}
		if rows++; rows == 1 {
			fmt.Fprintln(t, "node\toperator\tvalue\tformat\twhy")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", f.Key, f.Op, f.Value, f.After, f.Why)
	}
	if err := t.Flush(); err != nil && p.err == nil {
		p.err = err
	}
}

// narrowed counts the nodes that become low, by operator.
func (p *printer) narrowed(list []rewrite.Format) {
	count, ops := map[string]int{}, []string{}
	total, to := 0, ""
	for _, f := range list {
		if f.Before == f.After || f.Why != "" {
			continue
		}
		if count[f.Op] == 0 {
			ops = append(ops, f.Op)
		}
		count[f.Op]++
		total, to = total+1, f.After.String()
	}
	if total == 0 {
		return
	}
	slices.SortStableFunc(ops, func(a, b string) int { return count[b] - count[a] })
	for i, op := range ops {
		ops[i] = fmt.Sprintf("%d %s", count[op], op)
	}
	p.f("%s become %s: %s\n", plural(total, "node"), to, strings.Join(ops, ", "))
}

// brief leaves out of a comparison what follows from the formats: values and constants of another
// type, but not constants that lost something, and edges that lead to a cast.
func brief(d *diff.Result) *diff.Result {
	b := *d
	b.Types, b.Consts, b.Nodes = nil, nil, nil
	for _, c := range d.Consts {
		if c.Change != diff.Changed || c.Lost > 0 || c.Before == c.After {
			b.Consts = append(b.Consts, c)
		}
	}
	for _, n := range d.Nodes {
		n.Details = slices.DeleteFunc(slices.Clone(n.Details), func(s string) bool {
			return strings.HasPrefix(s, "input ") || strings.HasPrefix(s, "output ")
		})
		if n.Change != diff.Changed || len(n.Details) > 0 {
			b.Nodes = append(b.Nodes, n)
		}
	}
	return &b
}
