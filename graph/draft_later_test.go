package graph

import (
	"runtime"
	"sync"
	"testing"
)

// TestLater: blocks wait while all processors read, as many as there is room for, what there is no room for is
// written at once, and all are written in the end, or when a processor has nothing to read; those of a draft that is
// discarded are not.
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
	fill := func(from, n int64) {
		for i := range n {
			l.put(draftBlock{buf: make([]byte, size), at: from + i})
		}
	}
	busy := runtime.GOMAXPROCS(0)
	l.read(busy)
	if fill(0, room); count() != 0 {
		t.Fatalf("%d blocks are written, there is room for all", count())
	}
	if fill(room, 3); count() != 3 {
		t.Errorf("%d blocks are written, there was none for 3", count())
	}
	l.read(-1)
	l.end(false)
	if count() != room+3 {
		t.Errorf("%d of %d blocks are written", count(), room+3)
	}
	l.read(1)
	fill(room+3, room)
	if n := cap(l.buffer(1)); n != size {
		t.Errorf("a buffer of %d bytes, want one of those that were written", n)
	}
	if n := cap(l.buffer(2 * size)); n != 2*size {
		t.Errorf("a buffer of %d bytes, want %d", n, 2*size)
	}
	l.end(true)
	if l.read(-busy); count() != room+3 {
		t.Errorf("%d blocks are written, %d of them dropped", count(), count()-room-3)
	}
}

// TestLaterSlack: while one goroutine writes, another puts what there is no room for beside it and reads on. No two
// write at a time, and no more waits than the room and that.
func TestLaterSlack(t *testing.T) {
	const size, room, slack = 1 << 20, laterBytes >> 20, laterSlack >> 20
	begun, goOn := make(chan bool), make(chan bool)
	var l *later
	writers, most := 0, 0
	l = newLater(func(draftBlock) {
		l.mu.Lock()
		writers++
		if most = max(most, l.held); writers > 1 {
			t.Error("two write at a time")
		}
		l.mu.Unlock()
		begun <- true
		<-goOn
		l.mu.Lock()
		writers--
		l.mu.Unlock()
	})
	l.read(runtime.GOMAXPROCS(0))
	put := func(n int) {
		for range n {
			l.put(draftBlock{buf: make([]byte, size)})
		}
	}
	put(room)
	var all sync.WaitGroup
	all.Go(func() { put(1) })
	<-begun
	put(slack - 1) // comes back, though nothing is written yet
	for range 3 {
		all.Go(func() { put(room) })
	}
	go func() {
		for goOn <- true; <-begun; {
			goOn <- true
		}
	}()
	all.Wait()
	l.end(false)
	close(begun)
	if most > laterBytes+laterSlack+size || len(l.blocks) > 0 {
		t.Errorf("%d bytes wait, and %d blocks in the end", most, len(l.blocks))
	}
}
