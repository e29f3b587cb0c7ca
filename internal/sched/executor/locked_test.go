package executor

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/actornode/actornode/internal/sched/fiber"
	"github.com/actornode/actornode/internal/testkit"
)

// refuser is an actor whose turns need a goroutine that may switch to fibers.
type refuser struct {
	actor
	refused int
}

func (r *refuser) Turn(w *Worker) TurnResult {
	if !w.CanSwitch() {
		r.refused++
		return Refused
	}
	return r.actor.Turn(w)
}

// newLocker returns an actor whose handler leaves its goroutine locked to its thread.
func newLocker(p *Pool) *actor {
	return newActor(p, 0, func(*Worker, any) {
		runtime.LockOSThread()
		runtime.LockOSThread()
	})
}

func newRefuser(p *Pool, log chan string) *refuser {
	r := new(refuser)
	r.pool, r.actor.name, r.actor.budget, r.actor.receive = p, "refuser", 10, func(*Worker, any) {
		buf := make([]byte, 200)
		if buf = buf[:runtime.Stack(buf, false)]; bytes.Contains(buf, []byte("locked to thread")) {
			log <- "is locked"
			return
		}
		log <- "runs"
	}
	r.Adopt(r, p.Stage(0), false)
	return r
}

// A worker ends when a handler has locked its goroutine to its thread, and another does what it cannot do; no turn is
// lost.
func TestLockedWorkerIsReplaced(t *testing.T) {
	if !fiber.Direct {
		t.Skip("a coroutine may wait while its goroutine is locked to its thread")
	}
	for _, workers := range []int{1, 3} {
		p := startPool(t, Config{Workers: workers, Stages: 2, Blocked: time.Hour})
		log := make(chan string, 1)
		bad, good := newLocker(p), newRefuser(p, log)
		for range 100 {
			bad.send(nil, "lock")
			good.send(nil, "run")
			require.Equal(t, "runs", testkit.Receive(t, log))
		}
		require.LessOrEqual(t, p.Stats().Active, workers)
		require.LessOrEqual(t, p.Stats().Goroutines, workers+maxSpare+1)
	}
}

// An inline worker whose goroutine a handler has locked to its thread stops being one as soon as a turn refuses it, and
// a worker runs that turn.
func TestLockedGuestLeaves(t *testing.T) {
	if !fiber.Direct {
		t.Skip("a coroutine may wait while its goroutine is locked to its thread")
	}
	needInline(t)
	p := startPool(t, Config{Workers: 1, Stages: 2, Blocked: time.Hour})
	log, left, done := make(chan string, 1), make(chan struct{}, 10), make(chan bool)
	bad, good := newLocker(p), newRefuser(p, log)
	go func() { // ends with its thread
		g := p.NewInlineWorker(func() { left <- struct{}{} })
		assert.True(t, g.call(bad, "lock"), "it does no harm yet")
		done <- g.call(&good.actor, "run")
	}()
	require.False(t, <-done, "it is no inline worker any more")
	require.Len(t, left, 1)
	require.Equal(t, "runs", testkit.Receive(t, log))
	require.Equal(t, 1, good.refused)
	g := p.NewInlineWorker(func() { t.Error("nothing keeps it") })
	require.True(t, g.call(&good.actor, "run"), "another inline worker uses what the first has left")
	require.Equal(t, "runs", testkit.Receive(t, log))
}
