package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNewBitstring(t *testing.T) {
	given := []byte{0xff, 0xff}
	for _, c := range []struct {
		n, bits int
		bytes   []byte
	}{
		{-1, 0, []byte{}},
		{0, 0, []byte{}},
		{1, 1, []byte{0x80}},
		{7, 7, []byte{0xfe}},
		{8, 8, []byte{0xff}},
		{9, 9, []byte{0xff, 0x80}},
		{16, 16, []byte{0xff, 0xff}},
		{1000, 16, []byte{0xff, 0xff}},
	} {
		b := NewBitstring(given, c.n)
		assert.Equal(t, c.bits, b.BitLen())
		assert.Equal(t, c.bytes, b.Bytes())
	}
	assert.Equal(t, []byte{0xff, 0xff}, given, "the bytes given were changed")
}

func TestBitstringsCompare(t *testing.T) {
	// Invariant 5: the value of the unused bits does not matter.
	assert.True(t, NewBitstring([]byte{0xff}, 3) == NewBitstring([]byte{0xe0}, 3))
	for _, same := range [][]any{
		{"ab", []byte("ab"), NewBitstring([]byte("ab"), 16)},
		{"", []byte{}, []byte(nil), Bitstring{}},
	} {
		for _, a := range same {
			for _, b := range same {
				assert.True(t, Equal(a, b))
				assert.Zero(t, Compare(a, b))
				assert.Equal(t, hashOf(a), hashOf(b))
			}
		}
	}
	ascending := []any{
		"", NewBitstring([]byte{0}, 1), NewBitstring([]byte{0}, 2), NewBitstring([]byte{1}, 7), "\x00", "\x01",
		NewBitstring([]byte{0x80}, 1), "\x80", NewBitstring([]byte{0xc0}, 2), "\xff", "\xff\x00",
	}
	requireAscending(t, ascending)
}
