package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCons(t *testing.T) {
	head := make([]any, 2, 8)
	head[0], head[1] = 1, 2
	for _, c := range []struct {
		head       []any
		tail, want any
	}{
		{nil, Atom("a"), Atom("a")},
		{nil, nil, nil},
		{head, nil, List{1, 2}},
		{head, List{}, List{1, 2}},
		{head, List{3}, List{1, 2, 3}},
		{head, Charlist("a"), List{1, 2, 'a'}},
		{head, Charlist(""), List{1, 2}},
		{head, Atom("a"), ImproperList{[]any{1, 2}, Atom("a")}},
		{head, Tuple{}, ImproperList{[]any{1, 2}, Tuple{}}},
		{head, ImproperList{[]any{3}, 4}, ImproperList{[]any{1, 2, 3}, 4}},
		{head, ImproperList{[]any{3}, List{4}}, List{1, 2, 3, 4}},
		{head, ImproperList{nil, 3}, ImproperList{[]any{1, 2}, 3}},
	} {
		got := cons(c.head, c.tail)
		assert.IsType(t, c.want, got)
		assert.True(t, Equal(c.want, got), "%v", got)
		assert.Equal(t, []any{1, 2, nil}, head[:3], "cons wrote behind the head it was given")
	}
}

func TestListsAreTheirCells(t *testing.T) {
	for _, same := range [][]any{
		{nil, List(nil), List{}, Charlist(""), ImproperList{}, ImproperList{nil, List{}}},
		{List{'a', 'b'}, Charlist("ab"), List{uint8('a'), int64('b')}, ImproperList{[]any{'a'}, Charlist("b")},
			ImproperList{nil, ImproperList{[]any{'a', 'b'}, nil}}},
		{ImproperList{[]any{1, 2}, AtomOK}, ImproperList{[]any{1}, ImproperList{[]any{2}, AtomOK}}},
		{AtomOK, ImproperList{nil, AtomOK}},
		{Tuple{1}, ImproperList{nil, Tuple{1}}},
	} {
		for _, a := range same {
			for _, b := range same {
				assert.True(t, Equal(a, b), "%#v %#v", a, b)
				assert.Zero(t, Compare(a, b), "%#v %#v", a, b)
				assert.Equal(t, hashOf(a), hashOf(b), "%#v %#v", a, b)
				assert.Equal(t, Format(a), Format(b))
			}
		}
	}
	assert.False(t, Equal(ImproperList{[]any{1}, Tuple{2}}, List{1, 2}))
	assert.False(t, Equal(Tuple{1}, List{1}))
}

func TestElements(t *testing.T) {
	for _, c := range []struct {
		in   any
		want List
		ok   bool
	}{
		{nil, nil, true},
		{List{}, List{}, true},
		{List{1, Atom("a")}, List{1, Atom("a")}, true},
		{Charlist("ab"), List{97, 98}, true},
		{ImproperList{Head: []any{1}, Tail: List{2}}, List{1, 2}, true},
		{ImproperList{Head: []any{1}, Tail: 2}, nil, false},
		{Tuple{1}, nil, false},
		{"ab", nil, false},
	} {
		got, ok := AsList(c.in)
		require.Equal(t, c.ok, ok, "%v", c.in)
		if ok {
			require.True(t, Equal(c.want, got), "%v: %v", c.in, got)
		}
	}
}
