package kern

import "sync"

var scratches = sync.Pool{New: func() any { return new([]float32) }}

// getFloats returns n numbers of any value, to be given back by putFloats.
func getFloats(n int) *[]float32 {
	p := scratches.Get().(*[]float32)
	if cap(*p) < n {
		*p = make([]float32, n)
	}
	*p = (*p)[:n]
	return p
}

func putFloats(p *[]float32) { scratches.Put(p) }
