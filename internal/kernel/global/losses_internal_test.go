package global

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/wire"
)

func report(life, number any) wire.Tuple {
	return wire.Tuple{wire.Atom("lost_connection"), wire.Atom("a@h"), life, number, wire.Atom("b@h")}
}

func TestReportsAreNewOnce(t *testing.T) {
	var m losses
	note := func(life, number any) bool {
		r, n, ok := readLoss(report(life, number))
		require.True(t, ok)
		_, isNew := m.Note(r, n)
		return isNew
	}
	huge := new(big.Int).Lsh(big.NewInt(1), 90)
	assert.True(t, note(1, 5))
	assert.False(t, note(1, 5), "again")
	assert.False(t, note(1, 4), "an older one")
	assert.True(t, note(1, 6))
	assert.True(t, note(huge, 1), "of another life")
	assert.False(t, note(1, 6), "of the life before")
	assert.False(t, note(huge, 1))
	r, _, _ := readLoss(report(1, 6))
	m.Forget(r)
	assert.True(t, note(1, 6))
}

func TestMostAreRemembered(t *testing.T) {
	var m losses
	for i := range mostLosses + 10 {
		r, n, ok := readLoss(report(i, 1))
		require.True(t, ok)
		_, isNew := m.Note(r, n)
		require.Equal(t, i < mostLosses, isNew)
	}
}

func TestWrongReports(t *testing.T) {
	for _, wrong := range []wire.Tuple{
		{}, report("life", 1), report(1, "number"), report(1.0, 1), report(new(big.Int).Lsh(big.NewInt(1), 300), 1),
		report(1, new(big.Int).Lsh(big.NewInt(1), 90)), append(report(1, 1), 1),
		{wire.Atom("lost_connection"), "a@h", 1, 1, wire.Atom("b@h")},
	} {
		_, _, ok := readLoss(wrong)
		assert.False(t, ok, "%v", wrong)
	}
}
