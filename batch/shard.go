package batch

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is one of several parts of a run. The zero value is the whole.
type Shard struct{ Index, Count int }

// indexVariable is where Kubernetes tells a pod of an Indexed Job which it is.
const indexVariable = "JOB_COMPLETION_INDEX"

// ParseShard reads I/N, of which I counts from 0. /N takes it from the environment of a Kubernetes
// Indexed Job.
func ParseShard(s string, getenv func(string) string) (Shard, error) {
	if s == "" {
		return Shard{}, nil
	}
	index, count, ok := strings.Cut(s, "/")
	if ok && index == "" {
		if index = getenv(indexVariable); index == "" {
			return Shard{}, fmt.Errorf("%q leaves the index to %s, which is not set", s, indexVariable)
		}
	}
	i, errI := strconv.Atoi(index)
	n, errN := strconv.Atoi(count)
	if !ok || errI != nil || errN != nil {
		return Shard{}, fmt.Errorf("%q is not I/N", s)
	}
	if i < 0 || i >= n {
		return Shard{}, fmt.Errorf("%q: the index counts from 0 to %d", s, n-1)
	}
	return Shard{i, n}, nil
}

// Positions returns which of n models the shard takes: every Count-th, so that large neighbours of a
// folder come to different machines.
func (s Shard) Positions(n int) []int {
	list := []int{}
	for i := s.Index; i < n; i += max(s.Count, 1) {
		list = append(list, i)
	}
	return list
}
