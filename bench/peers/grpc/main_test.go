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

// asProgram in the environment makes the test program act as the peer, as the far end of a bench needs it.
const asProgram = "ACTORNODE_GRPC_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestTable(t *testing.T) { require.NoError(t, system().Validate()) }

// Every case of a comparison is understood, and runs, with fewer calls.
func TestRemoteCall(t *testing.T) {
	t.Setenv(asProgram, "1")
	t.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each run under -race takes a second more
	ran := 0
	for _, c := range append(contest.Cases(), contest.Smoke()...) {
		if c.Bench != remoteCall.Name {
			continue
		}
		var out, errs bytes.Buffer
		args := append([]string{c.Bench}, c.Params...)
		require.Equal(t, contract.Done, system().Main(append(args, "calls=100"), &out, &errs), "%v: %s", args, &errs)
		r, err := contract.ParseResult(out.Bytes(), c.Bench)
		require.NoError(t, err)
		assert.Equal(t, "grpc", r.System)
		ran++
	}
	assert.Positive(t, ran)
}

func TestParametersAreBounded(t *testing.T) {
	for _, line := range []string{"remote_call calls=0", "remote_call callers=0", "remote_call proto=http"} {
		var out, errs bytes.Buffer
		assert.Equal(t, contract.Misused, system().Main(strings.Fields(line), &out, &errs), line)
		assert.Empty(t, out.String(), line)
	}
}
