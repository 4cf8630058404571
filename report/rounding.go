package report

import (
	"bufio"
	"encoding/json"
	"io"
	"math"

	"github.com/amplint/amplint/analyze"
)

// roundingFile is the JSON of a ranking of nodes by their rounding.
type roundingFile struct {
	Schema string            `json:"schema"`
	Model  string            `json:"model"`
	Format string            `json:"format"`
	Error  Number            `json:"error"` // of the outputs, relative to their root mean square
	Nodes  []roundedNodeJSON `json:"nodes"` // the largest first
}

type roundedNodeJSON struct {
	Key   string `json:"key"`
	Name  string `json:"name"`
	Op    string `json:"op"`
	Error Number `json:"error"` // what the node's rounding alone leaves in the outputs
	Share Number `json:"share"` // of the mean square error of all
}

// Rounding writes which nodes' rounding adds the most to the error of the outputs.
func Rounding(w io.Writer, format string, r *analyze.Rounding) error {
	all := r.Error(nil)
	f := roundingFile{"amplint.rounding/1", r.Path, r.Format.String(), Number(all), []roundedNodeJSON{}}
	for _, n := range r.Nodes {
		f.Nodes = append(f.Nodes, roundedNodeJSON{n.Node.Key(), n.Node.Name, n.Node.OpName(), Number(math.Sqrt(n.Variance)), Number(n.Variance / (all * all))})
	}
	switch format {
	case "text":
		return roundingText(w, f)
	case "json":
		return json.NewEncoder(w).Encode(f)
	}
	return unknown(format)
}

func roundingText(w io.Writer, f roundingFile) error {
	buf := bufio.NewWriter(w)
	p := &printer{w: buf}
	p.f("%s: rounded to %s throughout, the outputs are expected to be off by %.2g of their root mean square\n", f.Model, f.Format, f.Error)
	for _, n := range f.Nodes {
		p.f("%6.2f %%  %8.2g  %s (%s)\n", 100*n.Share, n.Error, n.Key, n.Op)
	}
	if p.err != nil {
		return p.err
	}
	return buf.Flush()
}
