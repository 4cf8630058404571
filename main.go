// Command amplint checks ONNX models for values that low-precision formats cannot hold, and
// rewrites them to mixed precision.
package main

import (
	"os"

	"github.com/amplint/amplint/cmd"
)

func main() { os.Exit(cmd.Main(os.Args[1:], os.Stdout, os.Stderr)) }
