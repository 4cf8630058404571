package rules

import (
	"strconv"
	"strings"

	"github.com/amplint/amplint/graph"
)

// frame is one call of a stack that an exporter wrote down.
type frame struct {
	file string
	line int
}

// codeOf returns the place in the user's code that a node comes from: the innermost frame that is
// the user's own, else of a library that is not torch, else of torch.
func codeOf(n *graph.Node) (file string, line int) {
	stack := pythonStack(n)
	best, rank := frame{}, foreign
	for _, f := range stack { // innermost first
		if r := ownership(f.file); r > rank {
			best, rank = f, r
		}
	}
	return best.file, best.line
}

// pythonStack returns the frames of a node, innermost first.
func pythonStack(n *graph.Node) []frame {
	for _, e := range n.Meta {
		if e.Key == "pkg.torch.onnx.stack_trace" {
			return tracebackFrames(e.Value)
		}
	}
	return tracerFrames(n.Doc)
}

// tracebackFrames reads Python's own form, the outermost frame first:
//
//	File "model.py", line 96, in forward
//	    return self.network(x)
func tracebackFrames(s string) []frame {
	var list []frame
	for l := range strings.SplitSeq(s, "\n") {
		rest, ok := strings.CutPrefix(strings.TrimSpace(l), `File "`)
		if !ok {
			continue
		}
		file, rest, ok := strings.Cut(rest, `", line `)
		if !ok {
			continue
		}
		number, _, _ := strings.Cut(rest, ",")
		if line, err := strconv.Atoi(number); err == nil && line > 0 {
			list = append([]frame{{file, line}}, list...)
		}
	}
	return list
}

// tracerFrames reads what torch's tracer leaves in a doc string, the innermost frame first:
//
//	/src/model.py(96): forward
//
// It ends where the tracer itself was called: what is above is the script that exports.
func tracerFrames(s string) []frame {
	var list []frame
	for l := range strings.SplitSeq(s, "\n") {
		place, _, ok := strings.Cut(l, "): ")
		open := strings.LastIndexByte(place, '(')
		if !ok || open <= 0 {
			continue
		}
		line, err := strconv.Atoi(place[open+1:])
		if err != nil || line < 1 {
			continue
		}
		file := place[:open]
		if !strings.HasSuffix(file, ".py") && !strings.HasPrefix(file, "<") { // a doc string of another kind
			continue
		}
		if slashed := slashes(file); strings.Contains(slashed, "/torch/jit/") || strings.Contains(slashed, "/torch/onnx/") {
			break
		}
		list = append(list, frame{file, line})
	}
	return list
}

func slashes(path string) string { return strings.ReplaceAll(path, `\`, "/") }

// The ranks of a file, the one to look at first last.
const (
	foreign = iota // no file to open
	ofTorch
	ofLibrary
	ofUser
)

// ownership ranks a file by its path. Code that was made at run time, as torch.fx does, is in no
// file.
func ownership(file string) int {
	p := slashes(file)
	for _, made := range []string{"<eval_with_key>", "<frozen ", "<string>"} {
		if strings.HasPrefix(p, made) {
			return foreign
		}
	}
	installed := strings.Contains(p, "/site-packages/") || strings.Contains(p, "/dist-packages/") || strings.Contains(p, "/lib/python")
	switch {
	case strings.Contains(p, "-packages/torch/") || strings.Contains(p, "/torch/nn/") || strings.Contains(p, "/torch/_"):
		return ofTorch
	case installed || strings.Contains(p, "/transformers/models/") || strings.Contains(p, "/transformers/modeling_"):
		return ofLibrary
	}
	return ofUser
}
