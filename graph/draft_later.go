package graph

import (
	"runtime"
	"sync"
)

// laterBytes is how much waits to be written: about what a processor writes while another walks the graph from one
// weight to the next.
const laterBytes = 6 << 20

// later holds blocks that are written when a processor has nothing better to do: while one walks the graph from a
// weight to the next, and while the last sections of a weight are read, the others would wait.
type later struct {
	write func(draftBlock)

	mu      sync.Mutex
	blocks  []draftBlock
	free    [][]byte // of blocks that were written
	held    int      // bytes that blocks take
	reading int      // goroutines that read, which write themselves what finds no room here
	writing bool     // whether a goroutine writes the blocks
	ended   sync.Cond
}

func newLater(write func(draftBlock)) *later {
	l := &later{write: write}
	l.ended.L = &l.mu
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

// put keeps a block for later, if there is room.
func (l *later) put(b draftBlock) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held+cap(b.buf) > laterBytes {
		return false
	}
	l.blocks, l.held = append(l.blocks, b), l.held+cap(b.buf)
	l.start()
	return true
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
	if l.idle() && !l.writing {
		l.writing = true
		go l.run()
	}
}

func (l *later) idle() bool { return len(l.blocks) > 0 && l.reading < runtime.GOMAXPROCS(0) }

// run writes blocks as long as a processor has nothing else to do.
func (l *later) run() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.idle() {
		l.first()
	}
	l.writing = false
	l.ended.Broadcast()
}

// first writes one block; the lock is held before and after.
func (l *later) first() {
	b := l.blocks[0]
	l.blocks = l.blocks[1:]
	l.mu.Unlock()
	l.write(b)
	l.mu.Lock()
	l.held -= cap(b.buf)
	if cap(b.buf) >= penBytes { // smaller ones are of weights that are no larger
		l.free = append(l.free, b.buf[:0])
	}
}

// end writes all blocks, or drops them, and returns when no goroutine writes any more. Nobody reads then.
func (l *later) end(drop bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if drop {
		l.blocks = nil
	}
	for len(l.blocks) > 0 || l.writing {
		if len(l.blocks) > 0 {
			l.first()
		} else {
			l.ended.Wait()
		}
	}
}
