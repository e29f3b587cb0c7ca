package node_test

import (
	"testing"

	"github.com/actornode/actornode/internal/erltest"
)

// TestFailureOTP plays the scripts of TestFailure on a real Erlang node: what
// they expect must be what Erlang does.
func TestFailureOTP(t *testing.T) {
	erltest.Judge(t, "testdata/failure.erl", "testdata/failure/*.txt")
}
