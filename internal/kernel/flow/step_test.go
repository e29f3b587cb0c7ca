package flow

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// every returns all possible states, with counts up to 2.
func every() (all []FlushState) {
	for p := range phases {
		for _, looked := range []FlushState{0, lookedBit} {
			for deferring := range FlushState(3) {
				for turns := range FlushState(3) {
					s := FlushState(p) | looked | deferring*oneDeferring | turns*oneTurn
					if p == Deferred && deferring == 0 || looked != 0 && !s.Asleep() {
						continue
					}
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// possible reports whether e can happen in s.
func possible(s FlushState, e FlushEvent) bool {
	switch e {
	case EndDefer, Yield:
		return s.Deferring() > 0
	case TurnEnd:
		return s.Turns() > 0
	case Rest:
		return !s.Asleep()
	}
	return true
}

func TestEveryStep(t *testing.T) {
	for _, s := range every() {
		for e := range events {
			if !possible(s, e) {
				continue
			}
			says := fmt.Sprintf("%v: %v", s, e)
			next, a := FlushStep(s, e)
			assert.Less(t, next.Phase(), phases, says)
			if next.Phase() == Deferred {
				assert.Positive(t, next.Deferring(), says)
			}
			woken := s.Asleep() && (next.Phase() == Passing || next.Phase() == Queueing)
			assert.Equal(t, woken, a == WakeWriter, "invariant 1: %s", says)
			if s.Phase() == Queueing && next.Direct() {
				assert.Equal(t, Rest, e, "invariant 4: %s", says)
			}
			if s.Phase() == Ended {
				assert.Equal(t, Ended, next.Phase(), says)
				assert.Equal(t, Nothing, a, says)
			}
			if s.Phase() == Deferred && next.Phase() == Idle {
				assert.Equal(t, TryFlush, a, says)
			}
			change := map[FlushEvent][2]int{Defer: {1, 0}, EndDefer: {-1, 0}, TurnWritten: {0, 1}, TurnEnd: {0, -1}}[e]
			assert.Equal(t, change, [2]int{next.Deferring() - s.Deferring(), next.Turns() - s.Turns()}, says)
			if next.Settled() {
				assert.True(t, s.Settled() || e == Looked || a == TryFlush || e == TurnEnd, says)
			}
		}
	}
}

func TestCountsDoNotTouchEachOther(t *testing.T) {
	s := FlushState(Idle) | countMask<<deferringShift
	assert.Equal(t, countMask, s.Deferring())
	assert.Zero(t, s.Turns())
	s, _ = FlushStep(s, EndDefer)
	s, _ = FlushStep(s, TurnWritten)
	assert.Equal(t, countMask-1, s.Deferring())
	assert.Equal(t, 1, s.Turns())
	assert.Equal(t, Idle, s.Phase())
}

func TestStrings(t *testing.T) {
	assert.Equal(t, "queueing, 0 defer, 0 turns", FlushState(0).String())
	assert.Equal(t, "idle, a look to come, 1 defer, 2 turns", (FlushState(Idle) | oneDeferring | 2*oneTurn).String())
	assert.Equal(t, "deferred, 1 defer, 0 turns", (FlushState(Deferred) | lookedBit | oneDeferring).String())
	assert.Equal(t, "phase 7", FlushPhase(7).String())
	assert.Equal(t, "event 99", FlushEvent(99).String())
	assert.Equal(t, "action 99", FlushAction(99).String())
	for e := range events {
		assert.NotEmpty(t, e.String())
	}
	for a := range actions {
		assert.NotEmpty(t, a.String())
	}
	assert.Panics(t, func() { FlushStep(0, events) })
}

// op is what one of the senders does next.
type op uint8

const (
	write    op = iota // into the buffer, or the queue where it must
	tell               // Written
	tellTurn           // TurnWritten
	endTurn            // TurnEnd
	begin              // Defer
	finish             // EndDefer
	yield              // Yield
	need               // Needed
	queue              // into the queue, whatever the state
)

// world is the state of a few senders and the writer at one moment. It can be a key of a map.
type world struct {
	s      FlushState
	buffer bool // something is in the buffer
	queued bool // something is in the queue
	tokens int  // the writer has been woken
	writer int  // what it does next: see step
	at     [3]int
	todo   [3]FlushAction // what an event has left each to do
	wrote  [3]bool        // the last write went into the buffer, and is not told
	turn   [3]bool        // TurnEnd will follow
}

// The writer's steps: it takes its queue, flushes, rests, looks, sleeps.
const (
	takes = iota
	flushes
	rests
	looks
	tells
	sleeps
)

// moves returns the worlds that can come next, in each of which one participant has taken one step.
func (w world) moves(t *testing.T, programs [][]op) (next []world) {
	for i, program := range programs {
		if w.todo[i] != Nothing {
			v := w
			v.todo[i] = Nothing
			if w.todo[i] == WakeWriter {
				v.tokens++
				next = append(next, v)
				continue
			}
			v.buffer = false
			next = append(next, v) // everything has gone
			v = w
			v.todo[i] = Nothing
			v.s, v.todo[i] = FlushStep(v.s, TryLeft)
			next = append(next, v) // or something is left, or another has it in hand
			continue
		}
		if w.at[i] == len(program) {
			continue
		}
		v := w
		v.at[i]++
		e := events
		switch program[w.at[i]] {
		case write:
			if !w.s.Direct() {
				v.queued = true
				v.s, v.todo[i] = FlushStep(w.s, Queued)
			} else {
				v.buffer, v.wrote[i] = true, true
			}
		case queue:
			v.queued = true
			e = Queued
		case tell:
			if v.wrote[i] {
				e = Written
			}
			v.wrote[i] = false
		case tellTurn:
			if v.wrote[i] {
				e, v.turn[i] = TurnWritten, true
			}
			v.wrote[i] = false
		case endTurn:
			if v.turn[i] {
				e = TurnEnd
			} else if v.wrote[i] {
				e = Written
			}
			v.turn[i], v.wrote[i] = false, false
		case begin:
			e = Defer
		case finish:
			e = EndDefer
		case yield:
			e = Yield
		case need:
			e = Needed
		}
		if e != events {
			v.s, v.todo[i] = FlushStep(w.s, e)
		}
		next = append(next, v)
	}
	v, a := w, Nothing
	switch w.writer {
	case takes:
		v.queued, v.buffer = false, w.buffer || w.queued
		v.writer = flushes
	case flushes:
		v.buffer = false
		v.writer = rests
	case rests:
		if w.queued { // in one step with what Queued says: both are under a lock
			v.writer = takes
			break
		}
		v.s, a = FlushStep(w.s, Rest)
		v.writer = looks
	case looks:
		v.buffer = false
		v.writer = tells
		again := v // perhaps part of it is left
		again.s, a = FlushStep(again.s, LookedMore)
		if a == WakeWriter {
			again.tokens++
		}
		again.writer, a = sleeps, Nothing
		if w.buffer {
			again.buffer = true
			next = append(next, again)
		}
	case tells:
		v.s, a = FlushStep(w.s, Looked)
		v.writer = sleeps
	case sleeps:
		if w.tokens == 0 {
			return next
		}
		v.tokens--
		v.writer = takes
	}
	if a != Nothing {
		t.Fatalf("%v after %+v", a, w)
	}
	return append(next, v)
}

// All interleavings of three participants: everything written is sent in the end, and the writer is woken at most once
// for each time that it sleeps.
func TestNoByteIsLeft(t *testing.T) {
	plain := []op{write, tell}
	turn := []op{write, tellTurn, write, endTurn}
	defers := []op{begin, write, tell, finish}
	reader := []op{begin, write, tell, yield, write, tell, finish}
	other := []op{queue, write, tell}
	needs := []op{need, write, tell}
	all := [][]op{plain, turn, defers, reader, other, needs}
	for i := range all {
		for j := i; j < len(all); j++ {
			for k := j; k < len(all); k++ {
				walk(t, [][]op{all[i], all[j], all[k]})
			}
		}
	}
}

func walk(t *testing.T, programs [][]op) {
	seen := map[world]bool{}
	todo := []world{{}, {s: FlushState(Idle) | lookedBit, writer: sleeps}}
	ends := 0
	for len(todo) > 0 {
		w := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[w] {
			continue
		}
		seen[w] = true
		if w.tokens > 1 { // in an if, here and in moves, for the sake of a quick test: there are hundreds of thousands
			t.Fatalf("the writer is woken twice: %+v of %v", w, programs)
		}
		next := w.moves(t, programs)
		if len(next) == 0 {
			ends++
			require.False(t, w.buffer || w.queued, "a byte is left: %+v of %v", w, programs)
			require.True(t, w.s.Settled(), "%v", w.s)
			require.Equal(t, 0, w.s.Deferring())
		}
		todo = append(todo, next...)
	}
	require.NotZero(t, ends)
}
