package node

import (
	"time"

	"github.com/actornode/actornode/internal/bias"
	"github.com/actornode/actornode/node/internal/erpc"
	"github.com/actornode/actornode/node/internal/waiting"
	"github.com/actornode/actornode/node/observe"
)

// What processes wait for, as Info shows it. A blocking process writes it for each call into its
// waiting.Record, and for each receive when that began. All other waits are rare: they stand in
// cold.wait.

// waitsFor notes, for Info, that p, which may be nil, waits for something of whom on stands for.
func (p *proc) waitsFor(k waiting.Kind, on Dest) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.coldPart().wait = &observe.Wait{For: k.String(), On: seen(on), Since: time.Unix(0, p.node.clock.Coarse())}
	p.mu.Unlock()
}

// waitsNoMore is the end of waitsFor.
func (p *proc) waitsNoMore() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.cold.wait = nil
	p.mu.Unlock()
}

// seen is a destination as observe.Wait has it.
func seen(to Dest) Dest {
	switch to := to.(type) {
	case nil:
		return nil
	case PID: // a copy: what a call is given need not be on the heap
		return to
	case At:
		return to
	case Ref:
		return At{Node: to.Node()}
	case erpc.Function:
		return At{Node: to.Node}
	case erpc.Behaviour:
		return At{Node: to.Node}
	}
	return nil
}

// waitsFor is that of proc, for the calls of a blocking process, at a price that each call can pay.
func (s *Process) waitsFor(k waiting.Kind, on Dest, t ticket) {
	w := s.waits
	var number uint64
	if p := t.p.target; p != nil {
		number = p.id + 1
	} else {
		s.own.mu.Lock()
		w.on = seen(on)
		s.own.mu.Unlock()
	}
	w.record.Set(k, number, s.own.node.clock.Coarse(), t.n)
}

// waitsSince notes that a receive begins to wait.
func (s *Process) waitsSince() { bias.StoreUint64(&s.since, uint64(s.own.node.clock.Coarse())) }

// waitLocked is what p waits for, if it does what st says.
func (p *proc) waitLocked(st observe.State) observe.Wait {
	if p.cold != nil && p.cold.wait != nil {
		return *p.cold.wait
	}
	if p.kind == kindActor || p.kind == kindExternal {
		return observe.Wait{}
	}
	s := p.process()
	if w := s.waits; w != nil {
		if k, number, since := w.record.Get(&w.call.Promise); k != waiting.None {
			wait := observe.Wait{For: k.String(), Since: time.Unix(0, since)}
			if number != 0 {
				wait.On = p.node.origin.PID(number - 1)
			} else {
				wait.On = w.on
			}
			return wait
		}
	}
	if since := s.since.Load(); st == observe.Waiting && since != 0 { // else its function has not begun
		return observe.Wait{For: waiting.Message.String(), Since: time.Unix(0, int64(since))}
	}
	return observe.Wait{}
}
