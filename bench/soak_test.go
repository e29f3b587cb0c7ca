package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/bench/internal/contract"
	"github.com/actornode/actornode/wire"
)

// A short soak, over each protocol; the bound of memory is that of a long one. Of so short
// a time a tenth is soon lost on a machine that has other work.
func TestSoak(t *testing.T) {
	for _, proto := range []string{"native", "erlang"} {
		var out, errs bytes.Buffer
		status := command([]string{"soak", "seconds=2", "rate=200000", "least=10", "proto=" + proto}, &out, &errs)
		require.Equal(t, contract.Done, status, "%s%s", &out, &errs)
		assert.Contains(t, out.String(), "resident at the start")
	}
}

// What is wrong is seen: a gap, a repetition, a stranger; memory that grows.
func TestSoakFails(t *testing.T) {
	s := soaked{next: make([]int, 2)}
	require.NoError(t, s.take(soakMessage(1, 0, 64)))
	require.ErrorContains(t, s.take(soakMessage(1, 0, 64)), "number 0 came where 1 was due")
	require.ErrorContains(t, s.take(soakMessage(0, 1, 64)), "number 1 came where 0 was due")
	require.ErrorContains(t, s.take(soakMessage(2, 0, 64)), "none of ours")
	require.ErrorContains(t, s.take(wire.Tuple{wire.Atom("data"), "x", 0, nil}), "none of ours")
	p, err := contract.Parse(soakParams, []string{"grow=1", "rate=60"})
	require.NoError(t, err)
	var out bytes.Buffer
	was := look{10 << 20, 0, 5}
	require.NoError(t, judge(p, &out, was, look{11 << 20, 0, 5}, 1, 1, 1e9))
	require.ErrorContains(t, judge(p, &out, was, look{12 << 20, 0, 5}, 1, 1, 1e9), "grown by 2.0 MiB")
	require.ErrorContains(t, judge(p, &out, was, look{10 << 20, 0, 6}, 1, 1, 1e9), "goroutines")
	require.ErrorContains(t, judge(p, &out, was, was, 1, 1, 2e9), "30 messages a minute went through, of 60")
	p, err = contract.Parse(soakParams, []string{"rate=60", "least=50"})
	require.NoError(t, err)
	require.NoError(t, judge(p, &out, was, was, 1, 1, 2e9))
	require.ErrorContains(t, judge(p, &out, was, was, 1, 1, 3e9), "at least 50% must")
	var errs bytes.Buffer
	assert.Equal(t, contract.Misused, command([]string{"soak", "minuets=1"}, &out, &errs))
}
