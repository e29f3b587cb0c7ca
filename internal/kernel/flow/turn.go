package flow

import (
	"sync/atomic"
	"time"

	"github.com/actornode/actornode/internal/kernel/env"
)

// Worker is what runs turns of actors.
type Worker interface {
	// Holds reports whether the worker still has the stage of the turn.
	Holds() bool
	// DeferToTurnEnd makes the worker call [Turn.End] when its turn is over.
	DeferToTurnEnd()
}

// Turn is what the turn that a worker has under way leaves to be sent at its end. Each worker
// has one, and alone calls its methods, but for [Turn.Overdue].
type Turn struct {
	Worker Worker  // set once
	Env    env.Env // set once

	box    atomic.Pointer[Box] // whose link has something to be sent; nil: nothing is deferred
	count  int                 // messages
	since  time.Time           // the first
	atOnce int                 // as many times nothing waits
}

// deferTo has what has been written into b's link sent at the end of the turn, or when its
// handler waits, or is seen to take long. False: the turn has no such end.
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

// End sends what the turn has left to be sent. busy: others wait for the stage, so the
// writer does it. It follows each [Worker.DeferToTurnEnd].
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

// Overdue has the writer send what the turn has left to be sent, for it takes long. Any
// goroutine may call it.
func (t *Turn) Overdue() {
	if b := t.box.Load(); b != nil {
		b.on(Needed)
	}
}
