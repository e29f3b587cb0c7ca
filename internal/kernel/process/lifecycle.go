package process

import "sync/atomic"

// These two are not steps of the lifecycle.
const (
	tokened uint32 = 1  // it has or may receive a message with a trace token
	checked uint32 = 64 // what it sends is checked: see SendCheck
)

const (
	exiting   uint32 = 2 << iota // signals no longer reach it; links and monitors are being notified
	dead                         // all have been notified
	abandoned                    // ended from outside while its function ran
	returned                     // the function has returned since
	itself                       // ended by its own code: never abandoned
)

// lifecycle is the state of a process from spawn to death: one word, which senders and those who run the process check with
// each message. The zero value is alive.
//
//	alive ──End──► exiting ──Told──► dead
//
// In addition it records who has ended the process, and whether its function still runs. It is safe for concurrent use,
// except End, which is called once.
//
// Invariants:
//
//  1. It only advances: no bit is ever cleared.
//  2. A process lingers, and is counted once, from Abandon until Return: it was ended from outside
//     while its function ran, and that has not returned. One that its own code ends never lingers.
type lifecycle struct{ v atomic.Uint32 }

// IsPlain reports whether the process is alive, does not use trace tokens, and may send what it wants.
func (s *lifecycle) IsPlain() bool { return s.v.Load() == 0 }

// IsOver reports whether the process is no longer alive.
func (s *lifecycle) IsOver() bool { return s.v.Load()&^(tokened|checked) != 0 }

// IsDead reports whether all have been notified of the end.
func (s *lifecycle) IsDead() bool { return s.v.Load()&dead != 0 }

// End ends a process that is alive. own reports that its own code ends it; alone that nobody has to be notified.
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

// Told records that all have been notified of the end.
func (s *lifecycle) Told() {
	if !s.IsDead() {
		s.v.Or(dead)
	}
}

// Token records that messages with trace tokens may arrive from now on.
func (s *lifecycle) Token() { s.v.Or(tokened) }

// HasToken reports whether Token has been called.
func (s *lifecycle) HasToken() bool { return s.v.Load()&tokened != 0 }

// Check records that what the process sends is checked.
func (s *lifecycle) Check() { s.v.Or(checked) }

// IsChecked reports whether Check has been called.
func (s *lifecycle) IsChecked() bool { return s.v.Load()&checked != 0 }

// Abandon records that the function of a process continues though it has been ended from outside: lingering counts it until
// Return.
func (s *lifecycle) Abandon(lingering *atomic.Int64) {
	lingering.Add(1)
	if s.v.Or(abandoned)&returned != 0 {
		lingering.Add(-1) // it has returned meanwhile
	}
}

// Lingers reports whether an abandoned function is still running.
func (s *lifecycle) Lingers() bool { return s.v.Load()&(abandoned|returned) == abandoned }

// HasReturned reports whether the function of a process that is not alive has returned, or has ended the process itself.
func (s *lifecycle) HasReturned() bool { return s.v.Load()&(returned|itself) != 0 }

// Return records that the function of a process that is not alive has returned.
func (s *lifecycle) Return(lingering *atomic.Int64) {
	if s.v.Load()&itself == 0 && s.v.Or(returned)&(abandoned|returned) == abandoned {
		lingering.Add(-1)
	}
}
