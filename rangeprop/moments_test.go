package rangeprop_test

import (
	"math"
	"strings"
	"testing"

	"github.com/amplint/amplint/rangeprop"
)

// TestMoments estimates the output of small models over x in [-6, 6], whose deviation is taken as 2.
func TestMoments(t *testing.T) {
	for _, c := range []struct {
		name, body string
		mean, sd   float64
	}{
		{"double", `y = Add(x, x)`, 0, 4},
		{"sum", `i = Constant<value = int64[2] {1, 0}>() b = Gather(x, i) y = Add(x, b)`, 0, 2 * math.Sqrt2},
		{"there and back", `a = Transpose(x) b = Transpose(a) y = Add(x, b)`, 0, 4},
		{"gate spelled out", `s = Sigmoid(x) y = Mul(x, s)`, 0.605, 1.176},
		{"nothing left", `a = Add(x, two) y = Sub(a, x)`, 2, 0},
		{"difference from the mean", `a = Constant<value = int64[1] {1}>() r = ReduceMean(x, a) y = Sub(x, r)`, 0, 2 * math.Sqrt(0.7)},
		{"moved and scaled", `a = Mul(x, half) y = Add(a, two)`, 2, 1},
		{"square", `y = Mul(x, x)`, 4, 4 * math.Sqrt2},
		{"half of a normal variable", `y = Relu(x)`, 2 / math.Sqrt(2*math.Pi), 2 * math.Sqrt(0.5-0.5/math.Pi)},
		{"weighted sum", `y = MatMul(x, w)`, 0, 2 * math.Sqrt(30)},
		{"normalised", `y = LayerNormalization(x, g, g)`, 3, 3},
		{"moved about", `a = Transpose(x) b = Identity(a) y = Neg(b)`, 0, 2},
		{"larger of two", `y = Max(x, g)`, 3.06, 0.297},
		{"smaller of two", `n = Neg(g) y = Min(x, n)`, -3.06, 0.297},
		{"logarithm of shares", `y = LogSoftmax(x)`, -math.Log(4) - 2, 2},
		{"scattered", `i = Constant<value = int64[2, 1] {0, 1}>() u = Constant<value = float[2, 1] {4, 4}>() y = ScatterElements<axis = 1>(x, i, u)`, 1, math.Sqrt(6)},
		{"branches", `s = ReduceSum<keepdims = 0>(x) c = Greater(s, half) y = If(c) <then_branch = t () => (float[2, 4] a) { a = Add(x, two) }, else_branch = e () => (float[2, 4] b) { b = Sub(x, two) }>`, 0, math.Sqrt(8)},
		{"mean of a row", `n, y = LayerNormalization(x, g)`, 0, 1},
		{"padded", `p = Constant<value = int64[4] {0, 1, 0, 1}>() y = Pad(x, p)`, 0, 2},
		{"rounded to steps", `a = Relu(x) q = QuantizeLinear(a, half) y = DequantizeLinear(q, half)`, 2 / math.Sqrt(2*math.Pi), 2 * math.Sqrt(0.5-0.5/math.Pi)},
		{"sloped", `c = Constant<value = float[4] {0.25, 0.25, 0.25, 0.25}>() y = PRelu(x, c)`, 0.75 * 2 / math.Sqrt(2*math.Pi), 1.32},
		{"length", `a = Constant<value = int64[1] {1}>() y = ReduceL2(x, a)`, 4, math.Sqrt2},
		{"sum of sizes", `a = Constant<value = int64[1] {1}>() y = ReduceL1(x, a)`, 4 * 2 * math.Sqrt(2/math.Pi), 2 * 2 * math.Sqrt(1-2/math.Pi)},
		{"sum of squares", `a = Constant<value = int64[1] {1}>() y = ReduceSumSquare(x, a)`, 16, 2 * 4 * math.Sqrt2},
		{"smallest", `a = Constant<value = int64[1] {1}>() y = ReduceMin(x, a)`, -2 * math.Sqrt(2*math.Log(4)) * 0.7, 2 * math.Sqrt(1.3)},
		{"mean over images", `s = Constant<value = int64[4] {1, 2, 2, 2}>() a = Reshape(x, s) b = Constant<value = int64[2] {2, 3}>() y = ReduceMean(a, b)`, 0, 2 * math.Sqrt(0.1+0.9/4)},
		{"quantised as it runs", `q, s, z = DynamicQuantizeLinear(x) c = Constant<value = int8[4, 1] {1, 2, 3, 4}>() i = MatMulInteger(q, c, z) f = Cast<to = 1>(i) y = Mul(f, s)`, 0, 2 * math.Sqrt(30)},
		{"weights with a zero point", `q, s, z = DynamicQuantizeLinear(x) c = Constant<value = int8[4, 1] {4, 5, 6, 7}>() o = Constant<value = int8[1] {3}>() i = MatMulInteger(q, c, z, o) f = Cast<to = 1>(i) y = Mul(f, s)`, 0, 2 * math.Sqrt(30)},
		{"a kernel and a bias of integers", `n = Constant<value = int64[3] {2, 4, 1}>() a = Reshape(x, n) q, s, z = DynamicQuantizeLinear(a) c = Constant<value = int8[1, 4, 1] {1, 2, 3, 4}>() i = ConvInteger(q, c, z) d = Div(two, s) e = Floor(d) g2 = Cast<to = 6>(e) j = Add(i, g2) f = Cast<to = 1>(j) y = Mul(f, s)`, 2, 2 * math.Sqrt(30*1.35)},
		{"batch norm", `s = Constant<value = int64[3] {2, 4, 1}>() a = Reshape(x, s) y = BatchNormalization(a, g, g, g, g)`, 3, 3},
		{"batch norm as it is before training", `s = Constant<value = int64[3] {2, 4, 1}>() a = Reshape(x, s) o = Constant<value = float[4] {0, 0, 0, 0}>() i = Constant<value = float[4] {1, 1, 1, 1}>() y = BatchNormalization(a, g, g, o, i)`, 3, 6},
	} {
		src := header + `m (float[2, 4] x) => (float[M] y) <float half = {0.5}, float two = {2}, float[4, 1] w = {1, 2, 3, 4}, float[4] g = {3, 3, 3, 3}> {` + c.body + `}`
		m, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-6, 6)}})
		y := r.Val(m.Graph.Lookup("y"))
		mean, sd, ok := y.Moments()
		if !ok || math.Abs(mean-c.mean) > 0.1 || math.Abs(sd-c.sd) > 0.1*c.sd {
			t.Errorf("%s: got %v ± %v, %v, want %v ± %v", c.name, mean, sd, ok, c.mean, c.sd)
		}
		if l := y.Likely(); !y.Hull().Contains(l) {
			t.Errorf("%s: likely %v outside %v", c.name, l, y.Hull())
		}
	}
}

