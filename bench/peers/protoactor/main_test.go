package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/bench/internal/contest"
	"github.com/actornode/actornode/bench/internal/contract"
)

func TestTable(t *testing.T) { require.NoError(t, system().Validate()) }

// Every bench, in this process: under -race, its goroutines are watched.
func TestBenches(t *testing.T) {
	ran := 0
	for _, c := range contest.Smoke() {
		if !system().Has(c.Bench, contract.Actor) {
			continue
		}
		ran++
		t.Run(c.Bench, func(t *testing.T) { run(t, append([]string{c.Bench}, c.Params...)) })
	}
	assert.Equal(t, len(system().Benches), ran)
}

// The parameters of a comparison are understood.
func TestCases(t *testing.T) {
	for _, c := range contest.Cases() {
		for _, b := range system().Benches {
			if b.Name == c.Bench {
				_, err := contract.Parse(b.Params, c.Params)
				assert.NoError(t, err, c.Bench)
			}
		}
	}
}

// The smallest and odd values, where an off-by-one would hang or fail the check.
func TestEdges(t *testing.T) {
	for _, line := range []string{
		"threadring n=1 hops=1",
		"ring n=1 tokens=1 passes=1",
		"ring n=2 tokens=9 passes=5",
		"ring n=3 tokens=3 passes=1000",
		"latency roundtrips=1",
		"mailbox senders=1 each=1",
		"flow pairs=1 messages=1 window=1",
		"flow pairs=20 messages=10 window=5",
		"flow pairs=1 messages=11 window=5",
		"chameneos creatures=2 meetings=1",
		"chameneos creatures=3 meetings=1",
		"big n=1 each=10",
		"fib n=0",
		"fib n=1",
		"nqueens size=4 workers=1 threshold=0",
		"nqueens size=4 workers=7 threshold=16",
		"spawn n=1",
		"mixed rings=1 size=1 token=1 repeats=1 number=1",
		"mixed rings=1 size=2 token=1 repeats=3 number=8",
		"blocking handlers=1 sleep_ms=1 times=1",
		"gencall calls=1",
		"supertree n=1",
		"restart restarts=1",
		"restart restarts=30", // more than Proto.Actor's default strategy allows
	} {
		run(t, strings.Fields(line))
	}
}

func TestParametersAreBounded(t *testing.T) {
	for _, line := range []string{
		"threadring n=0", "ring tokens=0", "mailbox each=-1", "flow window=0", "chameneos creatures=1", "fib n=-1", "fib n=41",
		"nqueens size=3", "nqueens size=17", "spawn n=many", "blocking handlers=0", "gencall calls=0", "restart restarts=0",
	} {
		var out, errs bytes.Buffer
		assert.Equal(t, contract.Misused, system().Main(strings.Fields(line), &out, &errs), line)
		assert.Empty(t, out.String(), line)
	}
}

func run(t *testing.T, args []string) {
	t.Helper()
	var out, errs bytes.Buffer
	require.Equal(t, contract.Done, system().Main(args, &out, &errs), "%v: %s", args, &errs)
	r, err := contract.ParseResult(out.Bytes(), args[0])
	require.NoError(t, err)
	assert.Equal(t, "protoactor", r.System)
}

// The version in the results is the one that go.mod requires.
func TestVersion(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	require.Contains(t, string(mod), "github.com/asynkron/protoactor-go "+version()+"\n")
}

func TestComplement(t *testing.T) {
	for a := range colour(colours) {
		for b := range colour(colours) {
			c := complement(a, b)
			assert.Equal(t, c, complement(b, a))
			assert.Equal(t, a == b, c == a)
			assert.Less(t, c, colour(colours))
		}
	}
}

func TestWalksAreEvenlySpacedAndAddUp(t *testing.T) {
	assert.Equal(t, []walk{{0, 3}, {3, 3}, {6, 4}}, walks(10, 3, 10))
}

func TestFactors(t *testing.T) {
	for n, want := range map[uint64][]uint64{1: nil, 2: {2}, 360: {2, 2, 2, 3, 3, 5}, 391: {17, 23}} {
		assert.Equal(t, want, factorsOf(n), n)
		assert.True(t, isFactorisation(factorsOf(n), n), n)
	}
	assert.False(t, isFactorisation([]uint64{3, 2}, 6))
	assert.False(t, isFactorisation([]uint64{2, 2}, 6))
}
