package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/testkit"
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/node/nodetest"
)

// A handle that another goroutine uses while it waits reports that; the wait goes on.
func TestHandleOfTwoGoroutines(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector reports what it tests")
	}
	n := nodetest.Start(t, node.Config{})
	h := nodetest.NewProbe(t, n)
	requests := make(chan node.Request[string], 4)
	pid, err := n.Spawn(node.ActorFunc(func(_ *node.Context, msg any) error {
		requests <- msg.(node.Request[string])
		return nil
	}))
	require.NoError(t, err)
	answers := make(chan int)
	go func() {
		//actornode:ignore contextescape that is what the test is about
		if v, err := node.Call[int](testkit.Context(t), h, pid, "question"); err == nil {
			answers <- v
		}
	}()
	r := testkit.Receive(t, requests)
	for name, wait := range map[string]func(){
		"Call":      func() { node.Call[int](testkit.Context(t), h, pid, "another") },
		"AwaitExit": func() { node.AwaitExit(testkit.Context(t), h, pid) },
		"Await":     func() { node.Await(testkit.Context(t), h, node.Async[int](n, pid, "third")) },
		"SpawnWait": func() { node.SpawnWait(testkit.Context(t), h, node.Options{}, initCalls{pid}) },
	} {
		t.Run(name, func(t *testing.T) {
			require.PanicsWithValue(t,
				"node: a process, or a handle, is used by two goroutines at once: it waits for an answer already", wait)
		})
	}
	require.NoError(t, r.Reply(42))
	require.Equal(t, 42, testkit.Receive(t, answers))
}
