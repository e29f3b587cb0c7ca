package sys

import (
	"fmt"
	"math/big"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// logged is how many events a log keeps that was asked for without a number.
const (
	logged    = 10
	maxLogged = 100_000
)

var (
	aLog        = wire.Atom("log")
	aStatistics = wire.Atom("statistics")
	aTrace      = wire.Atom("trace")
	aGet        = wire.Atom("get")
	aPrint      = wire.Atom("print")
	unknown     = wire.Atom("unknown_debug")
)

// tools are the debug tools that are installed.
type tools struct {
	log   *ring
	stats *statistics
	trace bool
}

// Debugging reports whether events should be told of.
func (s *System) Debugging() bool {
	return s != nil && (s.debug.log != nil || s.debug.stats != nil || s.debug.trace)
}

// In tells of a message that has come in.
func (s *System) In(c *node.Context, msg any) {
	if t := &s.debug; t.stats != nil {
		t.stats.in++
	}
	s.event(c, wire.Tuple{wire.Atom("in"), Term(msg)})
}

// Out tells of a reply.
func (s *System) Out(c *node.Context, reply, to, state any) {
	if t := &s.debug; t.stats != nil {
		t.stats.out++
	}
	s.event(c, wire.Tuple{wire.Atom("out"), Term(reply), Term(to), Term(state)})
}

// NoReply tells that a message has been handled without a reply.
func (s *System) NoReply(c *node.Context, state any) {
	s.event(c, wire.Tuple{wire.Atom("noreply"), Term(state)})
}

func (s *System) event(c *node.Context, e any) {
	if s.debug.log != nil {
		s.debug.log.add(e)
	}
	if s.debug.trace {
		c.Node().Log().Info("trace", "process", c.Self().String(), "event", wire.FormatPlain(e))
	}
}

// command answers {debug, What}.
func (t *tools) command(c *node.Context, what any) any {
	if what == wire.Atom("no_debug") {
		*t = tools{}
		return wire.OK
	}
	p, ok := what.(wire.Tuple)
	if !ok || len(p) != 2 {
		return unknown
	}
	on, isBool := wire.Bool(p[1])
	switch {
	case p[0] == aTrace && isBool:
		t.trace = on
	case p[0] == aStatistics && isBool:
		t.stats = nil
		if on {
			t.stats = &statistics{start: time.Now(), handled: handled(c)}
		}
	case p[0] == aStatistics && p[1] == aGet:
		return wire.Tuple{wire.OK, t.stats.report(c)}
	case p[0] == aLog:
		return t.command2(c, p[1])
	default:
		return unknown
	}
	return wire.OK
}

// command2 answers {debug, {log, What}}.
func (t *tools) command2(c *node.Context, what any) any {
	size := 0
	switch n, ok := what.(wire.Tuple); {
	case ok && len(n) == 2 && n[0] == wire.True:
		k, _ := wire.Int(n[1])
		if k < 1 || k > maxLogged {
			return unknown
		}
		size = int(k)
	case what == wire.True || what == true:
		size = logged
	case what == wire.False || what == false:
		t.log = nil
		return wire.OK
	case what == aGet:
		return wire.Tuple{wire.OK, t.log.events()}
	case what == aPrint:
		for _, e := range t.log.events() {
			c.Node().Log().Info("logged event", "process", c.Self().String(), "event", wire.FormatPlain(e))
		}
		return wire.OK
	default:
		return unknown
	}
	t.log = t.log.resized(size)
	return wire.OK
}

// list is the tools as get_status shows them.
func (t *tools) list() wire.List {
	l := wire.List{}
	if t.log != nil {
		l = append(l, wire.Tuple{aLog, t.log.events()})
	}
	if t.stats != nil {
		l = append(l, wire.Tuple{aStatistics, wire.Tuple{localtime(t.stats.start), t.stats.in, t.stats.out}})
	}
	if t.trace {
		l = append(l, wire.Tuple{aTrace, wire.True})
	}
	return l
}

// ring holds the last events.
type ring struct {
	last []any
	next int
	full bool
}

func (r *ring) add(e any) {
	r.last[r.next] = e
	r.next++
	if r.next == len(r.last) {
		r.next, r.full = 0, true
	}
}

// events returns them, the oldest first.
func (r *ring) events() wire.List {
	if r == nil {
		return wire.List{}
	}
	if !r.full {
		return append(wire.List{}, r.last[:r.next]...)
	}
	return append(append(wire.List{}, r.last[r.next:]...), r.last[:r.next]...)
}

func (r *ring) resized(n int) *ring {
	s := &ring{last: make([]any, n)}
	old := r.events()
	for _, e := range old[max(0, len(old)-n):] {
		s.add(e)
	}
	return s
}

// statistics are counted from when they were asked for.
type statistics struct {
	start   time.Time
	handled uint64
	in, out int
}

func handled(c *node.Context) uint64 {
	i, _ := c.Node().Info(c.Self())
	return i.Handled
}

// report is the answer to {statistics, get}. In place of Erlang's reductions
// stands the number of messages handled.
func (s *statistics) report(c *node.Context) any {
	if s == nil {
		return wire.Atom("no_statistics")
	}
	return wire.List{
		wire.Tuple{wire.Atom("start_time"), localtime(s.start)},
		wire.Tuple{wire.Atom("current_time"), localtime(time.Now())},
		wire.Tuple{wire.Atom("reductions"), int(handled(c) - s.handled)},
		wire.Tuple{wire.Atom("messages_in"), s.in},
		wire.Tuple{wire.Atom("messages_out"), s.out},
	}
}

// Term is v if it is a term, else what it says of itself: its Term method's
// answer, or a binary with its fields. Other nodes can be shown what it returns.
func Term(v any) any {
	switch v := v.(type) {
	case nil, bool, string, []byte, wire.Atom, wire.PID, wire.Ref, wire.Port, wire.Fun, wire.Export, wire.Bitstring, wire.Charlist, wire.Map, wire.ImproperList:
		return v
	case *big.Int, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return v
	case wire.Tuple:
		return wire.Tuple(terms(v))
	case wire.List:
		return wire.List(terms(v))
	case interface{ Term() any }:
		return v.Term()
	}
	return fmt.Sprintf("%+v", v)
}

func terms(l []any) []any {
	r := make([]any, len(l))
	for i, v := range l {
		r[i] = Term(v)
	}
	return r
}
