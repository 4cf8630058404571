package cmd

import (
	"cmp"
	"slices"
	"strings"
)

// nearest returns up to three names that a mistyped one may stand for, the likeliest first.
func nearest(typed string, names []string) []string {
	type scored struct {
		name string
		far  int
	}
	var list []scored
	for _, n := range names {
		far := distance(strings.ToLower(typed), n)
		switch {
		case strings.Contains(n, strings.ToLower(typed)) && len(typed) > 2:
			far = 1
		case far > max(len(typed), len(n))/2:
			continue
		}
		list = append(list, scored{n, far})
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(a.far, b.far) })
	var out []string
	for _, s := range list[:min(3, len(list))] {
		out = append(out, s.name)
	}
	return out
}

// distance counts the letters to add, leave out or change to make b of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}

// meant asks whether a mistyped name stands for one of those near it, else tells where they are
// listed.
func meant(typed string, names []string, listed string) string {
	if near := nearest(typed, names); len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	return listed
}