// TestStoredMoments: what a constant in 8 bits stands for has the mean and the deviation of its elements, and the mean
// of values under shares that are rounded on the way is estimated as without.
func TestStoredMoments(t *testing.T) {
	const src = header + `m (float[2, 4, 4] x, float[2, 4, 4] v) => (float[M] y, float[N] z, float[N] u)
<float half = {0.5}, float fine = {0.00390625}, uint8 zero = {0}, int8[4] c = {2, -2, 6, -6}>
{ y = DequantizeLinear(c, half) p = Softmax(x) q = QuantizeLinear(p, fine, zero) d = DequantizeLinear(q, fine, zero) z = MatMul(d, v) u = MatMul(p, v) }`
	m, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-6, 6), "v": given(-6, 6)}})
	if mean, sd, ok := r.Val(m.Graph.Lookup("y")).Moments(); !ok || mean != 0 || math.Abs(sd-math.Sqrt(5)) > 1e-9 {
		t.Errorf("constant: got %v ± %v, %v", mean, sd, ok)
	}
	mean, sd, ok := r.Val(m.Graph.Lookup("z")).Moments()
	if wantMean, want, _ := r.Val(m.Graph.Lookup("u")).Moments(); !ok || mean != wantMean || sd != want {
		t.Errorf("rounded shares: got %v ± %v, %v, want %v ± %v", mean, sd, ok, wantMean, want)
	}
}

