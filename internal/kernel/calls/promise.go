package calls

import "sync/atomic"

// Promise is settled once for each ticket. The zero value has no ticket yet.
type Promise struct {
	state atomic.Uint64 // a ticket while it waits; ticket | settling; ticket | done
	value any
	err   error

	onward atomic.Pointer[onward] // of the last forwarded ticket, possibly an old one, or nil
}

// Ticket is one use of a promise: its state while it waits.
type Ticket uint64

const (
	waiting uint64 = iota
	settling
	done
	phases = 3
)

// Arm prepares the promise for one more call. Only its owner may call it, when no one reads the value any more. It panics
// if the ticket before is not settled: then another goroutine waits for that with the promise of the same process.
func (p *Promise) Arm() Ticket {
	was := p.state.Load()
	if was != 0 && was&phases != done {
		panic("node: a process, or a handle, is used by two goroutines at once: it waits for an answer already")
	}
	n := (was + phases + 1) &^ phases
	p.value, p.err = nil, nil
	p.state.Store(n)
	return Ticket(n)
}

// Current returns the ticket for which the promise was last armed.
func (p *Promise) Current() Ticket { return Ticket(p.state.Load() &^ phases) }

// Pending reports whether t is not settled.
func (p *Promise) Pending(t Ticket) bool { return p.state.Load() < uint64(t)|done }

// Waiting reports whether settling t has not begun.
func (p *Promise) Waiting(t Ticket) bool { return p.state.Load() == uint64(t) }

// Done reports whether t is settled: its value can be read, unless the owner has armed the
// promise since.
func (p *Promise) Done(t Ticket) bool { return p.state.Load() >= uint64(t)|done }

// Begin begins to settle t. It returns false if t is settled, or being settled.
func (p *Promise) Begin(t Ticket, v any, err error) bool {
	if !p.state.CompareAndSwap(uint64(t), uint64(t)|settling) {
		return false
	}
	p.value, p.err = v, err
	return true
}

// Replace replaces the result set by Begin, before Finish.
func (p *Promise) Replace(v any, err error) { p.value, p.err = v, err }

// Finish ends Begin. After that the owner may reuse the promise.
func (p *Promise) Finish(t Ticket) { p.state.Store(uint64(t) | done) }

// Result returns the result of the promise, which must be done.
func (p *Promise) Result() (any, error) { return p.value, p.err }

// Take is Result for the only reader: the promise does not keep the result.
func (p *Promise) Take() (v any, err error) {
	v, err = p.value, p.err
	p.value, p.err = nil, nil
	return v, err
}
