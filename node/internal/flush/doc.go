// Package flush decides when bytes leave for a peer, and who sends them. It has no clock,
// no socket and no goroutine: [Step] takes a state and an event, and returns the next state
// and what the one that the event has happened to must do.
//
// Those who send write into the buffer of a connection. What is in the buffer can be sent
// by the writer, which is a goroutine, or at once by whoever has written. To wake the
// writer costs more than to send; to send each message alone costs more than to send some
// together. So whoever is about to write more, or to wait for an answer, defers: what is
// written in the meantime, by anybody, is sent at the end of that. A turn of an actor defers
// as well, but only for itself, for it may take long.
//
// # States
//
//	Queueing   the writer is awake, and what is to be sent goes into its queue: there is no
//	           connection yet, or something has had to wait
//	Passing    the writer is awake; what is to be sent is written into the buffer, at which
//	           the writer looks before it sleeps
//	Idle       the writer sleeps, or is about to after a last look at the buffer
//	Deferred   as Idle; there is something in the buffer that one who defers will send
//	Ended      nothing is sent any more
//
//	             Rest                     Written, Queued, Needed, TryLeft
//	Queueing, Passing --> Idle      Idle, Deferred --> Passing (Queued: Queueing), WakeWriter
//	             Written                  EndDefer, Yield
//	Idle, Deferring > 0 --> Deferred   Deferred --> Idle, TryFlush
//
// # Invariants
//
//  1. The writer is woken once for each time that it sleeps: [WakeWriter] comes of a step
//     out of Idle or Deferred to Passing or Queueing, and of no other.
//  2. Deferred has Deferring > 0: each of those ends with EndDefer.
//  3. No byte is left in the buffer unless the state is Queueing or Passing, or Deferred, or
//     Turns > 0, or somebody who has written has not told yet, or somebody is at a TryFlush,
//     or the writer has yet to take its last look. Each of these sends it, or wakes the
//     writer. The test walks all orders of a few that send.
//  4. What goes past the queue overtakes nothing that is in it: only [Rest], which the writer
//     says when its queue is empty, leads from Queueing to a state that is direct.
package flush