// TestRoundedWeights: a layer whose weights are stored in 8 bits, or rounded to them by the graph, is
// estimated as it was before, and where they are stored bounded as closely.
func TestRoundedWeights(t *testing.T) {
	const weights = `<float step = {0.5}, float[2] steps = {0.5, 0.25}, int8[2] zeros = {1, -1}, float[2, 2, 1] w = {1, -2, 30, 4}, int8[2, 2, 1] q = {2, -4, 60, 8}, int8[2, 2, 1] p = {3, -3, 119, 15}, float[2, 2] u = {1, -2, 30, 4}, int8[2, 2] s = {2, -4, 60, 8}>`
	for _, layer := range []struct {
		name, plain, rounded string
		loose                bool // kernels may round another way
	}{
		{"kernel", `y = Conv(x, w)`, `v = DequantizeLinear(q, step) y = Conv(x, v)`, false},
		{"kernel with a step for each channel", `y = Conv(x, w)`, `v = DequantizeLinear<axis = 0>(p, steps, zeros) y = Conv(x, v)`, false},
		{"kernel rounded by the graph", `y = Conv(x, w)`, `i = QuantizeLinear(w, step) v = DequantizeLinear(i, step) y = Conv(x, v)`, true},
		{"kernel of a transposed convolution", `y = ConvTranspose(x, w)`, `v = DequantizeLinear(q, step) y = ConvTranspose(x, v)`, false},
		{"matrix", `y = MatMul(x, u)`, `v = DequantizeLinear(s, step) y = MatMul(x, v)`, false},
		{"turned matrix", `t = Transpose(u) y = MatMul(x, t)`, `v = DequantizeLinear(s, step) t = Transpose(v) y = MatMul(x, t)`, false},
	} {
		var mean, sd, top [2]float64
		for i, body := range []string{layer.plain, layer.rounded} {
			m, r := analyze(t, header+`m (float[1, 2, 2] x) => (float[A, B, C] y) `+weights+` {`+body+`}`, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-6, 6)}})
			mean[i], sd[i], _ = r.Val(m.Graph.Lookup("y")).Moments()
			top[i] = r.Val(m.Graph.Lookup("y")).Hull().Hi
		}
		if top[1] < top[0] || !layer.loose && top[1] > top[0]*(1+1e-5) {
			t.Errorf("%s: at most %v in full, %v rounded", layer.name, top[0], top[1])
		}
		if d := math.Abs(sd[0] - sd[1]); sd[0] == 0 || !(d < 0.01*sd[0]) || mean[0] != mean[1] {
			t.Errorf("%s: got %v ± %v in full, %v ± %v rounded", layer.name, mean[0], sd[0], mean[1], sd[1])
		}
	}
}

// TestGatedAndAdded: a value that is bounded piece by piece of one of its sources, and by others besides, is no function
// of that source: its estimate takes both for independent, and is not far off. The deviation was sampled.
func TestGatedAndAdded(t *testing.T) {
	src := header + `m (float[2, 4] x) => (float[M] y) { i = Constant<value = int64[2] {1, 0}>() b = Gather(x, i) s = Sigmoid(b) g = Mul(x, s) y = Add(x, g) }`
	m, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-6, 6)}})
	const sampled = 3.07
	if mean, sd, ok := r.Val(m.Graph.Lookup("y")).Moments(); !ok || math.Abs(mean) > 0.1 || sd < sampled/2 || sd > 2*sampled {
		t.Errorf("got %v ± %v, %v, want 0 ± about %v", mean, sd, ok, sampled)
	}
}

// TestWithout leaves estimates and balls out.
func TestWithout(t *testing.T) {
	src := header + `m (float[2, 4] x) => (float[M] y) <float[4] g = {1, 1, 1, 1}, float[4, 1] w = {1, 1, 1, 1}> { n = LayerNormalization(x, g) y = MatMul(n, w) }`
	ranges := map[string]rangeprop.Given{"x": given(-6, 6)}
	m, tight := analyze(t, src, rangeprop.Options{Ranges: ranges})
	k, loose := analyze(t, src, rangeprop.Options{Ranges: ranges, NoBalls: true, NoMoments: true})
	y, z := tight.Val(m.Graph.Lookup("y")), loose.Val(k.Graph.Lookup("y"))
	if _, _, ok := z.Moments(); ok {
		t.Error("an estimate although none was asked for")
	}
	if y.Hull().MaxAbs() > 4.01 || z.Hull().MaxAbs() < 6.9 {
		t.Errorf("with the ball %v, without %v", y.Hull(), z.Hull())
	}
}

