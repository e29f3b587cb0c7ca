package node

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/kernel/process"
	"github.com/actornode/actornode/internal/kernel/runner"
)

// A late Answered flag is no reason to run a coroutine that waits for messages: the last trace of an answer may come
// after the call has returned.
func TestLateAnswered(t *testing.T) {
	n, err := Start(Config{Coroutines: true})
	require.NoError(t, err)
	defer n.Stop()
	me, err := n.Open()
	require.NoError(t, err)
	pid, err := n.Spawn(ProcessFunc(func(s *Process) error {
		for {
			me := s.Receive().(PID)
			s.own.Coroutine.Answered.Store(true)
			s.Send(me, "here")
		}
	}))
	require.NoError(t, err)
	for range 10 {
		n.Send(pid, me.Self())
		require.Equal(t, "here", me.Receive())
	}
	p := n.sys.Lookup(pid)
	for due := true; due; { // it may not have come back to Receive yet
		n.sys.Pool.Look(&p.Entity, func(_ int, queued, running bool) {
			due = queued || running
			if !due {
				assert.False(t, (*runner.Blocking)(p.Task().(*runner.Coroutine)).Due())
			}
		})
	}
}

// The cost of an idle actor, besides its own state and a slot of the table.
func TestSizes(t *testing.T) {
	if s := unsafe.Sizeof(actor{}); s > 192 {
		t.Errorf("an Actor takes %d bytes, want at most 192: three cache lines, and a size that the allocator aligns to them", s)
	}
	if s := unsafe.Sizeof(Process{}); s > 320 {
		t.Errorf("a Process takes %d bytes, want at most 320: five cache lines, and a size that the allocator aligns to them", s)
	}
	if s := unsafe.Sizeof(process.Cold{}); s > 352 {
		t.Errorf("a cold takes %d bytes, want at most 352, a size that the allocator has", s)
	}
	t.Log(unsafe.Sizeof(actor{}), unsafe.Sizeof(process.Process{}), unsafe.Sizeof(Process{}))
	t.Log(unsafe.Sizeof(process.Cold{}), unsafe.Sizeof(process.Call{}))
}
