package pattern

import "github.com/amplint/amplint/graph"

// NormKind tells the form of a normalisation.
type NormKind uint8

// The forms of normalisations.
const (
	LayerNorm NormKind = iota + 1 // of the difference from the mean over the same axes
	RMSNorm                       // of the value itself
	L2Norm                        // by the root of the sum of squares instead of the mean
)

// String returns the name of the form.
func (k NormKind) String() string {
	return [...]string{"", "layer normalisation", "rms normalisation", "l2 normalisation"}[k]
}

// Norm is a normalisation spelled out in nodes: Output = Numerator · (Coef·Sum)^(-1/2) · Scales
// + Biases + Offset, where Sum is the sum of squares of the numerator over Axes.
type Norm struct {
	Kind      NormKind
	Input     *graph.Value // what is normalised
	Output    *graph.Value // the normalised value
	Numerator *graph.Value // Input, or its difference from Mean
	Mean      *graph.Value // nil where none is subtracted
	Square    *graph.Value // the squares; nil inside ReduceL2 and ReduceSumSquare
	Var       *graph.Value // mean or sum of the squares, before ε
	Shifted   *graph.Value // after ε: what the root is taken of; Var where there is none
	Root      *graph.Value // the root, or the reciprocal root
	Eps       *graph.Value // the constant that ε comes from, nil where there is none
	EpsValue  float64      // ε, 0 where there is none
	EpsOnRoot bool         // ε stands beside the root, not below it
	EpsMax    bool         // ε bounds from below (Max, Clip) instead of being added
	Expanded  bool         // the variance is E[x²] - m²
	Floored   bool         // the variance is kept from falling below 0
	Axes      []int        // of Input
	Count     int64        // elements normalised together, 0 where not known
	Bound     float64      // of |Numerator·(Coef·Sum)^(-1/2)|, 0 where not known
	Coef      float64      // a constant factor of the output
	Scales    []*graph.Value
	Biases    []*graph.Value
	Offset    float64       // a number added to the output
	Nodes     []*graph.Node // all that belong to it, in graph order
}

// Softmax is a normalisation of non-negative values by their sum: Output = Exp / Sum, or the native
// operator, for which only Node, Input and Output are set.
type Softmax struct {
	Node   *graph.Node  // native operator, else nil
	Input  *graph.Value // the logits
	Output *graph.Value
	Max    *graph.Value // subtracted before the exponential, nil where none is
	Exp    *graph.Value
	Sum    *graph.Value
	Log    bool // the logarithm of it
	// Shifted tells of a logarithm that the maximum of each row is subtracted before that of the sum is.
	Shifted bool
	Axes    []int // of Input; nil for the native operator
	Nodes   []*graph.Node
}

// Shares is a softmax of Input along Axis, spelled as the exponential of its logarithm.
type Shares struct {
	Input, Output *graph.Value
	Axis          int
	Shifted       bool // the maximum is subtracted before the logarithm of the sum is
}

// ExpSum is Coef·Σ exp(Scale·(Input - Max)), as in log-sum-exp and softmax.
type ExpSum struct {
	Input  *graph.Value // of the exponential
	Exp    *graph.Value
	Sum    *graph.Value // nil where the operator of the logarithm sums up
	Log    *graph.Value // logarithm of the sum, nil where none is taken
	Max    *graph.Value // the maximum along the same axes that was subtracted, nil where none was
	Output *graph.Value // log-sum-exp with the maximum added back, nil where it is not
	Axes   []int
	Count  int64   // elements in a sum, 0 where not known
	Coef   float64 // above 0: 1 for a sum, 1/Count for a mean
	Scale  float64 // above 0
	sum    *reduction
}

// Shift is x - max(x): never above zero, and zero somewhere along Axes.
type Shift struct {
	Input, Max, Output *graph.Value
	Axes               []int // of Input; nil where not known
	All                bool  // over all axes
	Guarded            bool  // a maximum that is not finite was replaced
}

// Square is a value times itself.
type Square struct {
	Base, Output *graph.Value
	Node         *graph.Node
}

// RatioKind tells why the quotient of a Ratio is bounded.
type RatioKind uint8

// The kinds of ratios.
const (
	OfSum      RatioKind = iota + 1 // by the sum over the numerator: in [0, 1] where that is not negative
	OfAbs                           // by the sum of magnitudes: in [-1, 1]
	OfMax                           // by the largest magnitude: in [-1, 1]
	OfSpan                          // (x - min)/(max - min): in [0, 1]
	OfPart                          // x / (a + b - x) for 0 ≤ x ≤ a and x ≤ b: in [0, 1]
	OfTerms                         // (Σ ±t) / (Σ u), each t one of the u or smaller: in [-1, 1] where no u is negative
	OfCount                         // Σ x over a dimension without a number, divided by that dimension
	OfHarmonic                      // a·b / (a + b) for a and b that are not negative
	OfMean                          // a weighted mean: Σ w·x / Σ w lies in the hull of x and 0 for w ≥ 0
)

