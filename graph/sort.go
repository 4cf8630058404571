package graph

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"
)

// sortNodes brings the nodes into topological order. Sorted files, nearly all, stay as they are;
// else ready nodes are taken in the order of the file, so the result is determined by the file.
func (g *Graph) sortNodes() error {
	need := g.needs()
	if sorted(need) {
		return nil
	}
	readers := make([][]int, len(g.Nodes))
	left := make([]int, len(g.Nodes))
	ready := &intHeap{}
	for i, list := range need {
		left[i] = len(list)
		for _, j := range list {
			readers[j] = append(readers[j], i)
		}
		if len(list) == 0 {
			heap.Push(ready, i)
		}
	}
	order := make([]*Node, 0, len(g.Nodes))
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		order = append(order, g.Nodes[i])
		for _, j := range readers[i] {
			if left[j]--; left[j] == 0 {
				heap.Push(ready, j)
			}
		}
	}
	if len(order) < len(g.Nodes) {
		return g.cycle(need, left)
	}
	g.fileOrder, g.order, g.Nodes = g.Nodes, slices.Clone(order), order
	for i, n := range order {
		n.Index = i
	}
	if g.Kind != CallGraph {
		g.Model.Notes = append(g.Model.Notes, fmt.Sprintf("graph %q: nodes were not in topological order and have been sorted", g.Name))
	}
	return nil
}

func sorted(need [][]int) bool {
	for i, list := range need {
		for _, j := range list {
			if j >= i {
				return false
			}
		}
	}
	return true
}

// needs lists, for each node, the nodes of this graph whose outputs it or its subgraphs read.
func (g *Graph) needs() [][]int {
	need := make([][]int, len(g.Nodes))
	for i, n := range g.Nodes {
		seen := map[int]bool{}
		n.Reads(g, func(v *Value) {
			if p := v.Producer; p != nil && !seen[p.Index] {
				seen[p.Index] = true
				need[i] = append(need[i], p.Index)
			}
		})
	}
	return need
}

// Reads calls f with every value of scope g that the node reads, captures of its subgraphs too.
func (n *Node) Reads(g *Graph, f func(*Value)) {
	for _, v := range n.Inputs {
		if v != nil && v.Graph == g {
			f(v)
		}
	}
	for _, s := range n.Subgraphs() {
		if s.Kind == CallGraph {
			continue // a function sees only its inputs
		}
		for _, m := range s.Nodes {
			m.Reads(g, f)
		}
		for _, v := range s.Outputs {
			if v != nil && v.Graph == g {
				f(v)
			}
		}
	}
}

// cycle describes one cycle among the nodes that could not be ordered.
func (g *Graph) cycle(need [][]int, left []int) error {
	at := 0
	for left[at] == 0 {
		at++
	}
	seen := map[int]int{}
	var path []int
	for {
		if start, ok := seen[at]; ok {
			path = path[start:]
			break
		}
		seen[at] = len(path)
		path = append(path, at)
		for _, j := range need[at] {
			if left[j] > 0 {
				at = j
				break
			}
		}
	}
	var names []string
	for i := len(path) - 1; i >= 0; i-- {
		names = append(names, g.Nodes[path[i]].place())
	}
	if len(names) > 6 {
		names = append(names[:5], fmt.Sprintf("%d more", len(names)-5))
	}
	return fmt.Errorf("graph %q has a cycle: %s", g.Name, strings.Join(names, " > "))
}

type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *intHeap) Pop() any {
	x := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return x
}
