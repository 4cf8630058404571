//go:build !amd64 || noasm

package kern

import "github.com/amplint/amplint/numfmt"

// supported is the highest level this processor has.
func supported() Level { return Go }

// Each of these does as much from the front as the level has assembly for, and returns how much
// that was.

func (Level) sweep(Sum, []float32, []float32, []int, []float32) int                      { return 0 }
func (Level) round(numfmt.Format, bool, []float32) int                                   { return 0 }
func (Level) binary(op, []float32, []float32, []float32) int                             { return 0 }
func (Level) clip([]float32, []float32, float32, float32) int                            { return 0 }
func (Level) exp([]float32, []float32, float32) int                                      { return 0 }
func (Level) rational(*form, []float32, []float32) int                                   { return 0 }
func (Level) sum(*lanes, []float32) int                                                  { return 0 }
func (Level) squares(*lanes, []float32, float32) int                                     { return 0 }
func (Level) max(*lanes, []float32) int                                                  { return 0 }
func (Level) stats(*counts, []float32) int                                               { return 0 }
func (Level) scalar(op, []float32, []float32, float32) int                               { return 0 }
func (Level) sigmoid([]float32, []float32) int                                           { return 0 }
func (Level) normalize([]float32, []float32, []float32, []float32, float32, float32) int { return 0 }
func (Level) total(s *lanes) float32                                                     { return s.total() }
func (Level) top(s *lanes) float32                                                       { return s.top() }
func (Level) dots([]float64, []float64, []float64, []float64, float64, float64) int      { return 0 }
func (Level) extremes([]float64, []float64, []float64) int                               { return 0 }
func (Level) least(least float64, _ []float64) (float64, bool, int)                      { return least, false, 0 }
func (Level) doubles([]float64, []float32) int                                           { return 0 }

func (Level) dotRows(*RowSums, []float32, []float64, []float64, []float64) int { return 0 }
func (Level) extremeRows(_, _, _ []float32) int                                { return 0 }
