// Package minimize cuts a model down to the smallest part that still shows a finding: first to the
// surroundings of a node, then node by node, and then its shapes and numbers. Whether a part still
// fails is for the caller to say.
package minimize
