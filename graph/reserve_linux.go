package graph

import (
	"os"
	"syscall"
)

// reserve has the file system set room aside for a file that will have so many bytes: done once, it takes a
// third off the time of writing to many, which else look for room block by block. Where a file system cannot, or
// has no room, the writing itself will tell.
func reserve(f *os.File, n int64) {
	if n < blockBytes {
		return
	}
	if c, err := f.SyscallConn(); err == nil {
		c.Control(func(fd uintptr) { syscall.Fallocate(int(fd), 0, 0, n) })
	}
}
