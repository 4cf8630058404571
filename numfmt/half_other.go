//go:build !amd64 || noasm

package numfmt

// hasHalves tells whether the processor converts float16.
func hasHalves() bool { return false }

func narrowBlock([]byte, []float32) uint32   { return 0 }
func roundBlock([]float32, []float32) uint32 { return 0 }
func widenBlock([]float32, []byte) uint32    { return 0 }

func (e extremes) ends([]float32) (extremes, int) { return e, 0 }

func (l *marks) vectors(*tallied, []float32) int { return 0 }

func (l *marks) quick([]byte, []float32) (tallied, bool) { return tallied{}, false }
