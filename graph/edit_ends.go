package graph

import "slices"

// MakeInput makes a value that nothing defines any more an input of the graph, of the type that it
// has.
func (g *Graph) MakeInput(v *Value) {
	g.touch()
	vi := &ValueInfo{Name: v.Name, Type: v.Type}
	v.Input, v.infos = true, append(v.infos, vi)
	g.Inputs, g.inInfos = append(g.Inputs, v), append(g.inInfos, vi)
}

// DropInput takes an input that nothing reads out of the graph.
func (g *Graph) DropInput(v *Value) {
	g.touch()
	i := slices.Index(g.Inputs, v)
	if i < 0 {
		return
	}
	g.Inputs, g.inInfos = slices.Delete(g.Inputs, i, i+1), slices.Delete(g.inInfos, i, i+1)
	v.Input = false
	g.leave(v)
}

// DropOutput takes output i out of the list. The value stays.
func (g *Graph) DropOutput(i int) {
	g.touch()
	v, vi := g.Outputs[i], g.outInfos[i]
	g.Outputs, g.outInfos = slices.Delete(g.Outputs, i, i+1), slices.Delete(g.outInfos, i, i+1)
	v.Output = slices.Contains(g.Outputs, v)
	v.infos = slices.DeleteFunc(v.infos, func(o *ValueInfo) bool { return o == vi })
}
