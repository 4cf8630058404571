package graph

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
)

// tensors yields every tensor of the written model: initializers and attributes, in branches,
// bodies and functions too.
func (m *Model) tensors() iter.Seq[*Tensor] {
	return func(yield func(*Tensor) bool) {
		stopped := false
		visit := func(list ...*Tensor) {
			for _, t := range list {
				stopped = stopped || t != nil && !yield(t)
			}
		}
		visitSparse := func(s *SparseInit) {
			if s != nil {
				visit(s.Values, s.Indices)
			}
		}
		each := func(g *Graph) {
			for _, v := range g.inits {
				visit(v.Init)
			}
			for _, s := range g.sparse {
				visitSparse(s)
			}
			for _, n := range g.Nodes {
				for _, a := range n.Attrs {
					visit(a.Tensor)
					visit(a.Tensors...)
					visitSparse(a.Sparse)
				}
			}
		}
		m.Graph.walkBranches(each)
		for _, f := range m.Functions {
			f.Body.walkBranches(each)
		}
	}
}

// external is a tensor whose elements lie outside, and where.
type external struct {
	t     *Tensor
	place Place // of the input
}

// planSave decides which files are written.
func (m *Model) planSave(path string, opt SaveOptions) (*savePlan, error) {
	p, list, err := m.layOut(path, opt)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	r, err := m.encode(p.places)
	if err == nil && r.n > maxProto && (m.src == nil || r.n > m.src.size) {
		p.spill(m, p.dataName(name, list))
		r, err = m.encode(p.places)
	}
	p.files = append(p.files, saveFile{name: name, rope: r})
	return p, err
}

// layOut decides where the tensors outside the model go.
func (m *Model) layOut(path string, opt SaveOptions) (*savePlan, []external, error) {
	p := &savePlan{dir: filepath.Dir(path), places: map[*Tensor]Place{}}
	list, err := m.externals()
	if err != nil {
		return nil, nil, err
	}
	for _, x := range list {
		if sameFile(path, m.beside(x.place)) {
			return nil, nil, fmt.Errorf("it is the external data of the input, %s", x.place.Location)
		}
	}
	inPlace := opt.InPlace && sameFile(path, m.Path)
	switch {
	case len(list) == 0:
	case inPlace || !m.touches(list, path):
		p.keepLayout(m, list, inPlace)
	default:
		p.relocate(p.dataName(filepath.Base(path), list), list)
	}
	return p, list, nil
}

// externals lists the tensors outside, by file in order of appearance and by offset.
func (m *Model) externals() ([]external, error) {
	var list []external
	order := map[string]int{}
	for t := range m.tensors() {
		if t.External == nil {
			continue
		}
		place, err := t.ExternalPlace()
		if err != nil {
			return nil, t.wrap(err)
		}
		file := filepath.Clean(place.Location)
		if _, ok := order[file]; !ok {
			order[file] = len(order)
		}
		list = append(list, external{t, place})
	}
	slices.SortStableFunc(list, func(a, b external) int {
		return cmp.Or(cmp.Compare(order[filepath.Clean(a.place.Location)], order[filepath.Clean(b.place.Location)]),
			cmp.Compare(a.place.Offset, b.place.Offset))
	})
	return list, nil
}

// ExternalFiles lists the paths of the files that the model's external data lie in.
func (m *Model) ExternalFiles() ([]string, error) {
	list, err := m.externals()
	if err != nil {
		return nil, err
	}
	files := locations(list)
	for i, f := range files {
		files[i] = filepath.Join(m.Dir, f)
	}
	return files, nil
}

// beside returns the path of a file of external data.
func (m *Model) beside(p Place) string { return filepath.Join(m.Dir, p.Location) }

// touches tells whether writing beside path under the old names would touch the input's files, or
// path itself.
func (m *Model) touches(list []external, path string) bool {
	var own []os.FileInfo
	files := locations(list)
	for _, file := range append(files, filepath.Base(m.Path)) {
		if st, err := os.Stat(filepath.Join(m.Dir, file)); err == nil {
			own = append(own, st)
		}
	}
	for _, file := range files {
		target := filepath.Join(filepath.Dir(path), file)
		st, err := os.Stat(target)
		isOwn := func(o os.FileInfo) bool { return err == nil && os.SameFile(st, o) }
		if target == filepath.Clean(path) || slices.ContainsFunc(own, isOwn) {
			return true
		}
	}
	return false
}

