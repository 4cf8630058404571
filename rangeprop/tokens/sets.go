package tokens

import "sync"

// maxTables is how many tables a token may be the sum of.
const maxTables = 4

// Sets keeps sets of tokens, for analyses of one model that may go on at the same time: what one of them
// finds is the same for the others. The zero value is empty.
type Sets struct {
	mu   sync.Mutex
	list map[sums]*Set
}

// sums tells sets apart.
type sums struct {
	channels int
	tables   [maxTables]Rows
	norm     Norm
}

// Get returns the set of sums of a row of each table, which is made where there is none yet. See [NewSet].
func (s *Sets) Get(channels int, tables []Rows, norm Norm) *Set {
	k := sums{channels: channels, norm: norm}
	if copy(k.tables[:], tables) < len(tables) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	set, ok := s.list[k]
	if !ok {
		if s.list == nil {
			s.list = map[sums]*Set{}
		}
		set = NewSet(channels, tables, norm)
		s.list[k] = set
	}
	return set
}

// Release frees what sets hold of their tables.
func (s *Sets) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, set := range s.list {
		if set != nil {
			set.Release()
		}
	}
}
