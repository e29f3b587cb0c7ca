package node_test

import (
	"testing"

	"github.com/actornode/actornode/internal/nodetest"
	"github.com/actornode/actornode/node"
)

// styles are those of nodetest.Styles, for tests in which several meet.
var styles = nodetest.Styles()

// waitGone waits until a process has exited and returns its reason.
func waitGone(t testing.TB, h *node.Process, pid node.PID) any {
	t.Helper()
	return nodetest.Down(t, h, h.Monitor(pid)).Reason
}
