package infer

import "github.com/amplint/amplint/graph"

func rnnOps() map[string]operator {
	return each(recurrent, "RNN", "GRU", "LSTM", "com.microsoft.DynamicQuantizeLSTM")
}

// recurrent yields all states [steps, directions, batch, hidden] and the last ones, with the batch first under
// layout 1.
func recurrent(c *ctx) error {
	for i := range 3 {
		if err := c.wantRank(i, 3); err != nil {
			return err
		}
	}
	s := c.shape(0)
	if s == nil {
		s = c.freshShape(3)
	}
	directions := graph.Dim{N: 1}
	switch c.n.Str("direction", "forward") {
	case "forward", "reverse":
	case "bidirectional":
		directions.N = 2
	default:
		return c.errorf("direction %q", c.n.Str("direction", ""))
	}
	hidden := c.fresh()
	if r := c.shape(2); r != nil && c.n.Op != "DynamicQuantizeLSTM" {
		hidden = r[2]
	}
	if n := c.n.Int("hidden_size", -1); n > 0 {
		hidden = graph.Dim{N: n}
	}
	steps, batch := s[0], s[1]
	all, last := graph.Shape{steps, directions, batch, hidden}, graph.Shape{directions, batch, hidden}
	if c.n.Int("layout", 0) != 0 {
		steps, batch = s[1], s[0]
		all, last = graph.Shape{batch, steps, directions, hidden}, graph.Shape{batch, directions, hidden}
	}
	c.set(0, all)
	c.set(1, last)
	c.set(2, last)
	return nil
}
