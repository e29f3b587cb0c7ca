package wire

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryIntegerKindIsOneInteger(t *testing.T) {
	ones := []any{1, int8(1), int16(1), int32(1), int64(1), uint(1), uint8(1), uint16(1), uint32(1), uint64(1), uintptr(1), big.NewInt(1)}
	m := NewMap(1, "one")
	for _, a := range ones {
		for _, b := range ones {
			assert.True(t, Equal(a, b), "%T %T", a, b)
			assert.Zero(t, Compare(a, b))
		}
		assert.Equal(t, "1", Format(a))
		assert.Equal(t, hashOf(1), hashOf(a))
		v, _ := m.Get(a)
		assert.Equal(t, "one", v)
		n, ok := AsInt(a)
		assert.True(t, ok)
		assert.Equal(t, int64(1), n)
	}
	huge := new(big.Int).SetUint64(math.MaxUint64)
	assert.True(t, Equal(uint64(math.MaxUint64), huge))
	assert.Equal(t, hashOf(uint64(math.MaxUint64)), hashOf(huge))
	for _, t1 := range []any{1.0, true, nil, "1", Atom("1"), huge, (*big.Int)(nil), color(1)} {
		assert.False(t, Equal(1, t1))
		_, ok := AsInt(t1)
		assert.False(t, ok)
	}
}

func TestInteger(t *testing.T) {
	assert.Equal(t, -5, IntegerOf(big.NewInt(-5)))
	assert.Equal(t, math.MinInt, IntegerOf(big.NewInt(math.MinInt)))
	huge := new(big.Int).Lsh(big.NewInt(1), 64)
	assert.Equal(t, huge, IntegerOf(huge))
}

func TestNumbersCompareByValue(t *testing.T) {
	pow := func(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }
	above := func(f float64) float64 { return math.Nextafter(f, math.Inf(1)) }
	below := func(f float64) float64 { return math.Nextafter(f, math.Inf(-1)) }
	requireAscending(t, []any{
		math.NaN(), math.Inf(-1), -math.MaxFloat64, new(big.Int).Neg(pow(100)), below(-1 << 63), whole(math.MinInt64),
		above(-1 << 63), -1.5, -1, -0.5, 0, math.SmallestNonzeroFloat64, 0.5, 1, above(1), 1.5, 2,
		whole(1<<53 - 1), whole(1 << 53), whole(1<<53 + 1), above(1 << 53), int64(1<<53 + 3),
		below(1 << 63), whole(math.MaxInt64), pow(63), uint64(1<<63 + 1),
		above(1 << 63), uint64(math.MaxUint64), pow(64), above(1 << 64), pow(100), above(1 << 100), math.MaxFloat64, math.Inf(1), Atom(""),
	})
	for _, c := range [][2]any{
		{1, 1.0}, {0, math.Copysign(0, -1)}, {0.0, math.Copysign(0, -1)}, {pow(63), float64(1 << 63)}, {pow(100), math.Exp2(100)},
		{whole(1 << 53), float64(1 << 53)}, {whole(math.MinInt64), float64(math.MinInt64)}, {float32(0.1), float64(float32(0.1))},
	} {
		assert.Zero(t, Compare(c[0], c[1]), c)
		assert.Zero(t, Compare(c[1], c[0]), c)
	}
}

func TestFloatsAreEqualByBits(t *testing.T) {
	assert.False(t, Equal(0.0, math.Copysign(0, -1)))
	assert.False(t, Equal(0, math.Copysign(0, -1)))
	assert.True(t, Equal(math.NaN(), math.NaN()))
	assert.True(t, Equal(float32(0.5), 0.5))
	m := NewMap(1, Atom("int"), 1.0, Atom("float"), 0.0, Atom("plus"), math.Copysign(0, -1), Atom("minus"), math.NaN(), Atom("nan"))
	assert.Equal(t, 5, m.Len())
	assert.Equal(t, `#{1 => int,#Go<float64 NaN> => nan,-0.0 => minus,0.0 => plus,1.0 => float}`, m.String())
}
