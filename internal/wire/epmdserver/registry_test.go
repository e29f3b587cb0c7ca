package epmdserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var sample = Registration{
	Name: "cart", Port: 0x1234, Type: Visible, Highest: 6, Lowest: 5, Extra: []byte{0, 255},
}

const sampleBytes = "\x12\x34M\x00\x00\x06\x00\x05\x00\x04cart\x00\x02\x00\xff"

func here(id uint64) caller  { return caller{id: id, local: true, port: 4369} }
func there(id uint64) caller { return caller{id: id, port: 4369} }

func body(t testing.TB, r Request) []byte {
	b, err := r.Append(nil)
	require.NoError(t, err)
	return b[2:]
}

func alive(t testing.TB, name string, highest uint16) []byte {
	return body(t, Request{Op: OpAlive,
		Registration: Registration{Name: name, Port: 7, Type: Visible, Highest: highest, Lowest: 5}})
}

func TestCreationsGrow(t *testing.T) { // invariant 3
	var g registry
	creation := func(id uint64, name string, highest uint16, now int64) uint32 {
		r := g.decide(here(id), alive(t, name, highest), time.Unix(now, 0))
		require.Equal(t, keep, r.then)
		a, _, err := ParseAlive(r.answer)
		require.NoError(t, err)
		return a.Creation
	}
	assert.EqualValues(t, 1, creation(1, "a", 6, 0))
	assert.EqualValues(t, 2, creation(2, "b", 6, 0))
	assert.EqualValues(t, 1000, creation(3, "c", 6, 1000))
	assert.EqualValues(t, 1001, creation(4, "d", 6, 999), "the clock was set back")
	g.last = 1<<32 - 1
	assert.EqualValues(t, 1, creation(5, "e", 6, 0), "never 0")

	g = registry{}
	last := creation(1, "n", 5, 3000)
	for i := range uint64(9) { // narrow creations are 1 to 3, and each life has another
		g.release(i + 1)
		c := creation(i+2, "n", 5, 3000+3*int64(i))
		assert.NotEqual(t, last, c)
		assert.Contains(t, []uint32{1, 2, 3}, c)
		last = c
	}
}

func TestOtherHostsMayOnlyAsk(t *testing.T) {
	g := registry{relaxed: true}
	require.Equal(t, keep, g.decide(here(1), alive(t, "a", 6), time.Now()).then)
	for _, r := range []Request{{Op: OpKill}, {Op: OpDump}, {Op: OpStop, Name: "a"},
		{Op: OpAlive, Registration: sample}} {
		got := g.decide(there(2), body(t, r), time.Now())
		require.ErrorIs(t, got.err, ErrNotAllowed, r.Op)
		require.Empty(t, got.answer)
		require.Equal(t, closeConn, got.then)
	}
	require.NotEmpty(t, g.decide(there(2), body(t, Request{Op: OpNames}), time.Now()).answer)
	require.Greater(t, len(g.decide(there(2), body(t, Request{Op: OpPort, Name: "a"}), time.Now()).answer), 2)
}

func TestOldNamesAreBounded(t *testing.T) { // invariant 2
	var g registry
	for i := range uint64(maxOld + 10) {
		g.decide(here(i+1), alive(t, fmt.Sprint("n", i), 6), time.Now())
		g.release(i + 1)
	}
	require.Len(t, g.old, maxOld)
	require.Equal(t, "n10", g.old[0].Name)
	require.Equal(t, keep, g.decide(here(5000), alive(t, "n500", 6), time.Now()).then)
	require.Len(t, g.old, maxOld-1)
}

// The registry answers anything, and its invariants hold afterwards.
func FuzzRegistry(f *testing.F) {
	f.Add([]byte("x"+sampleBytes), []byte("zcart"), true)
	f.Add([]byte("x"+sampleBytes), []byte("scart"), false)
	f.Add([]byte("n"), []byte("k"), true)
	f.Fuzz(func(t *testing.T, one, two []byte, relaxed bool) {
		g := registry{relaxed: relaxed}
		now := time.Unix(1000, 0)
		for i, b := range [][]byte{one, two, one, two} {
			r := g.decide(here(uint64(i+1)), b, now)
			require.Equal(t, r.err != nil, len(r.answer) == 0)
			require.True(t, r.err == nil || r.then == closeConn)
			if i == 1 {
				g.release(1)
			}
		}
		names, by := map[string]bool{}, map[uint64]bool{}
		for _, r := range g.live {
			require.False(t, names[r.Name] || by[r.by])
			names[r.Name], by[r.by] = true, true
			require.NotZero(t, r.creation)
			require.False(t, strings.Contains(r.Name, "\n"))
		}
		for _, r := range g.old {
			require.False(t, names[r.Name])
			names[r.Name] = true
		}
	})
}
