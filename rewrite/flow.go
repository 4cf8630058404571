package rewrite

// network is a flow network for a minimum cut (Dinic's algorithm). Capacities are integers, so
// the result does not depend on the machine.
type network struct {
	head  []int // first arc of a node, -1 for none
	arcs  []arc // arc i and i^1 are each other's reverse
	level []int
	at    []int
}

type arc struct {
	to, next int
	left     int64 // capacity that is left
}

// endless is a capacity that no cut can afford.
const endless = int64(1) << 50

func (w *network) node() int {
	w.head = append(w.head, -1)
	return len(w.head) - 1
}

func (w *network) arc(from, to int, capacity int64) {
	w.half(from, to, capacity)
	w.half(to, from, 0)
}

func (w *network) half(from, to int, capacity int64) {
	w.arcs = append(w.arcs, arc{to: to, next: w.head[from], left: capacity})
	w.head[from] = len(w.arcs) - 1
}

// cut sends all flow there is and returns which nodes the source still reaches: the smallest
// source side among the minimum cuts.
func (w *network) cut(source, sink int) []bool {
	for w.layers(source); w.level[sink] >= 0; w.layers(source) {
		w.at = append(w.at[:0], w.head...)
		for w.push(source, sink, endless*4) > 0 {
		}
	}
	reached := make([]bool, len(w.head))
	for i, l := range w.level {
		reached[i] = l >= 0
	}
	return reached
}

// layers numbers the nodes by their distance from the source over arcs with room.
func (w *network) layers(source int) {
	w.level = make([]int, len(w.head))
	for i := range w.level {
		w.level[i] = -1
	}
	w.level[source] = 0
	for queue := []int{source}; len(queue) > 0; queue = queue[1:] {
		for i := w.head[queue[0]]; i >= 0; i = w.arcs[i].next {
			if a := w.arcs[i]; a.left > 0 && w.level[a.to] < 0 {
				w.level[a.to] = w.level[queue[0]] + 1
				queue = append(queue, a.to)
			}
		}
	}
}

// push sends flow along one path of rising layers and returns how much.
func (w *network) push(from, sink int, most int64) int64 {
	if from == sink {
		return most
	}
	for ; w.at[from] >= 0; w.at[from] = w.arcs[w.at[from]].next {
		i := w.at[from]
		a := w.arcs[i]
		if a.left == 0 || w.level[a.to] != w.level[from]+1 {
			continue
		}
		if sent := w.push(a.to, sink, min(most, a.left)); sent > 0 {
			w.arcs[i].left -= sent
			w.arcs[i^1].left += sent
			return sent
		}
	}
	return 0
}
