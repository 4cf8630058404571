package graph

import (
	"runtime"
	"sync"
)

// laterBytes is how much waits to be written: about what a processor writes while another walks the graph from one
// weight to the next. laterSlack is how much more may wait while one goroutine writes: less than that is made of
// elements until it has written a block, and who sleeps until then is woken late.
const (
	laterBytes = 6 << 20
	laterSlack = 2 << 20
)

// later holds blocks that are written when a processor has nothing better to do: while one walks the graph from a
// weight to the next, and while the last sections of a weight are read, the others would wait. A file system takes
// writes to one file one after the other, so that no more than one goroutine writes.
type later struct {
	write func(draftBlock)

	mu      sync.Mutex
	blocks  []draftBlock
	free    [][]byte // of blocks that were written
	held    int      // bytes that blocks take
	reading int      // goroutines that read, which write themselves what finds no room here
	writing bool     // whether a goroutine writes blocks
	wrote   sync.Cond
}

func newLater(write func(draftBlock)) *later {
	l := &later{write: write}
	l.wrote.L = &l.mu
	return l
}

// buffer returns an empty buffer for so many bytes.
func (l *later) buffer(n int) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := len(l.free) - 1
	if k < 0 || cap(l.free[k]) < n {
		return make([]byte, 0, n)
	}
	b := l.free[k]
	l.free = l.free[:k]
	return b
}

// put takes a block. Where there is no room, it writes as many as it takes, or leaves that to the one who writes.
func (l *later) put(b draftBlock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.writing && l.held+cap(b.buf) > laterBytes+laterSlack {
		l.wrote.Wait()
	}
	l.blocks, l.held = append(l.blocks, b), l.held+cap(b.buf)
	if !l.writing {
		l.run(l.full)
	}
	l.start()
}

// read tells that so many goroutines begin to read, or end where it is negative.
func (l *later) read(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reading += n
	l.start()
}

// start begins to write where a processor has nothing to do.
func (l *later) start() {
	if !l.idle() || l.writing {
		return
	}
	l.writing = true
	go func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.run(func() bool { return l.idle() || l.full() })
	}()
}

// full tells that who reads has to write.
func (l *later) full() bool { return l.held > laterBytes }

// idle tells that there is something to write, and a processor that has nothing else to do.
func (l *later) idle() bool { return len(l.blocks) > 0 && l.reading < runtime.GOMAXPROCS(0) }

// run writes blocks as long as a condition holds.
func (l *later) run(while func() bool) {
	l.writing = true
	for while() {
		l.last()
	}
	l.writing = false
	l.wrote.Broadcast()
}

// last writes the block that came last, which is still in a cache; the lock is held before and after.
func (l *later) last() {
	k := len(l.blocks) - 1
	b := l.blocks[k]
	l.blocks = l.blocks[:k]
	l.mu.Unlock()
	l.write(b)
	l.mu.Lock()
	l.held -= cap(b.buf)
	if cap(b.buf) >= penBytes { // smaller ones are of weights that are no larger
		l.free = append(l.free, b.buf[:0])
	}
	l.wrote.Broadcast()
}

// end writes all blocks, or drops them, and returns when no goroutine writes any more. Nobody reads then.
func (l *later) end(drop bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if drop {
		l.blocks, l.held = nil, 0
	}
	for len(l.blocks) > 0 || l.writing {
		if l.writing {
			l.wrote.Wait()
		} else {
			l.last()
		}
	}
}