// Ratio is a quotient bounded by what it is made of.
type Ratio struct {
	Kind        RatioKind
	Num, Den    *graph.Value
	Output      *graph.Value
	Input       *graph.Value   // what is normalised or averaged
	Others      []*graph.Value // of OfMean: what is averaged with it
	Weights     []*graph.Value // of OfMean
	Whole       bool           // Output is one Div of the numbers that are added up in Den
	Root        bool           // of OfMean: divided by the root of the sum of weights; of OfAbs: by that of squares
	Power       float64        // of OfMean: the mean is that of this power of the input; of OfAbs: the order of the norm, 0 for 1 and 2
	Products    bool           // of OfMean: the weights are a product of matrices
	Augmented   bool           // of OfMean: the sum of the weights is a column of the same products
	Apart       bool           // of OfMean: the sum of the weights is a product of its own
	Capped      bool           // of OfMean: the weights stand squared in the numerator
	Signed      bool           // of OfTerms: the quotient may be negative
	Parts       []*graph.Value // of OfTerms and of a cosine: where none is negative, nor is the quotient
	Units       []*graph.Value // of OfTerms: what must lie in [0, 1]
	Counted     bool           // the weights select (Where) and are counted: a mean where they are 0 or at least 1
	Coef        float64        // a constant factor of the output
	Scales      []*graph.Value
	EpsValue    float64
	EpsMax      bool    // ε bounds from below instead of being added
	Terms       float64 // how many elements, each counted as often as it is, Den adds up: 1 for a mean; 0 where not known
	Count       int64   // how many elements meet in Den, 0 where not known
	Nodes       []*graph.Node
	Denominator *graph.Value // Den with ε, where that is another value
	Axes        []int        // summed over, of Num; nil where not known or all
}

// Entropy is p·(log p + Σ rest) or its negative: small where p is, though log p is not bounded.
type Entropy struct {
	P, Output *graph.Value
	Neg       bool           // the logarithm has the sign -
	Plus      []*graph.Value // added to it
	Minus     []*graph.Value // subtracted
	Log       *graph.Value   // the logarithm
	Over      *graph.Value   // where Log is log(p / Over); else nil
	Guard     float64        // where Log is log(p + Guard) or log(max(p, Guard))
	Logits    *graph.Value   // where P or Log is of Logits - log Σ exp(Logits), rounded as those are; else nil
}

// Blend is z·A + (1-z)·B: between A and B for z in [0, 1]. A and B are products.
type Blend struct {
	Weight, Output *graph.Value
	Rest           *graph.Value // what weighs B; nil where no value does
	A, B           []*graph.Value
	CoefA, CoefB   float64
}

// Mask is a constant far below zero that is added to logits, or selected in their place.
type Mask struct {
	Const   *graph.Value // the constant
	Value   float64      // its least element
	At      *graph.Node  // the Add, Sub or Where at which it meets the logits
	Softmax *graph.Node  // the Softmax, LogSoftmax or Exp that follows
}

// Logit is a product of two computed values that reaches a softmax through scale, mask and
// movement.
type Logit struct {
	MatMul  *graph.Node
	Softmax *graph.Node   // Softmax, LogSoftmax or Exp
	Scale   []*graph.Node // Mul and Div by constants between them
	Mask    []*graph.Node // Add, Sub and Where between them
	Logits  *graph.Value  // the input of Softmax
}