// TestSignal takes what a filter bank reads as a signal: far from its ends most of the time, and slow, so
// that a filter that sums passes more of it than one that takes differences.
func TestSignal(t *testing.T) {
	ones, alternating := strings.Repeat("1, ", 64), strings.TrimSuffix(strings.Repeat("1, -1, ", 32), ", ")
	src := header + `m (float[1, 400] x) => (float[M] y) <float[2, 1, 64] k = {` + ones + alternating + `}> { one = Constant<value = int64[1] {1}>() u = Unsqueeze(x, one) y = Conv(u, k) }`
	m, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-3, 3)}})
	if _, sd, ok := r.Val(m.Graph.Lookup("x")).Moments(); !ok || sd != 0.5 {
		t.Errorf("the signal has the deviation %v, want a twelfth of its range", sd)
	}
	_, sd, ok := r.Val(m.Graph.Lookup("y")).Moments()
	if low := 0.5 * math.Sqrt(64*19); !ok || sd < 0.5*low/math.Sqrt2 || sd > low/math.Sqrt2*1.1 {
		t.Errorf("the filters pass %v, want about %v in the lower half", sd, low/math.Sqrt2)
	}
}

// TestBorder keeps apart what the taps of a kernel meet in an image of few positions: the outer ones of a
// kernel over a single position only see padding, and a larger image is told apart at its ends.
func TestBorder(t *testing.T) {
	for _, c := range []struct {
		name, shape, kernel string
		mean, sd            float64
	}{
		{"one position", "2, 1, 1", "100, 1, -70", 4, 2},
		{"two positions", "2, 1, 2", "3, 1, 0", 10, math.Sqrt((4+40*0.7+0.3*64)/2 + 36)},
		{"many positions", "2, 1, 400", "3, 1, 1", 20, math.Sqrt(44*0.7 + 0.3*100)},
	} {
		src := header + `m (float[` + c.shape + `] x) => (float[M] y) <float[1, 1, 3] k = {` + c.kernel + `}> { s = Add(x, k0) y = Conv<pads = [1, 1]>(s, k) }`
		src = strings.Replace(src, "<float[1", "<float k0 = {4}, float[1", 1)
		m, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-6, 6)}})
		if mean, sd, ok := r.Val(m.Graph.Lookup("y")).Moments(); !ok || math.Abs(mean-c.mean) > 0.01*c.mean || math.Abs(sd-c.sd) > 0.01*c.sd {
			t.Errorf("%s: got %v ± %v, %v, want %v ± %v", c.name, mean, sd, ok, c.mean, c.sd)
		}
	}
}

// TestFrames takes the rows of features that are laid out flat for frames of one signal: what weighs a
// feature alike in all of them passes, what takes differences does not.
func TestFrames(t *testing.T) {
	estimate := func(weights string) float64 {
		src := header + `m (float[1, 8, 2] x) => (float[M] y) <float[16, 1] w = {` + strings.TrimSuffix(strings.Repeat(weights+", ", 4), ", ") + `}> { f = Flatten(x) y = MatMul(f, w) }`
		m, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-6, 6)}})
		_, sd, ok := r.Val(m.Graph.Lookup("y")).Moments()
		if !ok {
			t.Fatal("no estimate")
		}
		return sd
	}
	independent := 2 * math.Sqrt(16)
	if alike, differing := estimate("1, 1, 1, 1"), estimate("1, 1, -1, -1"); alike < 2*independent || differing > independent/2 {
		t.Errorf("alike in all frames %v, in turn %v, want far above and below %v", alike, differing, independent)
	}
}

// TestTogether lets what a Relu leaves rise and fall together, and spreads a transposed kernel over its
// strides.
func TestTogether(t *testing.T) {
	for _, c := range []struct {
		name, body string
		sd         float64
	}{
		{"one sign", `a = Relu(x) y = Conv(a, k)`, math.Sqrt(0.7*4 + 0.3*16)},
		{"both signs", `a = Relu(x) y = Conv(a, d)`, math.Sqrt(0.7 * 4)},
		{"transposed", `a = Relu(x) y = ConvTranspose<strides = [2]>(a, u)`, math.Sqrt(0.7*2 + 0.3*4)},
	} {
		src := header + `m (float[1, 4, 400] x) => (float[M] y) <float[1, 4, 1] k = {1, 1, 1, 1}, float[1, 4, 1] d = {1, -1, 1, -1}, float[4, 1, 2] u = {1, 0, 1, 0, 1, 0, 1, 0}> {` + c.body + `}`
		m, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-6, 6)}})
		_, one, _ := r.Val(m.Graph.Lookup("a")).Moments()
		if _, sd, ok := r.Val(m.Graph.Lookup("y")).Moments(); !ok || math.Abs(sd/one-c.sd) > 0.01*c.sd {
			t.Errorf("%s: %v times the deviation of the input, %v, want %v", c.name, sd/one, ok, c.sd)
		}
	}
}
