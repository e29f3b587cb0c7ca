package fault

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/actornode/actornode/wire"
)

var (
	errKind = errors.New("room: a kind")
	errHook = errors.New("a hook's")
)

func TestFault(t *testing.T) {
	const r, other Package = "room", "other"
	err := r.New(errKind, "%d of them", 3)
	assert.EqualError(t, err, "room: 3 of them")
	assert.ErrorIs(t, err, errKind)
	deep := r.Within("{1}", r.Within("[2]", err))
	assert.EqualError(t, deep, "room: at {1}[2]: 3 of them")
	assert.ErrorIs(t, deep, errKind)
	assert.True(t, r.Owns(fmt.Errorf("around: %w", deep)))
	assert.False(t, other.Owns(deep))
	assert.False(t, r.Owns(errHook))
	assert.EqualError(t, r.Within("{1}", errHook), "room: at {1}: a hook's")
	assert.ErrorIs(t, r.Within("{1}", errHook), errHook)
	foreign := r.Within("{1}", other.New(errKind, "no"))
	assert.EqualError(t, foreign, "room: at {1}: other: no", "what another room says is as a hook's")
	assert.ErrorIs(t, foreign, errKind)
	long := r.Within(strings.Repeat("ä", 1000), err).Error()
	assert.Less(t, len(long), 700)
	assert.Contains(t, long, "…")
}

// A value at a step inside a message has a path of its own.
func TestBelow(t *testing.T) {
	const r Package = "codec"
	err := r.New(errKind, "no")
	for path, want := range map[string]string{"{3}": "codec: no", "{3}[1]": "codec: at [1]: no", "": "codec: no",
		"{3}(x.T).A(y).B": "codec: at x.T.A(y).B: no", "{2}[1]": "codec: at {2}[1]: no"} {
		got := Below(r.Within(path, err), "{3}")
		assert.EqualError(t, got, want)
		assert.ErrorIs(t, got, errKind)
	}
	assert.Equal(t, errHook, Below(r.Within("{3}", errHook), "{3}"))
	assert.Equal(t, errHook, Below(errHook, "{3}"))
	assert.EqualError(t, Below(r.Within("{3}", err), ""), "codec: at {3}: no")
}

func TestPath(t *testing.T) {
	index := func(path []byte, i *int) []byte { return Index(path, "{", *i, "}") }
	assert.Equal(t, "{1}{2}", Path([]int{1, 2}, index))
	assert.Empty(t, Path(nil, index))
	many := make([]int, 100)
	for i := range many {
		many[i] = i
	}
	assert.Equal(t, "{0}{1}{2}{3}{4}{5}{6}{7}…{92}{93}{94}{95}{96}{97}{98}{99}", Path(many, index))
	assert.Equal(t, "fun[3]", string(Index(nil, "fun[", 3, "]")))
	assert.Equal(t, "#{a}", string(Pair(nil, wire.Atom("a"), false)))
	assert.Equal(t, "#{a as key}", string(Pair(nil, wire.Atom("a"), true)))
	assert.Equal(t, "#{"+strings.Repeat("a", 40)+"…}", string(Pair(nil, wire.Atom(strings.Repeat("a", 50)), false)))
}
