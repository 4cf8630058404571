package graph

import (
	"runtime"
	"sync"
	"testing"
)

// TestLater: blocks wait while all processors read, as many as there is room for, and all are written in the end,
// or when a processor has nothing to read; those of a draft that is discarded are not.
func TestLater(t *testing.T) {
	const size, room = 1 << 20, laterBytes >> 20
	var mu sync.Mutex
	written := map[int64]bool{}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(written)
	}
	l := newLater(func(b draftBlock) {
		mu.Lock()
		defer mu.Unlock()
		written[b.at] = true
	})
	fill := func(from int64) (n int) {
		for {
			if !l.put(draftBlock{buf: make([]byte, size), at: from + int64(n)}) {
				return n
			}
			n++
		}
	}
	busy := runtime.GOMAXPROCS(0)
	l.read(busy)
	if n := fill(0); n != room || count() != 0 {
		t.Fatalf("%d blocks wait, want %d, and %d are written", n, room, count())
	}
	l.read(-1)
	l.end(false)
	if count() != room {
		t.Errorf("%d of %d blocks are written", count(), room)
	}
	l.read(1)
	if n := fill(room); n != room {
		t.Errorf("there is room for %d blocks, want %d", n, room)
	}
	if n := cap(l.buffer(1)); n != size {
		t.Errorf("a buffer of %d bytes, want one of those that were written", n)
	}
	if n := cap(l.buffer(2 * size)); n != 2*size {
		t.Errorf("a buffer of %d bytes, want %d", n, 2*size)
	}
	l.end(true)
	if l.read(-busy); count() != room {
		t.Errorf("%d blocks are written, %d of them dropped", count(), count()-room)
	}
}
