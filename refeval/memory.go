package refeval

import (
	"errors"
	"fmt"
	"slices"

	"github.com/amplint/amplint/graph"
)

// defaultMaxMemory is what a run may hold where the options do not say. Models that need more are
// run by people who know that they do.
const defaultMaxMemory = 16 << 30

// block counts the elements that a kernel made: its bytes, and in how many places of the running
// graph a tensor of it stands. When the last is gone, the run has the bytes back.
type block struct {
	bytes  int64
	refs   int
	buf    []float32 // of the run's arena; nil for others
	shown  bool      // who observes the run may keep it
	making bool      // the kernel that made it has not returned: one of the refs is the kernel's own
}

// errMemory is wrapped by the error of a run that would pass its bound.
var errMemory = errors.New("out of memory")

// refusal is the panic by which a kernel gives up; the executor makes it the node's error.
type refusal struct{ err error }

// refuse ends a kernel with an error. It spares every helper an error result that all its callers
// would but hand on.
func refuse(format string, args ...any) { panic(refusal{fmt.Errorf(format, args...)}) }

// alloc makes a tensor of zeros that counts against the bound of the run. All results of kernels
// come from here.
func (x *run) alloc(e graph.ElemType, dims []int) *Tensor { return x.tensor(e, dims, true) }

// tensor is alloc, of elements that may hold anything unless zero is set.
func (x *run) tensor(e graph.ElemType, dims []int, zero bool) *Tensor {
	n, err := count(dims)
	if err != nil {
		panic(refusal{err})
	}
	bytes := int64(n) * elemBytes(e)
	if bytes > x.max-x.live {
		refuse("%w: %s%v takes %d bytes, %d are held, the bound is %d", errMemory, e, dims, bytes, x.live, x.max)
	}
	x.live += bytes
	x.peak = max(x.peak, x.live)
	b := &block{bytes: bytes}
	t := &Tensor{Elem: e, Dims: slices.Clone(dims), block: b}
	if storeOf(e) == storeF {
		t.F, b.buf = x.floats(n, zero)
		return t
	}
	if err := t.fill(n); err != nil {
		panic(refusal{err})
	}
	return t
}

// room ends a kernel that needs more bytes for its own use than the run has left.
func (c *Call) room(bytes int64) {
	if bytes < 0 || bytes > c.x.max-c.x.live {
		refuse("%w: %d bytes are needed, %d are held, the bound is %d", errMemory, bytes, c.x.live, c.x.max)
	}
}

// retain notes one more place where the value stands.
func (x *run) retain(v *Value) {
	for _, t := range v.Tensors() {
		if t.block != nil {
			t.block.refs++
		}
	}
}

// release undoes one retain, and gives the bytes back at the last.
func (x *run) release(v *Value) {
	for _, t := range v.Tensors() {
		if t.block == nil {
			continue
		}
		if t.block.refs--; t.block.refs == 0 {
			x.live -= t.block.bytes
			x.recycle(t.block)
		}
	}
}

// recycle keeps a buffer that nothing reads any more.
func (x *run) recycle(b *block) {
	if b.buf != nil && !b.shown && x.arena != nil {
		x.arena.put(b.buf)
		b.buf = nil
	}
}

// drop ends the hold of a kernel on what it made.
func (x *run) drop(made []*Tensor) {
	for _, t := range made {
		t.block.making = false
		x.release(TensorValue(t))
	}
}

// fresh tells whether nothing but the kernel that made it knows the tensor, so that it may still
// be changed.
func (t *Tensor) fresh() bool { return t.block != nil && t.block.making && t.block.refs == 1 }

// clone copies a tensor's elements into memory of the run.
func (x *run) clone(t *Tensor) *Tensor {
	c := x.tensor(t.Elem, t.Dims, false)
	copy(c.F, t.F)
	copy(c.D, t.D)
	copy(c.I, t.I)
	copy(c.S, t.S)
	copy(c.C, t.C)
	c.Dims = slices.Clone(t.Dims)
	return c
}
