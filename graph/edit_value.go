package graph

import (
	"slices"
	"strconv"
)

// dropUse removes one use.
func (v *Value) dropUse(u Use) {
	if i := slices.Index(v.Uses, u); i >= 0 {
		v.Uses = slices.Delete(v.Uses, i, i+1)
	}
}

// ReplaceUses makes the readers of v read by instead, all but those that keep, where it is given,
// returns true for. Outputs of graphs are no uses: see [Graph.SetOutput].
func (v *Value) ReplaceUses(by *Value, keep func(Use) bool) {
	for _, u := range slices.Clone(v.Uses) {
		if keep == nil || !keep(u) {
			u.Node.SetInput(u.Index, by)
		}
	}
}

// SetInit makes v an initializer, or gives it another tensor. Declarations of v follow the type.
func (v *Value) SetInit(t *Tensor) {
	v.Graph.touch()
	if v.Init == nil {
		v.Graph.inits = append(v.Graph.inits, v)
	}
	if v.Sparse != nil {
		v.Graph.sparse = slices.DeleteFunc(v.Graph.sparse, func(s *SparseInit) bool { return s == v.Sparse })
		v.Sparse = nil
	}
	if t.Name != v.Name {
		t = t.renamed(v.Name)
	}
	if v.Init, v.Const = t, t; v.Type.Kind != KindTensor || v.Type.Elem != t.Elem || v.Type.Shape == nil || !v.Input {
		v.Declare(t.Type())
	}
}

// Declare sets the type of v, and that of every entry of input, output and value_info that names
// it. It adds no entry.
func (v *Value) Declare(t Type) {
	v.Type = t
	if len(v.infos) > 0 {
		v.Graph.touch()
	}
	for _, vi := range v.infos {
		vi.Type = t
	}
}

// SetElem changes the element type of v, inside a sequence or optional too, and that of every entry
// of input, output and value_info that names it. The shapes stay as they are declared.
func (v *Value) SetElem(e ElemType) {
	v.Type = v.Type.withElem(e)
	if len(v.infos) > 0 {
		v.Graph.touch()
	}
	for _, vi := range v.infos {
		vi.Type = vi.Type.withElem(e)
	}
}

// Declared tells whether an entry of input, output or value_info names v.
func (v *Value) Declared() bool { return len(v.infos) > 0 }

// DropInfo removes the entries of value_info that name v. What the graph declares as its input or
// output stays.
func (v *Value) DropInfo() {
	g := v.Graph
	g.touch()
	own := func(vi *ValueInfo) bool {
		return slices.Contains(v.infos, vi) && !slices.Contains(g.inInfos, vi) && !slices.Contains(g.outInfos, vi)
	}
	g.infos = slices.DeleteFunc(g.infos, own)
	v.infos = slices.DeleteFunc(v.infos, func(vi *ValueInfo) bool {
		return !slices.Contains(g.inInfos, vi) && !slices.Contains(g.outInfos, vi)
	})
}

// Rename gives v a name that no other value of the scope has, in its declarations too. Readers in
// other scopes follow, as they refer to the value and not to its name.
func (v *Value) Rename(name string) {
	g := v.Graph
	g.touch()
	if g.byName[v.Name] == v {
		delete(g.byName, v.Name)
	}
	v.Name, g.byName[name] = name, v
	g.Model.take(name)
	for _, vi := range v.infos {
		vi.Name = name
	}
	if v.Init != nil {
		if v.Const == v.Init {
			v.Const = v.Init.renamed(name)
			v.Init = v.Const
		} else {
			v.Init = v.Init.renamed(name)
		}
	}
	if v.Sparse != nil {
		s := &SparseInit{Values: v.Sparse.Values.renamed(name), Indices: v.Sparse.Indices, Dims: v.Sparse.Dims, at: v.Sparse.at}
		g.sparse[slices.Index(g.sparse, v.Sparse)], v.Sparse = s, s
	}
}

// renamed returns the tensor under another name. Tensors are shared between models and never
// changed.
func (t *Tensor) renamed(name string) *Tensor {
	return &Tensor{Name: name, Elem: t.Elem, Dims: t.Dims, Doc: t.Doc, External: t.External, at: t.at, src: t.src, model: t.model,
		raw: t.raw, lists: t.lists, mem: t.mem, strings: t.strings, from: t.from, saturate: t.saturate, scaled: t.scaled}
}

// Unique returns base where no value and no node of the model has that name, else base with a
// number; it will not return the same name again.
func (m *Model) Unique(base string) string {
	if m.names == nil {
		m.collectNames()
	}
	name := base
	for m.names[name] || name == "" {
		m.numbers[base]++
		name = base + "_" + strconv.Itoa(m.numbers[base])
	}
	m.names[name] = true
	return name
}

// take notes that a name is in use.
func (m *Model) take(name string) {
	if m.names != nil && name != "" {
		m.names[name] = true
	}
}

func (m *Model) collectNames() {
	m.names, m.numbers = map[string]bool{}, map[string]int{}
	collect := func(g *Graph) bool {
		for _, v := range g.Values {
			m.names[v.Name] = true
		}
		for _, vi := range g.infos {
			m.names[vi.Name] = true
		}
		for _, n := range g.Nodes {
			m.names[n.Name] = true
		}
		return true
	}
	m.Graph.walk(collect)
	for _, f := range m.Functions {
		f.Body.walk(collect)
	}
}

// SetOpset sets the version of a domain that the model imports, and adds the import where there
// is none. Functions import their own.
func (m *Model) SetOpset(domain string, version int64) {
	if domain == "ai.onnx" {
		domain = ""
	}
	found := false
	for i := range m.Opsets { // some exporters import a domain twice
		if m.Opsets[i].Domain == domain {
			m.Opsets[i].Version, found = version, true
		}
	}
	if !found {
		m.Opsets = append(m.Opsets, Opset{domain, version})
	}
}
