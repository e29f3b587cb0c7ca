package flow

import (
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
)

// Worker runs turns of actors.
type Worker interface {
	// Holds reports whether the worker still has the stage of the turn.
	Holds() bool
	// DeferToTurnEnd makes the worker call [Turn.End] when its turn is over.
	DeferToTurnEnd()
}

// Turn is what the current turn of a worker leaves to be sent at its end. Each worker has one, and only the worker calls its
// methods, except [Turn.Overdue].
type Turn struct {
	Worker Worker  // set once
	Env    env.Env // set once

	box    atomic.Pointer[Box] // whose link has something to be sent, or nil if nothing is deferred
	count  int                 // messages
	since  time.Time           // time of the first
	atOnce int                 // remaining turns in which nothing is deferred
}

// deferTo defers the sending of what was written into b's link until the turn ends, or its handler waits, or is seen to take
// long. It returns false if the turn has no such end.
func (t *Turn) deferTo(b *Box) bool {
	if !t.Worker.Holds() {
		return false
	}
	switch t.box.Load() {
	case b:
		t.count++
		return t.count <= mostInTurn
	case nil:
		if t.atOnce > 0 {
			t.atOnce--
			return false
		}
		b.step(TurnWritten)
		t.count, t.since = 1, t.Env.Now()
		t.box.Store(b)
		t.Worker.DeferToTurnEnd()
		return true
	}
	return false
}

// End sends what the turn has left to be sent. busy reports that others wait for the stage, so the writer sends it. It
// follows each [Worker.DeferToTurnEnd].
func (t *Turn) End(busy bool) {
	b := t.box.Load()
	if busy {
		b.on(Needed)
	}
	if b.step(TurnEnd) == TryFlush {
		ended := t.Env.Now()
		b.tryFlush()
		if ended.Sub(t.since) > longTurn*t.Env.Since(ended) {
			t.atOnce = atOnce
		}
	}
	t.box.Store(nil)
}

// Overdue makes the writer send what the turn has left to be sent, because it takes long. It may be called concurrently.
func (t *Turn) Overdue() {
	if b := t.box.Load(); b != nil {
		b.on(Needed)
	}
}