// locations returns the files of external data, each once.
func locations(list []external) []string {
	var files []string
	for _, x := range list {
		if file := filepath.Clean(x.place.Location); !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// dataName returns a name for one file of external data: none of the input's and none of those
// that are written already.
func (p *savePlan) dataName(base string, list []external) string {
	taken := locations(list)
	for _, f := range p.files {
		taken = append(taken, f.name)
	}
	name := base + ".data"
	for i := 1; slices.Contains(taken, name); i++ {
		name = fmt.Sprintf("%s.%d.data", base, i)
	}
	return name
}

// keepLayout writes each file under its old name: as it is where none of its tensors was
// converted, else with its tensors moved together.
func (p *savePlan) keepLayout(m *Model, list []external, inPlace bool) {
	for len(list) > 0 {
		file := filepath.Clean(list[0].place.Location)
		n := 0
		converted := false
		for n < len(list) && filepath.Clean(list[n].place.Location) == file {
			converted = converted || list[n].t.from != nil
			n++
		}
		group := list[:n]
		list = list[n:]
		switch {
		case converted:
			p.relocate(file, group)
		case !inPlace:
			p.files = append(p.files, saveFile{name: file, open: func() (rope, func() error, error) { return m.wholeFile(file) }})
		}
	}
}

// wholeFile returns a file of external data as it is, with what no tensor refers to.
func (m *Model) wholeFile(file string) (r rope, shut func() error, err error) {
	root, err := os.OpenRoot(m.Dir)
	if err != nil {
		return r, nil, err
	}
	defer root.Close()
	st, err := root.Stat(file)
	switch {
	case err != nil:
		return r, nil, err
	case !st.Mode().IsRegular():
		return r, nil, fmt.Errorf("external data %s is no regular file", file)
	}
	f, err := root.Open(file)
	if err != nil {
		return r, nil, err
	}
	r.span(&Source{r: f, size: st.Size()}, Span{0, st.Size()})
	return r, f.Close, nil
}

// relocate lays tensors one after the other into a file. Tensors that shared their bytes share
// them again.
func (p *savePlan) relocate(file string, list []external) {
	type key struct {
		place    Place
		elem     ElemType
		saturate bool
	}
	done := map[key]Place{}
	var at int64
	var pieces []external
	for _, x := range list {
		k := key{x.place, x.t.Elem, x.t.saturate}
		k.place.Location, k.place.Length = filepath.Clean(x.place.Location), x.t.RawLen()
		place, ok := done[k]
		if !ok {
			a := alignment(x)
			at = (at + a - 1) / a * a
			place = Place{filepath.ToSlash(file), at, x.t.RawLen()}
			at += place.Length
			pieces = append(pieces, external{x.t, place})
			done[k] = place
		}
		p.places[x.t] = place
	}
	p.files = append(p.files, saveFile{name: file, rope: laidOut(pieces)})
}

// page is the alignment that lets a reader map a tensor into memory.
const page = 4096

// alignment returns how an offset was aligned, up to a page. Zero does not tell: then large
// tensors get a page.
func alignment(x external) int64 {
	switch off := x.place.Offset; {
	case off != 0:
		return min(page, int64(1)<<bits.TrailingZeros64(uint64(off)))
	case x.t.RawLen() >= page:
		return page
	}
	return 64
}

// laidOut returns tensors at their places, with zeros between.
func laidOut(pieces []external) (r rope) {
	for _, x := range pieces {
		r.bytes(make([]byte, x.place.Offset-r.n))
		r.tensor(x.t)
	}
	return r
}

// spillFrom is the size from which initializers leave a model that has become too large.
const spillFrom = 1 << 20

// spill puts large initializers outside, as the model would not fit in a protobuf message.
func (p *savePlan) spill(m *Model, file string) {
	var list []external
	m.Graph.walkBranches(func(g *Graph) {
		for _, v := range g.inits {
			if t := v.Init; t.External == nil && t.RawLen() >= spillFrom {
				list = append(list, external{t, Place{Location: "\x00" + v.Name}}) // nothing to share with
			}
		}
	})
	if len(list) > 0 {
		p.relocate(file, list)
	}
}
