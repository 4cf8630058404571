// Package walk finds the way between the values of a graph as rules see them: over the borders of
// function calls and branches, through nodes that only move or pass on elements, and to the numbers
// of constants.
package walk
