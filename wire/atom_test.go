package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBool(t *testing.T) {
	for _, c := range []struct {
		term      any
		value, ok bool
	}{
		{true, true, true},
		{False, false, true},
		{True, true, true},
		{Undefined, false, false},
		{"true", false, false},
		{nil, false, false},
	} {
		value, ok := Bool(c.term)
		assert.Equal(t, c.value, value, c.term)
		assert.Equal(t, c.ok, ok, c.term)
	}
}
