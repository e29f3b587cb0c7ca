package flow

import "fmt"

// FlushPhase is the phase of the output: see the package comment.
type FlushPhase uint8

const (
	Queueing FlushPhase = iota // the zero value: before the connection
	Passing
	Idle
	Deferred
	Ended
	phases
)

var phaseNames = [phases]string{"queueing", "passing", "idle", "deferred", "ended"}

func (p FlushPhase) String() string {
	if p < phases {
		return phaseNames[p]
	}
	return fmt.Sprintf("phase %d", uint8(p))
}

// FlushState is the complete state that decides when bytes are sent, in one word for compare-and-swap. The zero value is that
// before there is a connection.
type FlushState uint64

// The parts of a FlushState: 3 bits of phase, one bit that is set if the writer has taken its last look, and two counts.
const (
	phaseBits      = 7
	lookedBit      = 1 << 3
	deferringShift = 4
	countBits      = 30
	countMask      = 1<<countBits - 1
	turnsShift     = deferringShift + countBits

	oneDeferring FlushState = 1 << deferringShift
	oneTurn      FlushState = 1 << turnsShift
)

// Phase returns the phase.
func (s FlushState) Phase() FlushPhase { return FlushPhase(s & phaseBits) }

// Deferring returns the number of goroutines that will flush the buffer when they end.
func (s FlushState) Deferring() int { return int(s >> deferringShift & countMask) }

// Turns returns the number of turns that will send at their end what they have written.
func (s FlushState) Turns() int { return int(s >> turnsShift & countMask) }

// Direct reports whether frames to be sent are written into the buffer.
func (s FlushState) Direct() bool { p := s.Phase(); return p-Passing <= Deferred-Passing }

// Asleep reports whether the writer sleeps, or is about to.
func (s FlushState) Asleep() bool { p := s.Phase(); return p-Idle <= Deferred-Idle }

// Settled reports whether everything written has been sent, as far as its writers have reported.
func (s FlushState) Settled() bool { return s.Phase() == Idle && s&lookedBit != 0 && s.Turns() == 0 }

func (s FlushState) with(p FlushPhase) FlushState { return s&^(phaseBits|lookedBit) | FlushState(p) }

func (s FlushState) String() string {
	text := s.Phase().String()
	if s.Asleep() && s&lookedBit == 0 {
		text += ", a look to come"
	}
	return fmt.Sprintf("%s, %d defer, %d turns", text, s.Deferring(), s.Turns())
}
