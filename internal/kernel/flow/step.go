package flow

import "fmt"

// FlushEvent is an event of a sender or of the writer.
type FlushEvent uint8

const (
	Written     FlushEvent = iota // something is in the buffer, and whoever wrote it does not send it
	TurnWritten                   // as Written, by a turn, the first time in it; TurnEnd will follow
	TurnEnd                       // the turn has ended, or waits
	Defer                         // a goroutine will send soon; EndDefer will follow
	EndDefer                      // the end of that
	Yield                         // a deferring goroutine lets others run, and continues to defer
	TryLeft                       // a TryFlush has left something
	Queued                        // something is in the writer's queue
	Needed                        // the writer is needed: for a tick, or because much is queued
	Rest                          // the writer has found nothing, and will look at the buffer once more
	Looked                        // the writer has looked, and sleeps; there was nothing, or it has been sent
	LookedMore                    // the writer has looked, and there is more to send
	End                           // nothing will be sent any more
	events
)

var eventNames = [events]string{"written", "written in a turn", "end of a turn", "defer", "end of deferring", "yield",
	"something left", "queued", "needed", "rest", "looked", "looked, and there is more", "end"}

func (e FlushEvent) String() string {
	if e < events {
		return eventNames[e]
	}
	return fmt.Sprintf("event %d", uint8(e))
}

// FlushAction is the action required after an event.
type FlushAction uint8

const (
	Nothing    FlushAction = iota
	TryFlush               // send what the connection accepts at once; TryLeft follows if something is left
	WakeWriter             // wake the writer, or continue if the caller is the writer
	actions
)

var actionNames = [actions]string{"nothing", "try to flush", "wake the writer"}

func (a FlushAction) String() string {
	if a < actions {
		return actionNames[a]
	}
	return fmt.Sprintf("action %d", uint8(a))
}

// FlushStep returns the state after s and the action when e happens.
func FlushStep(s FlushState, e FlushEvent) (FlushState, FlushAction) {
	switch e {
	case Defer:
		return s + oneDeferring, Nothing
	case EndDefer:
		return send(s - oneDeferring)
	case Yield:
		return send(s)
	case TurnWritten:
		return s + oneTurn, Nothing
	case TurnEnd:
		s -= oneTurn
		if s.Asleep() {
			return settle(s), TryFlush
		}
		return s, Nothing
	case Written:
		switch {
		case !s.Asleep():
			return s, Nothing
		case s.Deferring() > 0:
			return s&^phaseBits | FlushState(Deferred), Nothing
		}
		return s.with(Passing), WakeWriter
	case TryLeft, Needed, LookedMore:
		if s.Asleep() {
			return s.with(Passing), WakeWriter
		}
		return s, Nothing
	case Queued:
		switch {
		case s.Phase() == Ended:
			return s, Nothing
		case s.Asleep():
			return s.with(Queueing), WakeWriter
		}
		return s.with(Queueing), Nothing
	case Rest:
		if s.Phase() == Ended {
			return s, Nothing
		}
		return s.with(Idle), Nothing
	case Looked:
		if s.Asleep() {
			return s | lookedBit, Nothing
		}
		return s, Nothing
	case End:
		return s.with(Ended), Nothing
	}
	panic("flush: " + e.String())
}

// send sends what is deferred.
func send(s FlushState) (FlushState, FlushAction) {
	if s.Phase() != Deferred {
		return s, Nothing
	}
	return settle(s), TryFlush
}

// settle returns s, in which the writer sleeps, with nothing in the buffer except what is about to be sent.
func settle(s FlushState) FlushState { return s&^phaseBits | FlushState(Idle) }
