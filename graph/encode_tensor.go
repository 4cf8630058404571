package graph

import "strconv"

// ownTensor is a tensor under its own name.
func (e *encoder) ownTensor(t *Tensor) child { return e.tensorChild(t, t.Name) }

// tensorChild encodes a tensor under a name. Its elements are the last thing looked at: they are
// copied as they stand, converted while they are written, or left where they are outside.
func (e *encoder) tensorChild(t *Tensor, name string) child {
	at := t.at
	if t.src != e.src {
		at = Span{} // of another model
	}
	w := e.open(at)
	w.ints(tensorDims, t.Dims)
	w.number(tensorDataType, int64(t.Elem), false)
	w.str(tensorName, name)
	w.str(tensorDoc, t.Doc)
	place, moved := e.places[t]
	switch {
	case moved:
		w.drop(tensorFloatData, tensorInt32Data, tensorStringData, tensorInt64Data, tensorRawData, tensorDoubleData, tensorUint64Data)
		w.outside(relocated(t.External, place))
	case t.from == nil && !w.fresh(): // as it was
	case t.from == nil && t.External != nil:
		w.outside(t.External)
	default:
		e.inside(w, t)
	}
	body, same := w.done()
	return child{at, body, same}
}

// inside writes the elements into the tensor.
func (e *encoder) inside(w *message, t *Tensor) {
	w.drop(tensorFloatData, tensorInt32Data, tensorInt64Data, tensorDoubleData, tensorUint64Data, tensorExternal, tensorLocation)
	if t.Elem == String {
		w.strs(tensorStringData, check(e, t.Strings))
		return
	}
	var data rope
	data.tensor(t)
	w.replace(tensorRawData, w.messages(tensorRawData), data.wrapped(tensorRawData))
}

// outside refers to a file for the elements.
func (w *message) outside(place []Entry) {
	w.entries(tensorExternal, place)
	w.number(tensorLocation, 1, false)
}

// relocated returns the entries of external_data for another place. A checksum would be that of
// the old bytes.
func relocated(old []Entry, p Place) []Entry {
	list := []Entry{
		{"location", p.Location},
		{"offset", strconv.FormatInt(p.Offset, 10)},
		{"length", strconv.FormatInt(p.Length, 10)},
	}
	for _, e := range old {
		switch e.Key {
		case "location", "offset", "length", "checksum":
		default:
			list = append(list, e)
		}
	}
	return list
}
