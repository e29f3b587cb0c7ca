package admin

import (
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// eventPump reads events from a source as fast as the client allows.
type eventPump[E any] struct {
	sender    *streamSender
	n         *node.Node
	source    <-chan E
	endReason wire.Atom                // sent when the source ends
	show      func(E) (v any, ok bool) // ok if the client wants it

	sent    int  // events
	next    E    // read ahead without credit, to notice the source's end
	hasNext bool // next is set
	ended   bool // the source is closed
}

// run is the event pump's goroutine. It starts with the source, and ends with it or with the stream's process, which closes
// the source.
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

// wait waits until events may be sent and returns how many at once, or until there will be no more. It returns false if the
// process has ended.
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

// collect reads at most most events, and waits only for the first. It returns false if the process has ended.
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

// add appends next to events, if the client wants it.
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
