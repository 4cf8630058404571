// Package trace runs models on samples and watches what low precision does to every value: beside
// the run in the target's formats goes one in FP32, and the two are compared node by node. What it
// finds is kept as a bundle that replays.
package trace
