package rangeprop

import "math"

// A function such as ReLU, GELU or SiLU is half of its argument and, above that, about half of its
// argument's magnitude. Taken as a function of slope 1 at most, it lets a sum under weights be the norm of
// its arguments times that of the weights. But the first half of it adds up as the argument does, and
// the second never falls below 0: only weights of one sign count for one end of the sum.

// kink tells of a function f that
//
//	f(y) = slope·y + r,  -below ≤ r ≤ more·|y| + above,  f(y) ≥ i/2·slope·y - lows[i]
type kink struct {
	slope, more, below, above float64
	lows                      [5]float64
}

// kink returns the bend of the function that the pieces hold; ok is false for functions without one.
func (p *pieces) kink() (k kink, ok bool) {
	if p == nil || p.seed == nil || len(p.seed.lo) != len(p.v.lo) || p.v.special() {
		return kink{}, false
	}
	n, h := len(p.seed.lo), p.v.Hull()
	low, high := p.seed.lo[0], p.seed.hi[n-1]
	if low >= 0 || high <= 0 || !h.Bounded() {
		return kink{}, false
	}
	left, right := p.v.lo[0]/low, p.v.hi[n-1]/high
	k = kink{slope: (left + right) / 2, more: (right - left) / 2}
	for i := range p.seed.lo {
		y := p.seed.at(i)
		r := add(p.v.at(i), y.scale(-k.slope))
		least := math.Max(math.Max(y.Lo, -y.Hi), 0)
		k.above, k.below = math.Max(k.above, r.Hi-k.more*least), math.Max(k.below, -r.Lo)
		for j := range k.lows {
			k.lows[j] = math.Max(k.lows[j], -add(p.v.at(i), y.scale(-float64(j)/2*k.slope)).Lo)
		}
	}
	return k, k.more > 0 && k.above+k.below <= (h.Hi-h.Lo)/8
}

// sides are sums over the rows of a matrix, for each of its columns.
type sides struct {
	center, image         []float64 // of w·c and w·p
	centers, images, ones []float64 // of |w||c|, |w||p| and |w|
	tiltC, tiltP, tilt    []float64 // of w|c|, w|p| and w
	squares, bends        []float64 // of w² and w|w|, of w times the unit
}

func newSides(n int) *sides {
	x := make([][]float64, 10)
	for i := range x {
		x[i] = make([]float64, n)
	}
	return &sides{x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9]}
}

// add takes a row whose element of the center is c, of the image p, and whose unit is d.
func (s *sides) add(row []float32, c, p, d float64) {
	n := len(row)
	center, image, centers, images, ones := s.center[:n], s.image[:n], s.centers[:n], s.images[:n], s.ones[:n]
	tiltC, tiltP, tilt, squares, bends := s.tiltC[:n], s.tiltP[:n], s.tilt[:n], s.squares[:n], s.bends[:n]
	ac, ap, dd := math.Abs(c), math.Abs(p), d*d
	for j, e := range row {
		w := float64(e)
		a := math.Abs(w)
		center[j] += w * c
		image[j] += w * p
		centers[j] += a * ac
		images[j] += a * ap
		ones[j] += a
		tiltC[j] += w * ac
		tiltP[j] += w * ap
		tilt[j] += w
		squares[j] += w * w * d * d
		bends[j] += w * a * dd
	}
}

// bent bounds the sums of f of the elements of a ball under the columns of w, which has a row for each
// of them, from below and from above.
// Every unit of u beside the leading direction moves an element under a positive weight by slope + more
// of what the element moves, one under a negative weight by slope.
func (b *ball) bent(k kink, w *matrix) (lo, hi []float64) {
	radius, tail := b.radius[0], 1.0
	image, diag := make([]float64, b.n()), b.diag
	switch {
	case b.groups > 1:
		radius, diag = b.spread(), nil
	case b.m != nil:
		l := b.m.leading()
		image, tail, diag = l.image, l.tail, nil
	}
	s := newSides(w.cols)
	for i, c := range b.center {
		d := 1.0
		if diag != nil {
			d = diag[i]
		}
		s.add(w.a[i*w.cols:(i+1)*w.cols], c, image[i], d)
	}
	lo, hi = make([]float64, w.cols), make([]float64, w.cols)
	for j, norm := range w.columns() {
		mid, lost := k.slope*s.center[j], b.loss*norm*(math.Abs(k.slope)+k.more)*grow
		lo[j], hi[j] = mid-(k.end(s, j, -1, radius, tail)+lost), mid+(k.end(s, j, 1, radius, tail)+lost)
	}
	return lo, hi
}

// end is how far sum j may lie above that of slope times the center, or for sign -1 below.
func (k kink) end(s *sides, j int, sign, radius, tail float64) float64 {
	plus := func(all, tilt []float64) float64 { return (all[j] + sign*tilt[j]) / 2 }
	minus := func(all, tilt []float64) float64 { return (all[j] - sign*tilt[j]) / 2 }
	slope, square := math.Abs(k.slope), s.squares[j]
	along := slope*math.Abs(s.image[j]) + k.more*plus(s.images, s.tiltP)
	steep, flat := (square+sign*s.bends[j])/2, (square-sign*s.bends[j])/2
	across := tail * math.Sqrt(math.Max(steep, 0)*(slope+k.more)*(slope+k.more)+math.Max(flat, 0)*slope*slope)
	still := k.more*plus(s.centers, s.tiltC) + k.above*plus(s.ones, s.tilt) + k.below*minus(s.ones, s.tilt)
	return (radius*math.Hypot(along, across)+still)*grow + 1e-6*(slope*s.centers[j]+(k.above+k.below)*s.ones[j]) + 1e-9*radius*tail*(slope+k.more)*math.Sqrt(square)
}
