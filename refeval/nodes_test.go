package refeval

import (
	"context"
	"fmt"
	"math"
	"math/cmplx"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/samples"
)

// TestNodeTests runs the node tests of the standard (or any folder laid out like them) that
// AMPLINT_NODETESTS names: NAME/model.onnx and NAME/test_data_set_*/{input,output}_i.pb. It
// prints which operators fall short.
//
//	AMPLINT_NODETESTS=… go test ./refeval -run 'NodeTests/test_conv'
func TestNodeTests(t *testing.T) {
	root := os.Getenv("AMPLINT_NODETESTS")
	if root == "" {
		t.Skip("AMPLINT_NODETESTS names no folder of node tests")
	}
	dirs, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	tally := map[string]*[2]int{}
	for _, d := range dirs {
		name := d.Name()
		t.Run(name, func(t *testing.T) {
			ops, err := runNodeTest(filepath.Join(root, name))
			tallyUp(tally, ops, err == nil)
			if err != nil {
				t.Error(err)
			}
		})
	}
	report(t, tally)
}

func tallyUp(tally map[string]*[2]int, ops []string, ok bool) {
	for _, o := range append(ops, "all") {
		if tally[o] == nil {
			tally[o] = new([2]int)
		}
		tally[o][1]++
		if ok {
			tally[o][0]++
		}
	}
}

// report prints, for each operator of the tests that ran, how many of them pass.
func report(t *testing.T, tally map[string]*[2]int) {
	var lines []string
	for o, n := range tally {
		if n[0] < n[1] || o == "all" {
			lines = append(lines, fmt.Sprintf("%-40s %4d of %4d", o, n[0], n[1]))
		}
	}
	slices.Sort(lines)
	if all := tally["all"]; all != nil {
		fmt.Fprintf(os.Stderr, "%s\nnode tests: %d of %d pass\n", strings.Join(lines, "\n"), all[0], all[1])
	}
}

// runNodeTest runs one folder and returns the operators of its model.
func runNodeTest(dir string) (ops []string, err error) {
	m, err := graph.Open(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return nil, err
	}
	defer m.Close()
	seen := map[string]bool{}
	for n := range m.Nodes() {
		if n.Call == nil && !seen[n.OpName()] {
			seen[n.OpName()] = true
			ops = append(ops, n.OpName())
		}
	}
	r, err := New(m, Options{})
	if err != nil {
		return ops, err
	}
	sets, err := filepath.Glob(filepath.Join(dir, "test_data_set_*"))
	if err != nil || len(sets) == 0 {
		return ops, fmt.Errorf("no data sets in %s", dir)
	}
	for _, set := range sets {
		if err := runSet(m, r, set); err != nil {
			return ops, err
		}
	}
	return ops, nil
}

func runSet(m *graph.Model, r *Runner, set string) error {
	in := map[string]*Value{}
	for i, v := range m.Graph.Inputs {
		x, err := readPB(filepath.Join(set, "input_"+strconv.Itoa(i)+".pb"), v.Type)
		if err != nil {
			return err
		}
		if x != nil {
			in[v.Name] = x
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	out, err := r.Run(ctx, in)
	if err != nil {
		return err
	}
	for i, v := range m.Graph.Outputs {
		want, err := readPB(filepath.Join(set, "output_"+strconv.Itoa(i)+".pb"), v.Type)
		if err != nil || want == nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
		if err := differ(out[v.Name], want); err != nil {
			return fmt.Errorf("output %s: %w", v.Name, err)
		}
	}
	return nil
}

// readPB reads a data file of a type, nil where there is none.
func readPB(path string, t graph.Type) (*Value, error) {
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, _, err := samples.Decode(b, t)
	if err != nil {
		return nil, err
	}
	return FromSample(v)
}

// differ returns what sets a result apart from the wanted one.
func differ(got, want *Value) error {
	switch {
	case got == nil:
		return fmt.Errorf("missing")
	case got.Kind != want.Kind:
		return fmt.Errorf("%s, want %s", kindName(got.Kind), kindName(want.Kind))
	case len(got.Items) != len(want.Items):
		return fmt.Errorf("%d items, want %d", len(got.Items), len(want.Items))
	case want.Tensor != nil:
		return differTensor(got.Tensor, want.Tensor)
	}
	for i := range want.Items {
		if err := differ(got.Items[i], want.Items[i]); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}

func differTensor(got, want *Tensor) error {
	if got.Elem != want.Elem || !slices.Equal(got.Dims, want.Dims) {
		return fmt.Errorf("%s, want %s", got, want)
	}
	for i := range want.Len() {
		var ok bool
		var g, w any
		switch storeOf(want.Elem) {
		case storeS:
			ok, g, w = got.S[i] == want.S[i], got.S[i], want.S[i]
		case storeC:
			ok, g, w = cmplx.Abs(got.C[i]-want.C[i]) <= 1e-5+1e-3*cmplx.Abs(want.C[i]), got.C[i], want.C[i]
		default:
			ok, g, w = near(got.at64(i), want.at64(i)), got.at64(i), want.at64(i)
		}
		if !ok {
			return fmt.Errorf("%s: element %d is %v, want %v", want, i, g, w)
		}
	}
	return nil
}

// near is numpy's allclose with the tolerances of the standard's tests.
func near(g, w float64) bool {
	if g == w || math.IsNaN(g) && math.IsNaN(w) {
		return true
	}
	return !math.IsInf(w, 0) && math.Abs(g-w) <= 1e-5+1e-3*math.Abs(w)
}
