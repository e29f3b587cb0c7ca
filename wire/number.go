package wire

import (
	"cmp"
	"math"
	"math/big"
)

// AsInt returns the integer term t, of any Go integer type, as an int64. It returns false if t is not an integer or does not
// fit.
func AsInt(t any) (n int64, ok bool) {
	x := numOf(t)
	return x.small, x.kind == numSmall
}

// IntegerOf returns n in the form that decoders use: an int if it fits, else n itself.
func IntegerOf(n *big.Int) any {
	if n.IsInt64() && n.Int64() == int64(int(n.Int64())) {
		return int(n.Int64())
	}
	return n
}

type numKind uint8

const (
	numNone  numKind = iota
	numSmall         // an integer that fits an int64, of any Go type
	numBig           // any other integer
	numFloat
)

// num is a number independent of its Go type: equal values have equal nums.
type num struct {
	kind  numKind
	small int64
	float float64
	big   *big.Int
}

func numOf(t any) num {
	switch t := t.(type) {
	case int:
		return num{kind: numSmall, small: int64(t)}
	case int64:
		return num{kind: numSmall, small: t}
	case float64:
		return num{kind: numFloat, float: t}
	case float32:
		return num{kind: numFloat, float: float64(t)}
	case *big.Int:
		switch {
		case t == nil:
			return num{}
		case t.IsInt64():
			return num{kind: numSmall, small: t.Int64()}
		}
		return num{kind: numBig, big: t}
	}
	if n, u, ok := AsIntOrUint(t); ok {
		if u == 0 {
			return num{kind: numSmall, small: n}
		}
		return num{kind: numBig, big: new(big.Int).SetUint64(u)}
	}
	return num{}
}

// AsIntOrUint returns the value of any Go integer except a [*big.Int]: in n, or in u if it does not fit an int64. u is 0
// otherwise.
func AsIntOrUint(t any) (n int64, u uint64, ok bool) {
	switch t := t.(type) {
	case int:
		return int64(t), 0, true
	case int64:
		return t, 0, true
	case int32:
		return int64(t), 0, true
	case int16:
		return int64(t), 0, true
	case int8:
		return int64(t), 0, true
	case uint64:
		u = t
	case uint:
		u = uint64(t)
	case uintptr:
		u = uint64(t)
	case uint32:
		return int64(t), 0, true
	case uint16:
		return int64(t), 0, true
	case uint8:
		return int64(t), 0, true
	default:
		return 0, 0, false
	}
	if u > math.MaxInt64 {
		return 0, u, true
	}
	return int64(u), 0, true
}

// compareNum orders two numbers: by value in the standard order, integers
// before floats and -0.0 before 0.0 in the two exact modes.
func compareNum(a, b num, m mode) int {
	switch {
	case a.kind != numFloat && b.kind != numFloat:
		return compareInt(a, b)
	case a.kind == numFloat && b.kind == numFloat:
		c := cmp.Compare(a.float, b.float)
		if c == 0 && m != standard {
			c = cmp.Compare(signOf(a.float), signOf(b.float))
		}
		return c
	case m != standard:
		return cmp.Compare(boolInt(a.kind == numFloat), boolInt(b.kind == numFloat))
	case a.kind == numFloat:
		return -compareIntFloat(b, a.float)
	}
	return compareIntFloat(a, b.float)
}

func compareInt(a, b num) int {
	switch {
	case a.kind == numSmall && b.kind == numSmall:
		return cmp.Compare(a.small, b.small)
	case a.kind == numSmall:
		return -b.big.Sign() // outside the range of int64, so the sign decides
	case b.kind == numSmall:
		return a.big.Sign()
	}
	return a.big.Cmp(b.big)
}

// compareIntFloat compares by value exactly: no rounding of the integer.
func compareIntFloat(i num, f float64) int {
	switch {
	case math.IsNaN(f):
		return 1 // NaN is not a term; it sorts below every number
	case math.IsInf(f, 0):
		return -cmp.Compare(f, 0)
	case i.kind == numBig:
		return new(big.Float).SetInt(i.big).Cmp(big.NewFloat(f))
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	whole := math.Trunc(f)
	if c := cmp.Compare(i.small, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(0, f-whole)
}

// signOf distinguishes the two zeros; every NaN is equal.
func signOf(f float64) int {
	if math.IsNaN(f) {
		return 0
	}
	return boolInt(!math.Signbit(f))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
