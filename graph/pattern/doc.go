// Package pattern recognises what groups of nodes mean: a normalisation, a softmax, a mask, the
// logits of an attention, in whatever spelling an exporter wrote them.
//
// Recognition is by a small algebra, not by templates. A value is read as a product of powers
// (Mul, Div, Sqrt, Reciprocal, Pow, Neg) and as a sum of products (Add, Sub); equal values are
// recognised by value numbering; nodes that change no number (Identity, Cast between float types,
// Dropout) are looked through. A normalisation is then any product d · (mean(d²) + ε)^(-1/2),
// whichever nodes spell it.
//
// Find reads types and constants as graph/infer left them; without shapes less is recognised.
package pattern
