package admin

import (
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
	"github.com/actornode/actornode/wire/etf"
)

type point struct {
	X, y int
	Next *point
	Tags []string
	m    map[string]any
}

type teller struct{ say func() any }

func (t teller) Term() any { return t.say() }

func TestCut(t *testing.T) {
	ring := &point{X: 1}
	ring.Next = ring
	for _, c := range []struct {
		in   any
		size int
		want string
	}{
		{wire.Tuple{wire.Atom("add"), 5}, 100, `{add,5}`},
		{nil, 10, `[]`},
		{wire.List{1, 2, 3, 4, 5}, 24, `[1,2,'...']`},
		{wire.Tuple{wire.List{wire.List{1}}, 2}, 24, `{[['...']],'...'}`},
		{"abcdefghij", 12, `<<"abcd...">>`},
		{[]byte("abcdefghij"), 12, `<<"abcd...">>`},
		{"äöü", 11, `<<"ä..."/utf8>>`},
		{wire.Charlist("abcdefghij"), 12, `"abcd..."`},
		{wire.NewMap(wire.Atom("a"), 1, wire.Atom("b"), 2), 1000, `#{a => 1,b => 2}`},
		{wire.NewMap(1, 1, 2, 2, 3, 3, 4, 4), 8, `#{'...' => 4}`},
		{wire.ImproperList{Head: []any{1}, Tail: 2}, 100, `[1|2]`},
		{wire.ImproperList{Head: []any{1, 2, 3}, Tail: 2}, 16, `'...'`},
		{new(big.Int).Lsh(big.NewInt(1), 10_000), 100, `'...'`},
		{wire.NewBitstring(make([]byte, 1000), 7999), 100, `'...'`},
		{wire.Fun{Module: "m", OldIndex: 1, OldUniq: 2, Free: []any{strings.Repeat("x", 1000)}}, 100, `<<"#Fun<m.1.2>">>`},
		{point{X: 1, y: -2, Tags: []string{"a"}, m: map[string]any{"k": 1.5}}, 1000,
			`<<"admin.point">>`},
		{make([]int, 1_000_000), 40, `<<"[]int of 1000000">>`},
		{errors.New("oops"), 100, `<<"oops">>`},
		{time.Second, 100, `<<"1s">>`},
		{teller{func() any { return wire.Tuple{wire.Atom("ok"), point{}} }}, 30, ``},
		{teller{func() any { panic("no") }}, 100, `<<"admin.teller: panic">>`},
		{make(chan int), 100, `<<"chan int">>`},
		{ring, 100, ``},
	} {
		got := cut(c.in, c.size)
		text := wire.Format(got)
		if c.want != "" {
			assert.Equal(t, c.want, text)
		}
		assert.Less(t, len(text), 6*c.size+100)
	}
	var self teller
	self.say = func() any { return self }
	assert.Less(t, len(wire.Format(cut(self, 1000))), 1000, "a Term that never ends")
}

// The parts that are shown share no memory with those that are not.
func TestCutCopies(t *testing.T) {
	b, l := []byte("abc"), wire.List{1, 2}
	n := big.NewInt(7)
	shown := cut(wire.Tuple{b, l, n, wire.NewMap(1, b)}, 1000)
	before := wire.Format(shown)
	b[0], l[0] = 'x', 9
	n.SetInt64(8)
	assert.Equal(t, before, wire.Format(shown))
}

func FuzzCut(f *testing.F) {
	for _, v := range []any{wire.Tuple{wire.Atom("add"), 5}, wire.List{1, "two", wire.NewMap(1, 2)},
		wire.ImproperList{Head: []any{1}, Tail: 2}} {
		b, err := etf.Append(nil, v)
		require.NoError(f, err)
		f.Add(b, 30)
	}
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		v, _, err := etf.Decode(b)
		if err != nil || size > maxSize {
			return
		}
		kept, err := etf.Append(nil, cut(v, size))
		if err != nil {
			t.Fatalf("%s: %v", wire.Format(v), err)
		}
		if most := 300 + 4*wire.MaxAtomRunes + 20*max(size, 0); len(kept) > most { // the last atom stays whole
			t.Fatalf("%d bytes of %d for a size of %d", len(kept), len(b), size)
		}
		if size > 100*len(b) && !wire.Equal(v, cut(v, size)) && !strings.Contains(wire.Format(v), "#Fun") {
			t.Fatalf("%s was cut to %s without need", wire.Format(v), wire.Format(cut(v, size)))
		}
	})
}
