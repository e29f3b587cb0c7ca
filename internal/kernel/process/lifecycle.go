package process

import "sync/atomic"

const tokened uint32 = 1 // it has or may get a message with a trace token: no step of the way

const (
	exiting   uint32 = 2 << iota // signals no longer reach it; links and monitors are being told
	dead                         // all have been told
	abandoned                    // ended from outside while its function ran
	returned                     // the function has returned since
	itself                       // ended by its own code: not abandoned
)

// lifecycle is how far a process is on its way from spawn to death: one word, which senders and those who run the process look at
// with each message. The zero value is alive.
//
//	alive ──End──► exiting ──Told──► dead
//
// Beside the way it notes who has ended the process, and whether its function still runs. It is safe for concurrent use, but for
// End, which is called once.
//
// Invariants:
//
//  1. It only goes forward: no bit is ever taken away.
//  2. A process lingers, and is counted once, from Abandon until Return: it was ended from outside
//     while its function ran, and that has not returned. One that its own code ends never lingers.
type lifecycle struct{ v atomic.Uint32 }

// IsPlain reports whether the process is alive and has nothing to do with trace tokens.
func (s *lifecycle) IsPlain() bool { return s.v.Load() == 0 }

// IsOver reports whether the process is no longer alive.
func (s *lifecycle) IsOver() bool { return s.v.Load()&^tokened != 0 }

// IsDead reports whether all have been told of the end.
func (s *lifecycle) IsDead() bool { return s.v.Load()&dead != 0 }

// MayLinger reports whether the function of the process runs, or may: neither has its own code ended
// the process, nor has it returned after an end from outside.
func (s *lifecycle) MayLinger() bool { return s.v.Load()&(itself|returned) == 0 }

// End is the end of a process that is alive. own: its own code ends it; alone: there is nobody to
// tell.
func (s *lifecycle) End(own, alone bool) {
	end := exiting
	if own {
		end |= itself
	}
	if alone {
		end |= dead
	}
	s.v.Or(end)
}

// Told says that all have been told of the end.
func (s *lifecycle) Told() {
	if !s.IsDead() {
		s.v.Or(dead)
	}
}

// Token says that messages with trace tokens may come from now on, and HasToken reports it.
func (s *lifecycle) Token() { s.v.Or(tokened) }

// HasToken reports whether Token has been called.
func (s *lifecycle) HasToken() bool { return s.v.Load()&tokened != 0 }

// Abandon says that the function of a process goes on though it has been ended from outside: it is
// counted by lingering, until Return.
func (s *lifecycle) Abandon(lingering *atomic.Int64) {
	lingering.Add(1)
	if s.v.Or(abandoned)&returned != 0 {
		lingering.Add(-1) // it has returned meanwhile
	}
}

// Lingers reports whether the function still goes on.
func (s *lifecycle) Lingers() bool { return s.v.Load()&(abandoned|returned) == abandoned }

// Return says that the function of a process that is over has returned.
func (s *lifecycle) Return(lingering *atomic.Int64) {
	if s.v.Load()&itself == 0 && s.v.Or(returned)&(abandoned|returned) == abandoned {
		lingering.Add(-1)
	}
}
