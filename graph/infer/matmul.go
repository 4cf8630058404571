package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func matmulOps() map[string]operator {
	return merged(
		each(matmulOf(0, 1), "MatMul", "MatMulInteger", "com.microsoft.MatMulIntegerToFloat",
			"com.microsoft.DynamicQuantizeMatMul"),
		each(matmulOf(0, 3), "QLinearMatMul"),
		each(fusedMatmul, "com.microsoft.FusedMatMul", "com.microsoft.TransposeMatMul"),
		each(gemmOf(0, 1), "Gemm", "com.microsoft.FusedGemm"),
		each(gemmOf(0, 3), "com.microsoft.QGemm"),
		map[string]operator{"Einsum": einsum, "Det": det},
		each(sameShape, "com.microsoft.Inverse"),
	)
}

func matmulOf(a, b int) operator {
	return func(c *ctx) error {
		s, err := c.matmul(c.shape(a), c.shape(b))
		c.set(0, s)
		return err
	}
}

// matmul multiplies as numpy does: a vector is a row on the left and a column on the right, and is taken out again.
func (c *ctx) matmul(a, b graph.Shape) (graph.Shape, error) {
	if a == nil || b == nil {
		return nil, nil
	}
	if len(a) == 0 || len(b) == 0 {
		return nil, c.errorf("shapes %s and %s do not multiply", a, b)
	}
	row, col := len(a) == 1, len(b) == 1
	if row {
		a = graph.Shape{{N: 1}, a[0]}
	}
	if col {
		b = graph.Shape{b[0], {N: 1}}
	}
	n, m := len(a), len(b)
	if _, err := c.unify(a[n-1], b[m-2]); err != nil {
		return nil, c.errorf("shapes %s and %s do not multiply", a, b)
	}
	out, err := c.broadcast(a[:n-2], b[:m-2])
	if err != nil {
		return nil, err
	}
	if !row {
		out = append(out, a[n-2])
	}
	if !col {
		out = append(out, b[m-1])
	}
	return out, nil
}

// fusedMatmul transposes the last two axes, and with transBatch moves the first axis behind the batch.
func fusedMatmul(c *ctx) error {
	a := turned(c.shape(0), c.n.Int("transBatchA", 0) != 0, c.n.Int("transA", 0) != 0)
	b := turned(c.shape(1), c.n.Int("transBatchB", 0) != 0, c.n.Int("transB", 0) != 0)
	s, err := c.matmul(a, b)
	c.set(0, s)
	return err
}

func turned(s graph.Shape, batch, trans bool) graph.Shape {
	n := len(s)
	if n < 2 {
		return s
	}
	s = slices.Clone(s)
	if batch && n > 2 {
		copy(s, append(slices.Clone(s[1:n-1]), s[0]))
	}
	if trans {
		s[n-1], s[n-2] = s[n-2], s[n-1]
	}
	return s
}

func gemmOf(i, j int) operator {
	return func(c *ctx) error {
		for _, k := range []int{i, j} {
			if err := c.wantRank(k, 2); err != nil {
				return err
			}
		}
		a := turned(c.shape(i), false, c.n.Int("transA", 0) != 0)
		b := turned(c.shape(j), false, c.n.Int("transB", 0) != 0)
		if a == nil {
			a = c.freshShape(2)
		}
		if b == nil {
			b = c.freshShape(2)
		}
		s, err := c.matmul(a, b)
		c.set(0, s)
		return err
	}
}

func det(c *ctx) error {
	if err := c.wantRankAtLeast(0, 2); err != nil {
		return err
	}
	if s := c.shape(0); s != nil {
		c.set(0, slices.Clone(s[:len(s)-2]))
	}
	return nil
}

// cdist holds the distances of all pairs of rows.
func cdist(c *ctx) error {
	a, b := c.shape(0), c.shape(1)
	if len(a) == 2 && len(b) == 2 {
		c.set(0, graph.Shape{a[0], b[0]})
	}
	return nil
}
