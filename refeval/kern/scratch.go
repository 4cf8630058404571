package kern

import (
	"math/bits"
	"sync"
)

// scratches holds buffers by the power of two that bounds their length, so that a large one is
// found again among small ones.
var scratches [bits.UintSize + 1]sync.Pool

// getFloats returns n numbers of any value, to be given back by putFloats.
func getFloats(n int) *[]float32 {
	class := bits.Len(uint(max(n, 1) - 1))
	p, ok := scratches[class].Get().(*[]float32)
	if !ok {
		x := make([]float32, 1<<class)
		p = &x
	}
	*p = (*p)[:n]
	return p
}

func putFloats(p *[]float32) { scratches[bits.Len(uint(cap(*p)-1))].Put(p) }
