package kern

import "sync"

// tile is the product of m rows of a with a panel of b of at most BlockK rows: row k of it is
// panelN numbers at off[k] in b, of which n count. It is set in c, or added to it.
type tile struct {
	a   []float32
	lda int
	m   int
	b   []float32
	off []int
	c   []float32
	ldc int
	n   int
	add bool
}

// panelRows are the offsets of the rows of a packed panel.
var panelRows = sync.OnceValue(func() []int {
	t := make([]int, BlockK)
	for i := range t {
		t[i] = i * panelN
	}
	return t
})

// put stores a chain's sum.
func (t *tile) put(i, j int, s float32) {
	at := i*t.ldc + j
	if t.add {
		s += t.c[at]
	}
	t.c[at] = s
}
