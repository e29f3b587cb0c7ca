package sysmsg_test

import (
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sysmsg"
	"github.com/actornode/actornode/wire"
)

type (
	named  struct{ t any }
	itself struct{ _ int }
	broken struct{}
	fields struct {
		A int
		b string
	}
)

func (n named) Term() any  { return n.t }
func (i itself) Term() any { return wire.Tuple{i, 1} }
func (broken) Term() any   { panic("mop") }

func TestTerm(t *testing.T) {
	pid := wire.NewOrigin(wire.NodeID{Name: "a@b", Creation: 1}).PID(3)
	for _, c := range []struct{ v, want any }{
		{nil, nil}, {1, 1}, {uintptr(1), uintptr(1)}, {big.NewInt(5), big.NewInt(5)}, {"x", "x"}, {wire.Atom("x"), wire.Atom("x")}, {true, true},
		{pid, pid}, {wire.Charlist("x"), wire.Charlist("x")}, {[]byte("x"), []byte("x")},
		{wire.Tuple{1, fields{1, "x"}}, wire.Tuple{1, "sysmsg_test.fields"}},
		{wire.List{fields{1, "x"}}, wire.List{"sysmsg_test.fields"}},
		{wire.ImproperList{Head: []any{errors.New("x")}, Tail: time.Second}, wire.ImproperList{Head: []any{"x"}, Tail: "1s"}},
		{wire.NewMap(time.Second, wire.Tuple{time.Minute}), wire.NewMap("1s", wire.Tuple{"1m0s"})},
		{&fields{1, "x"}, "*sysmsg_test.fields"},
		{[]int{1}, "[]int of 1"},
		{named{wire.Tuple{named{1}, fields{}}}, wire.Tuple{1, "sysmsg_test.fields"}},
		{broken{}, "sysmsg_test.broken.Term: panic: mop"},
		{wire.Tuple{broken{}}, wire.Tuple{"sysmsg_test.broken.Term: panic: mop"}},
	} {
		assert.True(t, wire.Equal(c.want, sysmsg.Term(c.v)), "%v: %v", c.v, sysmsg.Term(c.v))
	}
	assert.NotNil(t, sysmsg.Term(itself{}), "one that holds itself ends")
}

// Guard reports what a function has panicked with, apart from runtime.Goexit, and Words and Brief say it in one line.
func TestGuard(t *testing.T) {
	require.Nil(t, sysmsg.Guard(func() {}))
	crash := sysmsg.Guard(func() { panic(errors.New("spilled")) })
	require.True(t, crash.Panic)
	require.Contains(t, sysmsg.Words(crash), "spilled")
	require.NotContains(t, sysmsg.Words(crash), "\n")
	require.Equal(t, "{a,1}", sysmsg.Words(wire.Tuple{wire.Atom("a"), 1}))
	require.LessOrEqual(t, len(sysmsg.Words(make([]byte, 1<<20))), 1100)
	require.Equal(t, `{1,<<"sysmsg_test.fields">>}`, sysmsg.Words(wire.Tuple{named{1}, fields{1, "x"}}))
	require.Contains(t, sysmsg.Words(broken{}), "panic: mop")
	assert.Equal(t, wire.Atom("running"), (*sysmsg.System)(nil).State())
	assert.Equal(t, wire.List{}, (*sysmsg.System)(nil).Logged())
	assert.False(t, (*sysmsg.System)(nil).Debugging())
}
