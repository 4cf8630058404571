package onnxtxt

import (
	"fmt"
	"strconv"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// pattern tells, for an error, which bit pattern a number has in a small float format.
func pattern(e graph.ElemType, text string) string {
	f, err := numfmt.Parse(e.String())
	x, bad := strconv.ParseFloat(text, 64)
	if err != nil || bad != nil {
		return ""
	}
	return fmt.Sprintf(", whose pattern is %d", f.Encode(x))
}
