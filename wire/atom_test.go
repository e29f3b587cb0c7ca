package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBool(t *testing.T) {
	for _, c := range []struct {
		term      any
		value, ok bool
	}{
		{true, true, true},
		{AtomFalse, false, true},
		{AtomTrue, true, true},
		{AtomUndefined, false, false},
		{"true", false, false},
		{nil, false, false},
	} {
		value, ok := AsBool(c.term)
		assert.Equal(t, c.value, value, c.term)
		assert.Equal(t, c.ok, ok, c.term)
	}
}

// A valid atom can travel, and any text can become one.
func TestAtomOf(t *testing.T) {
	long, longer := strings.Repeat("é", 255), strings.Repeat("é", 256)
	for _, c := range []struct {
		text, atom string
	}{
		{"", ""}, {"a", "a"}, {long, long}, {longer, long}, {"x\xff", "x?"}, {"\xff" + longer, "?" + long[2:]},
		{strings.Repeat("x", 1000), strings.Repeat("x", 255)},
	} {
		assert.Equal(t, c.text == c.atom, Atom(c.text).Valid(), "%.20q", c.text)
		assert.Equal(t, Atom(c.atom), AtomOf(c.text), "%.20q", c.text)
		assert.True(t, AtomOf(c.text).Valid(), "%.20q", c.text)
	}
}
