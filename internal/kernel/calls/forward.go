package calls

// Watch is a watch of the process that a request was forwarded to.
type Watch interface {
	// Forget ends it. It may be called several times, and concurrently.
	Forget()
}

// Observer is a Watch that is only notified of the end of a ticket: nothing was forwarded.
type Observer interface {
	Watch
	Observes()
}

// onward records where the request of a ticket was forwarded to. It is immutable.
type onward struct {
	ticket Ticket
	watch  Watch
}

// Forward records that the request of t was forwarded, with a watch w of the receiver. It ends the watch of an earlier
// Forward of t. When t is settled w.Forget is called, by [Promise.Forget]. It returns false if t is settled, or is being
// settled; then the caller must call Forget itself, possibly a second time.
//
// Forward writes onward and then reads the state, and the code that settles t does the reverse: one of them sees what the
// other has
// done.
func (p *Promise) Forward(t Ticket, w Watch) bool {
	next := &onward{t, w}
	for {
		was := p.onward.Load()
		if was != nil && was.ticket > t {
			return false
		}
		if !p.onward.CompareAndSwap(was, next) {
			continue
		}
		if was != nil && was.ticket == t {
			was.watch.Forget()
		}
		if p.Waiting(t) {
			return true
		}
		p.onward.CompareAndSwap(next, nil)
		return false
	}
}

// Unforward removes the watch w of a Forward of t without calling w.Forget. It returns false if t is settled, or is being
// settled, or was forwarded again, or its Forget was called.
func (p *Promise) Unforward(t Ticket, w Watch) bool {
	o := p.onward.Load()
	return o != nil && o.ticket == t && o.watch == w && p.onward.CompareAndSwap(o, nil)
}

// Forwarded reports whether the request of t was forwarded, with a watch that is not an [Observer].
func (p *Promise) Forwarded(t Ticket) bool {
	o := p.onward.Load()
	if o == nil || o.ticket != t {
		return false
	}
	_, observes := o.watch.(Observer)
	return !observes
}

// Forget ends the watch of [Promise.Forward] of t, if there is one. The code that settles t calls it between Begin and Finish.
func (p *Promise) Forget(t Ticket) {
	if o := p.onward.Load(); o != nil && o.ticket == t && p.onward.CompareAndSwap(o, nil) {
		o.watch.Forget()
	}
}
