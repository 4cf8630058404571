package ort

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// Options say how a model is run.
type Options struct {
	// As is the format that FLOAT values are rounded to, FP16 or BF16; Invalid or FP32 leaves them.
	As numfmt.Format
	// Threads is how many processors a kernel may use; 0 leaves it to onnxruntime.
	Threads int
}

// Session is a model that onnxruntime is ready to run. It may be run from several goroutines.
type Session struct {
	e       *Engine
	handle  uintptr
	outputs []string
}

// Load instruments a copy of the model where its values are rounded (see [Instrument]), and makes a
// session of it. The caller closes the session. The model's file must not be closed before.
func (e *Engine) Load(m *graph.Model, opt Options) (*Session, error) {
	c := m.Clone()
	rounded, err := Instrument(c, opt.As)
	if err != nil {
		return nil, err
	}
	if !rounded {
		c = m
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	return e.session(b.Bytes(), m.Dir, !rounded, opt.Threads)
}

// Run runs the bytes of a model as they are on one set of inputs.
func (e *Engine) Run(ctx context.Context, model []byte, inputs map[string]*graph.Tensor) (map[string]*graph.Tensor, error) {
	s, err := e.session(model, "", true, 0)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Run(ctx, inputs)
}

// session makes a session. dir is where external data lies. A model that is instrumented must not
// be optimised: casts there and back would be taken out, and what stands between them fused.
func (e *Engine) session(model []byte, dir string, optimise bool, threads int) (*Session, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	opt := new(uintptr)
	if err := e.do(createSessionOptions, addr(&pin, opt)); err != nil {
		return nil, err
	}
	defer e.free(releaseSessionOptions, *opt)
	level := uintptr(disableAll)
	if optimise {
		level = enableAll
	}
	if err := e.do(setSessionGraphOptimizationLevel, *opt, level); err != nil {
		return nil, err
	}
	if err := e.do(setIntraOpNumThreads, *opt, uintptr(threads)); err != nil {
		return nil, err
	}
	if dir != "" {
		const key = "session.model_external_initializers_file_folder_path"
		if err := e.do(addSessionConfigEntry, *opt, cString(&pin, key), cString(&pin, dir)); err != nil {
			return nil, err
		}
	}
	s := &Session{e: e}
	if len(model) == 0 {
		return nil, fmt.Errorf("onnxruntime: the model is empty")
	}
	if err := e.do(createSessionFromArray, e.env, addr(&pin, &model[0]), uintptr(len(model)), *opt, addr(&pin, &s.handle)); err != nil {
		return nil, err
	}
	if err := s.nameOutputs(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close releases what onnxruntime holds for the session.
func (s *Session) Close() {
	s.e.free(releaseSession, s.handle)
	s.handle = 0
}

// nameOutputs asks for the names of the outputs.
func (s *Session) nameOutputs() error {
	var pin runtime.Pinner
	defer pin.Unpin()
	n, name := new(uintptr), new(uintptr)
	if err := s.e.do(sessionGetOutputCount, s.handle, addr(&pin, n)); err != nil {
		return err
	}
	for i := range *n {
		if err := s.e.do(sessionGetOutputName, s.handle, i, s.e.alloc, addr(&pin, name)); err != nil {
			return err
		}
		s.outputs = append(s.outputs, goString(*name))
		if err := s.e.do(allocatorFree, s.e.alloc, *name); err != nil {
			return err
		}
	}
	return nil
}

// Run evaluates the model on inputs by name and returns its outputs by name. It ends early, between
// two nodes, when ctx does.
func (s *Session) Run(ctx context.Context, inputs map[string]*graph.Tensor) (map[string]*graph.Tensor, error) {
	names := slices.Sorted(maps.Keys(inputs))
	in := make([]uintptr, len(names))
	out := make([]uintptr, len(s.outputs))
	defer func() {
		for _, v := range slices.Concat(in, out) {
			s.e.free(releaseValue, v)
		}
	}()
	for i, name := range names {
		var err error
		if in[i], err = s.e.value(inputs[name]); err != nil {
			return nil, fmt.Errorf("input %q: %w", name, err)
		}
	}
	if err := s.run(ctx, names, in, out); err != nil {
		return nil, err
	}
	results := map[string]*graph.Tensor{}
	for i, name := range s.outputs {
		t, err := s.e.tensor(name, out[i])
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", name, err)
		}
		results[name] = t
	}
	return results, nil
}

// run calls onnxruntime, and tells it to stop when ctx ends.
func (s *Session) run(ctx context.Context, names []string, in, out []uintptr) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	opt := new(uintptr)
	if err := s.e.do(createRunOptions, addr(&pin, opt)); err != nil {
		return err
	}
	defer s.e.free(releaseRunOptions, *opt)
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		_ = s.e.do(runOptionsSetTerminate, *opt) // if it cannot be stopped, it runs to its end
	})
	err := s.e.do(run, s.handle, *opt, cStrings(&pin, names), first(&pin, in), uintptr(len(in)),
		cStrings(&pin, s.outputs), uintptr(len(out)), first(&pin, out))
	if !stop() {
		<-stopped // the options must outlive the call that stops
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// cStrings returns the address of an array of C strings.
func cStrings(pin *runtime.Pinner, list []string) uintptr {
	c := make([]uintptr, len(list))
	for i, s := range list {
		c[i] = cString(pin, s)
	}
	return first(pin, c)
}

// first returns the address of a slice's elements, 0 where it has none.
func first[T any](pin *runtime.Pinner, list []T) uintptr {
	if len(list) == 0 {
		return 0
	}
	return addr(pin, &list[0])
}
