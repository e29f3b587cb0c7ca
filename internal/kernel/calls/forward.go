package calls

import "slices"

// Watch is notified of the end of a ticket.
type Watch interface {
	// Forget is called once the ticket is settled. It may be called several times, and concurrently.
	Forget()
}

// onward records where the request of a ticket was forwarded to, and who watches the ticket. It is immutable.
type onward struct {
	ticket    Ticket
	watch     Watch   // of the process that the request was forwarded to; nil: it was not
	observers []Watch // of Observe
}

func (o *onward) forget() {
	if o.watch != nil {
		o.watch.Forget()
	}
	for _, w := range o.observers {
		w.Forget()
	}
}

// Forward records that the request of t was forwarded, with a watch w of the receiver. It ends the watch of an earlier
// Forward of t, and those of Observe. When t is settled w.Forget is called, by [Promise.Forget]. It returns false if t is
// settled, or is being settled; then the caller must call Forget itself, possibly a second time.
func (p *Promise) Forward(t Ticket, w Watch) bool {
	was, ok := p.setOnward(t, func(*onward) *onward { return &onward{ticket: t, watch: w} })
	if ok && was != nil {
		was.forget()
	}
	return ok
}

// Observe makes w.Forget be called when t is settled, or is forwarded next. It returns false as Forward does.
func (p *Promise) Observe(t Ticket, w Watch) bool {
	_, ok := p.setOnward(t, func(was *onward) *onward {
		if was == nil {
			return &onward{ticket: t, observers: []Watch{w}}
		}
		return &onward{t, was.watch, append(slices.Clip(was.observers), w)}
	})
	return ok
}

// setOnward replaces the record of t, nil at first, by what next makes of it, and returns the former one. ok is false if t is
// settled, or is being settled; then the former one is forgotten.
//
// It writes onward and then reads the state, and the code that settles t does the reverse: one of them sees what the other
// has done.
func (p *Promise) setOnward(t Ticket, next func(was *onward) *onward) (was *onward, ok bool) {
	for {
		last := p.onward.Load()
		if last != nil && last.ticket > t {
			return nil, false
		}
		if was = last; was != nil && was.ticket != t {
			was = nil
		}
		o := next(was)
		if !p.onward.CompareAndSwap(last, o) {
			continue
		}
		if p.Waiting(t) {
			return was, true
		}
		p.onward.CompareAndSwap(o, nil)
		if was != nil {
			was.forget() // the code that settles t may have found nothing
		}
		return was, false
	}
}

// Unforward removes the watch w of a Forward of t without calling w.Forget; those of Observe stay. It returns false if t was
// forwarded again, or w.Forget was called, because t is settled or is being settled. If it is being settled, w.Forget may
// also be called later.
func (p *Promise) Unforward(t Ticket, w Watch) bool {
	for {
		o := p.onward.Load()
		if o == nil || o.ticket != t || o.watch != w {
			return false
		}
		var rest *onward
		if len(o.observers) > 0 {
			rest = &onward{ticket: t, observers: o.observers}
		}
		if p.onward.CompareAndSwap(o, rest) {
			return true
		}
	}
}

// Forwarded reports whether the request of t was forwarded.
func (p *Promise) Forwarded(t Ticket) bool {
	o := p.onward.Load()
	return o != nil && o.ticket == t && o.watch != nil
}

// Forget ends the watches of [Promise.Forward] and [Promise.Observe] of t. The code that settles t calls it between Begin and
// Finish; it may be called before, when the caller is known to wait no longer.
func (p *Promise) Forget(t Ticket) {
	for o := p.onward.Load(); o != nil && o.ticket == t; o = p.onward.Load() {
		if p.onward.CompareAndSwap(o, nil) {
			o.forget()
		}
	}
}
