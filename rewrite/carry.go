package rewrite

import (
	"strings"

	"github.com/amplint/amplint/graph"
)

// carryOut makes the changes: first what stands alone (constants, types), then the edges, casts
// last, when it is settled what they read.
func (w *worker) carryOut(b *builder, ch *changes) error {
	clamps := w.clamps(b)
	for _, c := range ch.consts {
		if err := w.convert(c, clamps[c.v]); err != nil {
			return err
		}
	}
	makes := make([]graph.ElemType, len(ch.makers))
	for i, n := range ch.makers {
		makes[i] = b.elemAfter(ch, n.Out(0))
	}
	for _, r := range ch.retyped {
		r.v.SetElem(r.elem)
	}
	for i, n := range ch.makers {
		if n.Op == "ConstantOfShape" && clamps[n.Out(0)] != nil {
			clampFill(n, clamps[n.Out(0)])
		}
		setType(n, makes[i])
	}
	w.sum.Retargeted += len(ch.makers)
	w.edges(b, ch)
	if w.plan.Strategy == Mixed {
		w.foldCasts()
		w.dropNoops()
		w.mergeCasts()
	}
	return nil
}

func (w *worker) edges(b *builder, ch *changes) {
	found := make([]*graph.Value, len(ch.casts))
	for i, c := range ch.casts {
		found[i] = c.existing(ch)
	}
	for _, n := range ch.noops {
		n.Out(0).ReplaceUses(n.In(0), nil)
		n.Graph.Remove(n)
	}
	w.sum.Removed += len(ch.noops)
	for _, r := range ch.rewires {
		r.at.node.SetInput(r.at.index, r.v)
	}
	for i, c := range ch.casts {
		if found[i] != nil {
			c.connect(found[i])
			continue
		}
		w.cast(c)
	}
}

// connect makes the places of the point read v.
func (c *castPoint) connect(v *graph.Value) {
	for _, p := range c.places {
		p.set(v)
	}
}

func (p place) set(v *graph.Value) {
	if p.node != nil {
		p.node.SetInput(p.index, v)
		return
	}
	p.graph.SetOutput(p.index, v)
}

// cast inserts a Cast node. Where an output of the model is among the places, the result takes its
// name and the value inside gets another one.
func (w *worker) cast(c *castPoint) {
	suffix := "_" + c.elem.String()
	base, output := c.v.Name, c.modelOutput()
	if output {
		c.v.DropInfo() // some files contradict what they declare of the output; now it would count
		c.v.Rename(w.m.Unique(base + "_" + elemOf(c.v.Type).String()))
	} else {
		base = w.m.Unique(base + suffix)
	}
	typ := c.resultType()
	n := c.scope.NewNode("Cast", "", w.nodeName(c.scope, base))
	n.AddInput(c.v)
	n.SetAttr(&graph.Attr{Name: "to", Type: graph.AttrInt, I: int64(c.elem)})
	out := n.AddOutput(base, typ)
	if c.scope == c.v.Graph {
		w.follow(c.scope, c.v.Producer, n)
	} else {
		c.scope.InsertBefore(nil, n)
	}
	c.connect(out)
	w.sum.Casts++
}

// resultType returns the type of the cast's result: as declared where it is an output of a graph.
func (c *castPoint) resultType() graph.Type {
	for _, p := range c.places {
		if p.node != nil {
			continue
		}
		if t := p.graph.OutputInfos()[p.index].Type; elemOf(t) != graph.Undefined {
			return withElem(t, c.elem)
		}
	}
	return withElem(c.v.Type, c.elem)
}

// anchor is a place for casts: behind a node, or at the beginning of a graph where node is nil.
type anchor struct {
	g    *graph.Graph
	node *graph.Node
}

// follow inserts a cast behind the node and the casts that were put there before.
func (w *worker) follow(g *graph.Graph, node, n *graph.Node) {
	at := anchor{g, node}
	if last := w.last[at]; last != nil {
		node = last
	}
	g.InsertAfter(node, n)
	w.last[at] = n
}

func (c *castPoint) modelOutput() bool {
	for _, p := range c.places {
		if p.node == nil && p.graph.Owner == nil {
			return true
		}
	}
	return false
}

// nodeName names a cast by its result; where the graph's nodes have no names it has none either.
func (w *worker) nodeName(g *graph.Graph, result string) string { return w.named(g, "cast", result) }

func (w *worker) named(g *graph.Graph, what, result string) string {
	for _, n := range g.Nodes {
		if n.Name != "" {
			return w.m.Unique(what + "/" + strings.TrimPrefix(result, "/"))
		}
	}
	return ""
}
