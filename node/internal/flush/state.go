package flush

import "fmt"

// Phase is what is done with what is to be sent: see the package comment.
type Phase uint8

const (
	Queueing Phase = iota // the zero value: before the connection
	Passing
	Idle
	Deferred
	Ended
	phases
)

var phaseNames = [phases]string{"queueing", "passing", "idle", "deferred", "ended"}

func (p Phase) String() string {
	if p < phases {
		return phaseNames[p]
	}
	return fmt.Sprintf("phase %d", uint8(p))
}

// State is all that decides when bytes leave, in one word, which can be compared and
// swapped. The zero value is before there is a connection.
type State uint64

// The parts of a State: 3 bits of phase, one bit that says whether the writer has taken its
// last look, and two counts.
const (
	phaseBits      = 7
	lookedBit      = 1 << 3
	deferringShift = 4
	countBits      = 30
	countMask      = 1<<countBits - 1
	turnsShift     = deferringShift + countBits

	oneDeferring State = 1 << deferringShift
	oneTurn      State = 1 << turnsShift
)

// Phase returns the phase.
func (s State) Phase() Phase { return Phase(s & phaseBits) }

// Deferring returns how many will send at the end of what they do, for everybody.
func (s State) Deferring() int { return int(s >> deferringShift & countMask) }

// Turns returns how many turns will send at their end what they have written.
func (s State) Turns() int { return int(s >> turnsShift & countMask) }

// Direct reports whether what is to be sent is written into the buffer.
func (s State) Direct() bool { p := s.Phase(); return p-Passing <= Deferred-Passing }

// Asleep reports whether the writer sleeps, or is about to.
func (s State) Asleep() bool { p := s.Phase(); return p-Idle <= Deferred-Idle }

// Settled reports whether all that has been written has been sent, as far as those who have
// written it have told.
func (s State) Settled() bool { return s.Phase() == Idle && s&lookedBit != 0 && s.Turns() == 0 }

func (s State) with(p Phase) State { return s&^(phaseBits|lookedBit) | State(p) }

func (s State) String() string {
	text := s.Phase().String()
	if s.Asleep() && s&lookedBit == 0 {
		text += ", a look to come"
	}
	return fmt.Sprintf("%s, %d defer, %d turns", text, s.Deferring(), s.Turns())
}
