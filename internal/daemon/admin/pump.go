package admin

import (
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// eventPump takes events from a source as fast as the client allows.
type eventPump[E any] struct {
	sender    *streamSender
	n         *node.Node
	source    <-chan E
	endReason wire.Atom                // what is told when the source ends
	show      func(E) (v any, ok bool) // ok: the client wants it

	sent    int  // events
	next    E    // the one that was taken while none might be sent, to see the source's end
	hasNext bool // there is one
	ended   bool // the source has
}

// run is the event pump's goroutine: started with the source, ended with it or with the
// stream's process, which closes it.
func (p *eventPump[E]) run() {
	o := p.sender
	for {
		most, ok := p.wait()
		if !ok {
			return
		}
		if o.max > 0 {
			most = min(most, o.max-p.sent)
		}
		m, ok := p.collect(most)
		if !ok {
			return
		}
		o.used.Add(int64(len(m.events)))
		if p.sent += len(m.events); o.max > 0 && p.sent >= o.max && m.end == "" {
			m.end = "max"
		}
		if !o.give(p.n, m) {
			return
		}
		select {
		case <-o.sent:
		case <-o.done:
			return
		}
	}
}

// wait waits until events may be sent, and says how many at once, or until there
// will be none. False: the process has ended.
func (p *eventPump[E]) wait() (most int, ok bool) {
	o := p.sender
	for {
		may := o.credit.Load() - o.used.Load()
		switch {
		case o.window == 0:
			return maxBatch, true
		case may > 0 || p.ended && !p.hasNext:
			return int(min(may, maxBatch)), true
		}
		source := p.source
		if p.hasNext || p.ended {
			source = nil
		}
		select {
		case <-o.more:
		case <-o.done:
			return 0, false
		case e, ok := <-source:
			p.next, p.hasNext, p.ended = e, ok, !ok
		}
	}
}

// collect takes most events at most, waiting for the first only. False: the process
// has ended.
func (p *eventPump[E]) collect(most int) (m eventBatch, ok bool) {
	for len(m.events) < most || p.ended {
		if p.hasNext {
			m.events = p.add(m.events)
			continue
		}
		if p.ended {
			m.end = p.endReason
			return m, true
		}
		if len(m.events) > 0 {
			select {
			case e, ok := <-p.source:
				p.next, p.hasNext, p.ended = e, ok, !ok
			default:
				return m, true
			}
			continue
		}
		select {
		case e, ok := <-p.source:
			p.next, p.hasNext, p.ended = e, ok, !ok
		case <-p.sender.done:
			return m, false
		}
	}
	return m, true
}

// add puts next among events, if it is wanted.
func (p *eventPump[E]) add(events wire.List) wire.List {
	v, wanted := p.show(p.next)
	p.hasNext = false
	if !wanted {
		return events
	}
	t, err := toTerm(v)
	if err != nil {
		t = wire.NewMap(wire.Atom("error"), err.Error())
	}
	return append(events, t)
}