// Set is what was recognised in a model, each kind in graph order.
type Set struct {
	Norms     []*Norm
	Softmaxes []*Softmax
	ExpSums   []*ExpSum
	Shifts    []*Shift
	Squares   []*Square
	Ratios    []*Ratio
	Masks     []*Mask
	Logits    []*Logit
	Cancels   []*Cancel

	norms    map[*graph.Value]*Norm
	vars     map[*graph.Value]*Norm
	parts    map[*graph.Node]*Norm
	squares  map[*graph.Value]*Square
	shifts   map[*graph.Value]*Shift
	sums     map[*graph.Value]*ExpSum
	softmax  map[*graph.Value]*Softmax
	ratios   map[*graph.Value]*Ratio
	matmuls  map[*graph.Node]*Logit
	maskedBy map[*graph.Value][]*Mask
	entropy  map[*graph.Value]*Entropy
	blends   map[*graph.Value]*Blend
	gaps     map[*graph.Value]*Gap
	cancels  map[*graph.Value]*Cancel
	shares   map[*graph.Value]*Shares
	spreads  map[*graph.Value]*graph.Value
	trained  map[*graph.Node]bool

	squareSums map[*graph.Value]bool
	rotations  map[*graph.Value]*Rotation
	rises      map[*graph.Value]*graph.Value
	falls      map[*graph.Value]*graph.Value
	crests     map[*graph.Value]*Crest
	merges     map[*graph.Value]*Merge
	portions   map[*graph.Value]*Portions
	remainders map[*graph.Value]*Remainder
	centers    map[*graph.Value]*Centered

	weighedSpreads map[*graph.Value]*WeightedSpread
	copies         map[*graph.Value]*Copies
	likenesses     map[*graph.Value]*Likeness
}

// Norm returns the normalisation whose output is v, or nil.
func (s *Set) Norm(v *graph.Value) *Norm { return s.norms[v] }

// Variance returns a normalisation whose variance, or sum of squares, is v, or nil.
func (s *Set) Variance(v *graph.Value) *Norm { return s.vars[v] }

// NormOf returns the normalisation the node is a part of, or nil.
func (s *Set) NormOf(n *graph.Node) *Norm { return s.parts[n] }

// Square returns the square whose output is v, or nil.
func (s *Set) Square(v *graph.Value) *Square { return s.squares[v] }

// Shift returns the difference from the maximum that v is, or nil.
func (s *Set) Shift(v *graph.Value) *Shift { return s.shifts[v] }

// ExpSum returns the sum of exponentials of which v is the sum, the logarithm or the output, or nil.
func (s *Set) ExpSum(v *graph.Value) *ExpSum { return s.sums[v] }

// Softmax returns the softmax whose output is v, or nil.
func (s *Set) Softmax(v *graph.Value) *Softmax { return s.softmax[v] }

// Ratio returns the ratio whose output is v, or nil.
func (s *Set) Ratio(v *graph.Value) *Ratio { return s.ratios[v] }

// Entropy returns the product with a logarithm that v is, or nil.
func (s *Set) Entropy(v *graph.Value) *Entropy { return s.entropy[v] }

// Blend returns the weighted mean of two values that v is, or nil.
func (s *Set) Blend(v *graph.Value) *Blend { return s.blends[v] }

// Gap is an element of a row that is subtracted from the row's log-sum-exp: what is left is never below zero.
type Gap struct {
	Row     *graph.Value
	Picked  *graph.Value
	Label   *graph.Value // what must be one of the Classes, from 0 on, lest 0 is picked; nil where it is
	Classes int64
}

// Gap returns the difference of a log-sum-exp and an element that v is, or nil.
func (s *Set) Gap(v *graph.Value) *Gap { return s.gaps[v] }

// SquareSum tells whether v is a product of a value with itself that adds up squares.
func (s *Set) SquareSum(v *graph.Value) bool { return s.squareSums[v] }

// Rotation returns the turned pair of elements that v is, or nil.
func (s *Set) Rotation(v *graph.Value) *Rotation { return s.rotations[v] }

// Rise returns x where v is x - min(x) or max(x) - x, of a row or of several values, which is never below
// zero, or nil.
func (s *Set) Rise(v *graph.Value) *graph.Value { return s.rises[v] }

// Fall returns x where v is x - max(x, …) or min(x, …) - x, which is never above zero, or nil.
func (s *Set) Fall(v *graph.Value) *graph.Value { return s.falls[v] }

// Cancel returns the difference of squares that v is, or nil.
func (s *Set) Cancel(v *graph.Value) *Cancel { return s.cancels[v] }

// Shares returns the softmax that v is as the exponential of a log-softmax, or nil.
func (s *Set) Shares(v *graph.Value) *Shares { return s.shares[v] }

// Spread returns the value of which v is the variance, the mean square of the difference from its
// mean, or nil.
func (s *Set) Spread(v *graph.Value) *graph.Value { return s.spreads[v] }

// Trained tells whether a BatchNormalization normalises by the mean and the variance of its own input.
func (s *Set) Trained(n *graph.Node) bool { return s.trained[n] }

// Logit returns the attention or classifier logits that the node computes, or nil.
func (s *Set) Logit(n *graph.Node) *Logit { return s.matmuls[n] }

// MasksOf returns the masks whose constant is v.
func (s *Set) MasksOf(v *graph.Value) []*Mask { return s.maskedBy[v] }
