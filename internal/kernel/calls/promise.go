package calls

import "sync/atomic"

// Promise is settled once for each ticket. The zero value has no ticket yet.
type Promise struct {
	state atomic.Uint64 // a ticket, which says that the promise waits; ticket | settling; ticket | done
	value any
	err   error

	onward atomic.Pointer[onward] // of the ticket that was forwarded last, or of an old one; nil: of none
}

// Ticket is one use of a promise: its state while it waits.
type Ticket uint64

const (
	waiting uint64 = iota
	settling
	done
	phases = 3
)

// Arm makes the promise ready for one more call. Only its owner calls it, when nobody else reads
// the value any more.
func (p *Promise) Arm() Ticket {
	n := (p.state.Load() + phases + 1) &^ phases
	p.value, p.err = nil, nil
	p.state.Store(n)
	return Ticket(n)
}

// Current returns the ticket that the promise has been armed for last.
func (p *Promise) Current() Ticket { return Ticket(p.state.Load() &^ phases) }

// Pending reports whether t is not settled.
func (p *Promise) Pending(t Ticket) bool { return p.state.Load() < uint64(t)|done }

// Waiting reports whether nobody has begun to settle t.
func (p *Promise) Waiting(t Ticket) bool { return p.state.Load() == uint64(t) }

// Done reports whether t is settled: its value can be read, unless the owner has armed the
// promise since.
func (p *Promise) Done(t Ticket) bool { return p.state.Load() >= uint64(t)|done }

// Begin settles t; false: somebody else has, or is about to.
func (p *Promise) Begin(t Ticket, v any, err error) bool {
	if !p.state.CompareAndSwap(uint64(t), uint64(t)|settling) {
		return false
	}
	p.value, p.err = v, err
	return true
}

// Replace has another value take the place of the one of Begin, before Finish.
func (p *Promise) Replace(v any, err error) { p.value, p.err = v, err }

// Finish is the end of Begin. From here on the owner may use the promise again.
func (p *Promise) Finish(t Ticket) { p.state.Store(uint64(t) | done) }

// Result is what the promise is settled with. It is to be done.
func (p *Promise) Result() (any, error) { return p.value, p.err }

// Take is Result for the only one who reads it: the promise keeps nothing of it.
func (p *Promise) Take() (v any, err error) {
	v, err = p.value, p.err
	p.value, p.err = nil, nil
	return v, err
}
