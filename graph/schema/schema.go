package schema

import (
	_ "embed"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

//go:embed onnx.schema
var onnxText string

//go:embed contrib.schema
var contribText string

//go:embed extra.schema
var extraText string

// table is one file: where its operator lines begin, and what has been parsed of them. An operator is parsed
// once and shared; racing parsers store equal values.
type table struct {
	text   string
	start  []int32
	parsed []atomic.Pointer[Op]
	vendor bool
}

// tables returns the files in the order in which they are asked. The line index is built at the first look-up.
var tables = sync.OnceValue(func() []*table {
	return []*table{newTable(onnxText, false), newTable(contribText, true), newTable(extraText, true)}
})

func newTable(text string, vendor bool) *table {
	t := &table{text: text, vendor: vendor, start: make([]int32, 0, strings.Count(text, "\n"))}
	for at := 0; at < len(text); {
		if text[at] != '#' {
			t.start = append(t.start, int32(at))
		}
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	t.parsed = make([]atomic.Pointer[Op], len(t.start))
	return t
}

// line returns line i without its end.
func (t *table) line(i int) string {
	line, _, _ := strings.Cut(t.text[t.start[i]:], "\n")
	return line
}

// key returns the domain, name and version of line i.
func (t *table) key(i int) (domain, name string, since int64) {
	domain, rest, _ := strings.Cut(t.text[t.start[i]:], "\t")
	name, rest, _ = strings.Cut(rest, "\t")
	number, _, _ := strings.Cut(rest, "\t")
	since, _ = strconv.ParseInt(number, 10, 64)
	return domain, name, since
}

// after returns the first line that sorts after the operator at that version.
func (t *table) after(domain, name string, version int64) int {
	return sort.Search(len(t.start), func(i int) bool {
		d, n, since := t.key(i)
		switch {
		case d != domain:
			return d > domain
		case n != name:
			return n > name
		}
		return since > version
	})
}

// op returns the operator of line i. The files are part of the program and each of their lines is tested, so
// a bad one is a broken invariant.
func (t *table) op(i int) *Op {
	if op := t.parsed[i].Load(); op != nil {
		return op
	}
	op, err := parseOp(t.line(i))
	if err != nil {
		panic(fmt.Sprintf("schema: %v", err))
	}
	op.Vendor = t.vendor
	t.parsed[i].Store(op)
	return op
}

// Lookup returns the newest version of an operator that is no newer than opset, the version of its domain that
// the model imports. The domain "ai.onnx" is "". Where the standard has none, onnxruntime's is returned
// (LayerNormalization before opset 17), marked Vendor. The result is shared and must not be changed.
func Lookup(domain, op string, opset int64) (*Op, bool) {
	domain = short(domain)
	for _, t := range tables() {
		i := t.after(domain, op, opset) - 1
		if i < 0 {
			continue
		}
		if d, n, _ := t.key(i); d == domain && n == op {
			return t.op(i), true
		}
	}
	return nil, false
}

// Ops returns the names of all operators of a domain, sorted, onnxruntime's included.
func Ops(domain string) []string {
	domain = short(domain)
	var names []string
	for _, t := range tables() {
		for i := t.after(domain, "", 0); i < len(t.start); i++ {
			d, n, _ := t.key(i)
			if d != domain {
				break
			}
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Versions returns the opsets in which an operator changed, ascending, onnxruntime's included; the first is
// the one that brought it.
func Versions(domain, op string) []int64 {
	domain = short(domain)
	var out []int64
	for _, t := range tables() {
		for i := t.after(domain, op, 0); i < len(t.start); i++ {
			d, n, since := t.key(i)
			if d != domain || n != op {
				break
			}
			out = append(out, since)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// short returns the spelling of a domain in the files: the standard's own is empty.
func short(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}
