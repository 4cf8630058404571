package graph

import "google.golang.org/protobuf/encoding/protowire"

// children sets a repeated message field. Elements of the source stay where they are as long as
// their order is kept: one that was removed leaves its place, new ones stand before the element
// that follows them.
func (w *message) children(num protowire.Number, list []child) {
	old := w.messages(num)
	places := placesOf(old, list)
	same := len(old) == len(list)
	for i, c := range list {
		same = same && c.same && places[i] == i
	}
	if same {
		return
	}
	ed := &edit{num: num, old: old, slots: make([]rope, len(old))}
	last := -1
	if len(old) == 0 || !increasing(places) {
		w.inTurn(ed, old, list, places)
		w.edits = append(w.edits, ed)
		return
	}
	var waiting rope
	for i, c := range list {
		waiting.rope(w.element(num, c, old, places[i]))
		if places[i] >= 0 {
			last = places[i]
			ed.slots[last], waiting = waiting, rope{}
		}
	}
	ed.rest = waiting
	w.edits = append(w.edits, ed)
}

// inTurn fills the places of the source one by one when the order of its elements changed.
func (w *message) inTurn(ed *edit, old []original, list []child, places []int) {
	for i, c := range list {
		r := w.element(ed.num, c, old, places[i])
		if i < len(old) {
			ed.slots[i] = r
		} else {
			ed.rest.rope(r)
		}
	}
}

// element is a child with its tag: the bytes of the source where nothing in it changed.
func (w *message) element(num protowire.Number, c child, old []original, place int) rope {
	if !c.same || place < 0 {
		return c.body.wrapped(num)
	}
	var r rope
	r.span(w.e.src, Span{old[place].start, old[place].stop - old[place].start})
	return r
}

// placesOf finds each child among the fields of the source, -1 for new ones.
func placesOf(old []original, list []child) []int {
	at := make(map[int64]int, len(old))
	for i, f := range old {
		at[f.at.Off] = i
	}
	places := make([]int, len(list))
	for i, c := range list {
		places[i] = -1
		if k, ok := at[c.at.Off]; ok && c.at.Off != 0 {
			places[i] = k
			delete(at, c.at.Off) // an object that stands in the list twice is copied the second time
		}
	}
	return places
}

// increasing tells whether the elements of the source are in their old order.
func increasing(places []int) bool {
	last := -1
	for _, p := range places {
		if p >= 0 && p < last {
			return false
		}
		last = max(last, p)
	}
	return true
}

// keyed sets a repeated message field whose elements have no identity but a key, such as metadata:
// an element takes the place of the first one of the source that has its key. fill sets its fields.
func (w *message) keyed(num protowire.Number, keys []string, key func(field) string, fill func(c *message, i int)) {
	old := w.messages(num)
	places := map[string][]Span{}
	for _, f := range old {
		k := key(f.field)
		places[k] = append(places[k], f.at)
	}
	list := make([]child, len(keys))
	for i, k := range keys {
		if spans := places[k]; len(spans) > 0 {
			list[i].at, places[k] = spans[0], spans[1:]
		}
		c := w.e.open(list[i].at)
		fill(c, i)
		list[i].body, list[i].same = c.done()
	}
	w.children(num, list)
}

// entries sets a list of keys and values.
func (w *message) entries(num protowire.Number, list []Entry) {
	keys := make([]string, len(list))
	for i, e := range list {
		keys[i] = e.Key
	}
	w.keyed(num, keys, func(f field) string {
		list := check(w.e, func() ([]Entry, error) { return w.e.d.entry(f, nil) })
		return append(list, Entry{})[0].Key
	}, func(c *message, i int) {
		c.str(entryKey, list[i].Key)
		c.str(entryValue, list[i].Value)
	})
}

// opsets sets a list of imports.
func (w *message) opsets(num protowire.Number, list []Opset) {
	keys := make([]string, len(list))
	for i, o := range list {
		keys[i] = o.Domain
	}
	w.keyed(num, keys, func(f field) string {
		list := check(w.e, func() ([]Opset, error) { return w.e.d.opset(f, nil) })
		return append(list, Opset{})[0].Domain
	}, func(c *message, i int) {
		c.domain(opsetDomain, list[i].Domain)
		c.number(opsetVersion, list[i].Version, true)
	})
}
