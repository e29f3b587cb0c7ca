package admin

import (
	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// pump takes events from a source as fast as the client allows.
type pump[E any] struct {
	o      *outlet
	n      *node.Node
	source <-chan E
	why    wire.Atom                // what is told when the source ends
	show   func(E) (v any, ok bool) // ok: the client wants it

	sent  int  // events
	next  E    // the one that was taken while none might be sent, to see the source's end
	has   bool // there is one
	ended bool // the source has
}

// run is the pump's goroutine: started with the source, ended with it or with the
// stream's process, which closes it.
func (p *pump[E]) run() {
	o := p.o
	for {
		most, ok := p.wait()
		if !ok {
			return
		}
		if o.max > 0 {
			most = min(most, o.max-p.sent)
		}
		m, ok := p.gather(most)
		if !ok {
			return
		}
		o.spent.Add(int64(len(m.events)))
		if p.sent += len(m.events); o.max > 0 && p.sent >= o.max && m.end == "" {
			m.end = "max"
		}
		p.n.Send(o.self, m)
		select {
		case <-o.sent:
		case <-o.over:
			return
		}
	}
}

// wait waits until events may be sent, and says how many at once, or until there
// will be none. False: the process has ended.
func (p *pump[E]) wait() (most int, ok bool) {
	o := p.o
	for {
		may := o.granted.Load() - o.spent.Load()
		switch {
		case o.window == 0:
			return batch, true
		case may > 0 || p.ended && !p.has:
			return int(min(may, batch)), true
		}
		source := p.source
		if p.has || p.ended {
			source = nil
		}
		select {
		case <-o.more:
		case <-o.over:
			return 0, false
		case e, ok := <-source:
			p.next, p.has, p.ended = e, ok, !ok
		}
	}
}

// gather takes most events at most, waiting for the first only. False: the process
// has ended.
func (p *pump[E]) gather(most int) (m parcel, ok bool) {
	for len(m.events) < most || p.ended {
		if p.has {
			m.events = p.add(m.events)
			continue
		}
		if p.ended {
			m.end = p.why
			return m, true
		}
		if len(m.events) > 0 {
			select {
			case e, ok := <-p.source:
				p.next, p.has, p.ended = e, ok, !ok
			default:
				return m, true
			}
			continue
		}
		select {
		case e, ok := <-p.source:
			p.next, p.has, p.ended = e, ok, !ok
		case <-p.o.over:
			return m, false
		}
	}
	return m, true
}

// add puts next among events, if it is wanted.
func (p *pump[E]) add(events wire.List) wire.List {
	v, wanted := p.show(p.next)
	p.has = false
	if !wanted {
		return events
	}
	t, err := toTerm(v)
	if err != nil {
		t = wire.NewMap(wire.Atom("error"), err.Error())
	}
	return append(events, t)
}
