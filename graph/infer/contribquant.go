package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func contribQuantOps() map[string]operator {
	return merged(
		each(broadcastAt(0, 3), "com.microsoft.QLinearAdd", "com.microsoft.QLinearMul"),
		map[string]operator{"com.microsoft.QLinearWhere": qlinearWhere, "com.microsoft.MatMulNBits": widthFromAttr,
			"com.microsoft.GatherBlockQuantized": gatherQuantized},
	)
}

// broadcastAt broadcasts two inputs; between them stand scales and zero points.
func broadcastAt(i, j int) operator {
	return func(c *ctx) error {
		s, err := c.broadcast(c.shape(i), c.shape(j))
		c.set(0, s)
		return err
	}
}

func qlinearWhere(c *ctx) error {
	s, err := c.broadcast(c.shape(1), c.shape(4))
	if err == nil {
		s, err = c.broadcast(s, c.shape(0))
	}
	c.set(0, s)
	return err
}

// widthFromAttr replaces the last axis by N, the columns of a packed weight.
func widthFromAttr(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if len(s) > 0 {
		s[len(s)-1] = c.attrDim("N")
	}
	c.set(0, s)
	c.set(1, c.shape(0))
	return nil
}

// matmulQkv projects to query, key and value at once.
func matmulQkv(c *ctx) error {
	s := c.shape(0)
	if len(s) == 0 {
		return nil
	}
	for i, name := range []string{"Nq", "Nkv", "Nkv"} {
		out := slices.Clone(s)
		out[len(out)-1] = c.attrDim(name)
		c.set(i, out)
	}
	c.set(3, s)
	return nil
}

// matmulFpQ4 reads the shape of its packed weight from input 2.
func matmulFpQ4(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if len(s) == 0 {
		return nil
	}
	s[len(s)-1] = c.fresh()
	if b := c.nums(2); len(b) == 2 {
		s[len(s)-1] = c.dim(b[1])
	}
	c.set(0, s)
	return nil
}

// gatherQuantized gathers from a table that packs several elements in a byte along its last axis.
func gatherQuantized(c *ctx) error {
	s, at := slices.Clone(c.shape(0)), c.shape(1)
	if len(s) == 0 || at == nil {
		return nil
	}
	if c.in(0).Elem == graph.Uint8 {
		per := max(8/max(c.n.Int("bits", 4), 1), 1)
		s[len(s)-1] = c.dim(mulNum(c.num(s[len(s)-1]), intNum(per)))
	}
	k, err := c.axis(c.n.Int("gather_axis", 0), len(s))
	if err != nil {
		return err
	}
	c.set(0, concatShapes(s[:k], at, s[k+1:]))
	return nil
}

func qorderedMatmul(c *ctx) error {
	s, err := c.matmul(c.shape(0), c.shape(2))
	c.set(0, s)
	return err
}
