package report

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/amplint/amplint/analyze"
)

// chainFile is the JSON of the way of a bound.
type chainFile struct {
	Schema string     `json:"schema"`
	Model  string     `json:"model"`
	Steps  []stepJSON `json:"steps"` // the value itself last
}

type stepJSON struct {
	rangeJSON
	Node   string  `json:"node,omitempty"`
	Op     string  `json:"op,omitempty"`
	Factor *Number `json:"factor,omitempty"` // left out where one of two neighbours has no bound
}

// Chain writes how the bound of a value came to be.
func Chain(w io.Writer, format string, c *analyze.Chain) error {
	switch format {
	case "text":
		return chainText(w, c)
	case "json":
		return chainJSON(w, c)
	}
	return unknown(format)
}

func chainJSON(w io.Writer, c *analyze.Chain) error {
	f := chainFile{"amplint.chain/1", c.Path, make([]stepJSON, 0, len(c.Steps))}
	for _, s := range c.Steps {
		j := stepJSON{rangeJSON: rangeOf(s.Bound)}
		if s.Node != nil {
			j.Node, j.Op = s.Node.Name, s.Node.OpName()
		}
		if s.Factor != 0 {
			x := Number(s.Factor)
			j.Factor = &x
		}
		f.Steps = append(f.Steps, j)
	}
	return json.NewEncoder(w).Encode(f)
}

func chainText(w io.Writer, c *analyze.Chain) error {
	buf := bufio.NewWriter(w)
	p := &printer{w: buf}
	for _, s := range c.Steps {
		boundText(p, s.Bound)
		if s.Node != nil {
			p.f(", by %s", s.Node.OpName())
			if s.Node.Name != "" {
				p.f(" %s", s.Node.Name)
			}
		}
		if s.Factor != 0 {
			p.f(", times %.4g", s.Factor)
		}
		p.f("\n")
	}
	if p.err != nil {
		return p.err
	}
	return buf.Flush()
}
