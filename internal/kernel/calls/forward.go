package calls

// Watch is over the process that a request has been forwarded to.
type Watch interface {
	// Forget ends it. It may be called several times, and by any goroutine.
	Forget()
}

// Observer is a Watch that is to be told of the end of a ticket, and has forwarded nothing.
type Observer interface {
	Watch
	Observes()
}

// onward says where the request of a ticket has been forwarded to. It is never changed.
type onward struct {
	ticket Ticket
	watch  Watch
}

// Forward notes that the request of t has been forwarded, with a watch over whom it has gone to. It ends the watch of an
// earlier Forward of t. When t is settled w.Forget is called, by [Promise.Forget]. False: t is settled, or is being
// settled, and the caller calls Forget itself; it may be called twice then.
//
// Forward writes onward and then reads the state, and who settles t does it the other way round: one of them sees what
// the other has done.
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

// Unforward takes the watch w of a Forward of t away, and does not call w.Forget. False: t is settled, or is being settled,
// or has been forwarded again, or its watch has been forgotten.
func (p *Promise) Unforward(t Ticket, w Watch) bool {
	o := p.onward.Load()
	return o != nil && o.ticket == t && o.watch == w && p.onward.CompareAndSwap(o, nil)
}

// Forwarded reports whether the request of t has been forwarded, and there is a watch, which is no [Observer].
func (p *Promise) Forwarded(t Ticket) bool {
	o := p.onward.Load()
	if o == nil || o.ticket != t {
		return false
	}
	_, observes := o.watch.(Observer)
	return !observes
}

// Forget ends the watch of [Promise.Forward] of t, if there is one. Who settles t calls it between Begin and Finish.
func (p *Promise) Forget(t Ticket) {
	if o := p.onward.Load(); o != nil && o.ticket == t && p.onward.CompareAndSwap(o, nil) {
		o.watch.Forget()
	}
}
