package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCharlist(t *testing.T) {
	assert.Equal(t, List{int('a'), int('ж'), 0x1f600}, Charlist("aж😀").List())
	assert.Equal(t, List{0xfffd, int('a')}, Charlist("\xffa").List())
	assert.True(t, Equal(Charlist("\xffa"), List{0xfffd, 'a'}))
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		term any
		want string
		ok   bool
	}{
		{"aж", "aж", true},
		{[]byte("aж"), "aж", true},
		{Charlist("aж"), "aж", true},
		{List{'a', 'ж'}, "aж", true},
		{ImproperList{[]any{'a'}, Charlist("ж")}, "aж", true},
		{Atom("aж"), "aж", true},
		{nil, "", true},
		{"\xff", "\xff", false},
		{[]byte{0xff}, "\xff", false},
		{List{0xd800}, "", false},
		{List{-1}, "", false},
		{List{whole(1 << 40)}, "", false},
		{List{'a', AtomOK}, "", false},
		{List{Charlist("a")}, "", false},
		{ImproperList{[]any{'a'}, 'b'}, "a", false},
		{Tuple{}, "", false},
		{1, "", false},
		{NewBitstring([]byte{0x80}, 1), "", false},
	} {
		got, ok := AsText(c.term)
		assert.Equal(t, c.want, got, "%#v", c.term)
		assert.Equal(t, c.ok, ok, "%#v", c.term)
	}
}
