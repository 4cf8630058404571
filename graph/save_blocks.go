package graph

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// blockBytes is how much of a file is made and written at a time: what is read and converted for it
// stays in the cache of a processor until it is written.
const blockBytes = 128 << 10

// maxWriters bounds the goroutines that read sections or make blocks: a file system takes the blocks of
// one file one after the other, so that more would wait.
const maxWriters = 4

// anywhere tells whether a part can be read from any byte on. What lies in typed fields is read from
// its beginning, which costs nothing while it is short.
func (p part) anywhere() bool { return p.t == nil || p.t.reaches() || p.len() <= blockBytes/2 }

// writeFile writes the rope to a file, but for the parts that are written already. Its blocks are read,
// converted and written by several goroutines, as each has its place in the file whatever the others do.
func (r rope) writeFile(ctx context.Context, w *os.File, written func(p part, at int64) bool) error {
	at := int64(0)
	for parts := r.parts; len(parts) > 0; {
		if written != nil && written(parts[0], at) {
			at, parts = at+parts[0].len(), parts[1:]
			continue
		}
		end := at
		n := max(1, untilFirst(parts, func(p part) bool {
			from := end
			end += p.len()
			return !p.anywhere() || written != nil && written(p, from)
		}))
		run := newPieces(parts[:n], at)
		var err error
		if parts[0].anywhere() {
			err = run.write(ctx, w)
		} else {
			err = parts[0].t.Raw(func(b []byte) error {
				_, err := (&stoppable{ctx, io.NewOffsetWriter(w, at)}).Write(b)
				at += int64(len(b))
				return err
			})
		}
		if err != nil {
			return err
		}
		at, parts = run.end(), parts[n:]
	}
	return nil
}

// untilFirst returns how many elements stand before the first of a kind.
func untilFirst[T any](list []T, is func(T) bool) int {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return i
	}
	return len(list)
}

// pieces are parts of a rope with their places in a file.
type pieces struct {
	parts []part
	at    []int64 // of the parts, and where the last ends
	// writing is held by who writes: for the lock that the file system has, a thread would spin.
	writing sync.Mutex
}

func newPieces(parts []part, at int64) *pieces {
	p := &pieces{parts: parts, at: []int64{at}}
	for _, x := range parts {
		at += x.len()
		p.at = append(p.at, at)
	}
	return p
}

func (p *pieces) end() int64 { return p.at[len(p.parts)] }

// write writes all pieces. There is a goroutine more than processors, as one waits to write.
func (p *pieces) write(ctx context.Context, w *os.File) error {
	begin, end := p.at[0], p.end()
	first, n := begin/blockBytes, (end+blockBytes-1)/blockBytes
	var next atomic.Int64
	next.Store(first)
	var failed firstError
	var all sync.WaitGroup
	for range min(int64(min(runtime.GOMAXPROCS(0), maxWriters)+1), n-first) {
		all.Go(func() {
			rd, buf := &reader{}, make([]byte, blockBytes)
			for i := next.Add(1) - 1; i < n && failed.none(); i = next.Add(1) - 1 {
				from, to := max(begin, i*blockBytes), min(end, (i+1)*blockBytes)
				failed.set(p.block(ctx, rd, w, from, buf[:to-from]))
			}
			failed.set(rd.done())
		})
	}
	all.Wait()
	return failed.err
}

// block makes one block and writes it.
func (p *pieces) block(ctx context.Context, rd *reader, w *os.File, from int64, b []byte) error {
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	if err := p.read(rd, from, b); err != nil {
		return err
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err := w.WriteAt(b, from)
	return err
}

// read sets b to the bytes of the file from one on.
func (p *pieces) read(rd *reader, from int64, b []byte) error {
	i, found := slices.BinarySearch(p.at, from)
	if !found {
		i--
	}
	for ; len(b) > 0; i++ {
		n := min(int64(len(b)), p.at[i+1]-from)
		if n == 0 {
			continue
		}
		if err := p.parts[i].read(rd, from-p.at[i], b[:n]); err != nil {
			return err
		}
		from, b = from+n, b[n:]
	}
	return nil
}

// read sets b to the bytes of the part from off on.
func (p part) read(rd *reader, off int64, b []byte) error {
	switch {
	case p.lit != nil:
		copy(b, p.lit[off:])
		return nil
	case p.src != nil:
		return readFull(p.src, b, p.at.Off+off, p.at.Len-off)
	case p.t.reaches():
		return rd.raw(p.t, off, b)
	}
	all, err := p.t.Bytes()
	if err == nil {
		copy(b, all[off:])
	}
	return err
}

// firstError keeps one error of several goroutines.
type firstError struct {
	mu  sync.Mutex
	err error
}

func (f *firstError) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *firstError) none() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err == nil
}
