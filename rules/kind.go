package rules

import "slices"

// Severity grades a finding. The zero value is the mildest.
type Severity uint8

// The severities, mildest first.
const (
	Note Severity = iota
	Warning
	Error
)

var severityNames = [...]string{"note", "warning", "error"}

// String returns "note", "warning" or "error".
func (s Severity) String() string { return severityNames[s] }

// ParseSeverity reads what String returns.
func ParseSeverity(s string) (Severity, bool) {
	i := slices.Index(severityNames[:], s)
	return Severity(max(i, 0)), i >= 0
}

// Kind tells what happens to the number at the place of a finding.
type Kind uint8

// The kinds of the report format. Invalid is for findings on the structure of the model.
const (
	Invalid Kind = iota
	Overflow
	Underflow
	NaN
	PrecisionLoss
	Swamping
	IndexExactness
)

var kindNames = [...]string{"invalid", "overflow", "underflow", "nan", "precision-loss", "swamping", "index-exactness"}

// String returns the kind as reports write it, such as "precision-loss".
func (k Kind) String() string { return kindNames[k] }

// Evidence tells how a finding is known.
type Evidence uint8

// The kinds of evidence, weakest first.
const (
	Unproved Evidence = iota // a sound bound passes the limit: not excluded
	Near                     // expected values come close to the limit
	Kernel                   // depends on how the kernel accumulates, or on flush to zero
	Likely                   // a sound bound passes the limit where real models do
	Observed                 // the user's data do
	Witness                  // an input inside the declared ranges does
	Always                   // the sound bound leaves no other outcome
	Constant                 // a constant of the file is another number in the format
)

var evidenceNames = [...]string{"unproved", "near", "kernel", "likely", "observed", "witness", "always", "constant"}

// String returns the evidence as reports write it.
func (e Evidence) String() string { return evidenceNames[e] }

// Depends tells which property of a kernel decides whether a finding of evidence [Kernel] comes true.
type Depends uint8

// The properties.
const (
	OnInternals    Depends = iota // whether the operator computes in float32 inside
	OnAccumulation                // whether sums are kept in float32
	OnFlush                       // whether subnormal numbers are turned into 0
)

// The consequences a finding may have; "" where nothing is known of what follows.
const (
	Absorbed = "absorbed" // the output stays right
	Silent   = "silent"   // the output is finite and wrong
	Visible  = "visible"  // Inf or NaN reaches the output
)

// grade returns the severity that evidence and consequence give.
func grade(e Evidence, consequence string) Severity {
	switch {
	case consequence == Absorbed:
		return Note
	case e >= Observed:
		return Error
	case e >= Kernel:
		return Warning
	}
	return Note
}
