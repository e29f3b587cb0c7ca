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

// asProgram in the environment makes the test program act as the peer, which is the far end of a bench: in full, or, if
// it is "mute", one that ends at once.
const asProgram = "ACTORNODE_TCP_TEST_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(asProgram) {
	case "":
		os.Exit(m.Run())
	case "mute":
		os.Exit(contract.Failed)
	}
	main()
}

func asOurselves(t *testing.T) {
	t.Setenv(asProgram, "1")
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each run under -race takes a second more
}

func TestTable(t *testing.T) { require.NoError(t, system().Validate()) }

// Every bench, in this process: under -race, its goroutines are watched.
func TestBenches(t *testing.T) {
	asOurselves(t)
	ran := 0
	for _, c := range contest.Smoke() {
		if system().Has(c.Bench, contract.Actor) {
			ran++
			run(t, append([]string{c.Bench}, c.Params...)...)
		}
	}
	assert.Equal(t, len(system().Benches), ran)
}

// A comparison gives a peer the parameters of its cases, and a peer refuses parameters that it does not know.
func TestEveryCaseOfAComparisonIsUnderstood(t *testing.T) {
	understood := map[string]int{}
	for _, c := range contest.Cases() {
		for _, b := range system().Benches {
			if b.Name == c.Bench {
				_, err := contract.Parse(b.Params, c.Params)
				assert.NoError(t, err, "%v", c)
				understood[b.Name]++
			}
		}
	}
	assert.Len(t, understood, len(system().Benches))
}

// The smallest and odd values, where an off-by-one would hang or fail the check.
func TestEdges(t *testing.T) {
	asOurselves(t)
	for _, line := range []string{
		"remote_latency roundtrips=1",
		"remote_cpu roundtrips=1",
		"remote_cpu roundtrips=100 rate=1000000",
		"remote_throughput messages=1 size=8",
		"remote_throughput messages=1 senders=3",
		"remote_throughput messages=5 size=200000 senders=7",
		"remote_throughput messages=100 size=9 senders=3",
		"remote_throughput messages=3 size=65532", // with its length as much as the buffer
	} {
		run(t, strings.Fields(line)...)
	}
}

func TestParametersAreBounded(t *testing.T) {
	for _, line := range []string{
		"remote_latency roundtrips=0", "remote_latency style=actor", "remote_latency proto=native",
		"remote_throughput size=7", "remote_throughput size=16777217", "remote_throughput senders=0",
		"remote_cpu rate=0", "remote_cpu roundtrips=0",
	} {
		var out, errs bytes.Buffer
		assert.Equal(t, contract.Misused, system().Main(strings.Fields(line), &out, &errs), line)
		assert.Empty(t, out.String(), line)
	}
}

func run(t *testing.T, args ...string) contract.Result {
	t.Helper()
	var out, errs bytes.Buffer
	require.Equal(t, contract.Done, system().Main(args, &out, &errs), "%v: %s", args, &errs)
	r, err := contract.ParseResult(out.Bytes(), args[0])
	require.NoError(t, err)
	assert.Equal(t, "tcp", r.System)
	return r
}
