package sysmsg

import (
	"math/big"
	"slices"
	"time"

	"github.com/actornode/actornode/node"
	"github.com/actornode/actornode/wire"
)

// logged is the default number of events in a log.
const (
	logged    = 10
	maxLogged = 100_000
)

// Words of the debug commands.
const (
	aLog        wire.Atom = "log"
	aLogToFile  wire.Atom = "log_to_file"
	aStatistics wire.Atom = "statistics"
	aTrace      wire.Atom = "trace"
	aGet        wire.Atom = "get"
	aPrint      wire.Atom = "print"
	aNoDebug    wire.Atom = "no_debug"
	aRemove     wire.Atom = "remove"
	unknown     wire.Atom = "unknown_debug"
)

// tools are the debug tools that are installed.
type tools struct {
	log   *ring
	stats *statistics
	trace bool
	order []wire.Atom // the installed tools, the newest first
}

// install records whether a tool is installed.
func (t *tools) install(tool wire.Atom, on bool) {
	i := slices.Index(t.order, tool)
	switch {
	case on && i < 0:
		t.order = slices.Insert(t.order, 0, tool)
	case !on && i >= 0:
		t.order = slices.Delete(t.order, i, i+1)
	}
}

// Debugging reports whether events should be reported.
func (s *System) Debugging() bool {
	return s != nil && (s.Watched() || s.debug.stats != nil)
}

// Watched reports whether events are recorded, not only counted: if not, the arguments of In, Out and NoReply do not
// matter.
func (s *System) Watched() bool { return s != nil && (s.debug.log != nil || s.debug.trace) }

// In reports a received message: the event {in, Msg}.
func (s *System) In(c *node.Context, msg any) {
	if t := &s.debug; t.stats != nil {
		t.stats.in++
	}
	s.Event(c, wire.Tuple{wire.Atom("in"), msg})
}

// Out reports a reply: {out, Reply, To, State}.
func (s *System) Out(c *node.Context, reply, to, state any) {
	if t := &s.debug; t.stats != nil {
		t.stats.out++
	}
	s.Event(c, wire.Tuple{wire.Atom("out"), reply, to, state})
}

// NoReply reports that a message has been handled without a reply: {noreply,
// State}.
func (s *System) NoReply(c *node.Context, state any) {
	s.Event(c, wire.Tuple{wire.Atom("noreply"), state})
}

// Event reports anything else: OTP's handle_debug.
func (s *System) Event(c *node.Context, e any) {
	if !s.Watched() {
		return
	}
	e = Term(e)
	if s.debug.log != nil {
		s.debug.log.add(e)
	}
	if s.debug.trace {
		c.Node().Log().Info("trace", "process", c.Self().String(), "event", Words(e))
	}
}

// command answers {debug, What}. As in OTP, enabling an enabled tool changes nothing.
func (t *tools) command(c *node.Context, what any) any {
	if what == aNoDebug {
		*t = tools{}
		return wire.AtomOK
	}
	p, ok := what.(wire.Tuple)
	if !ok || len(p) != 2 {
		return unknown
	}
	on, isBool := wire.AsBool(p[1])
	switch {
	case p[0] == aTrace && isBool:
		t.trace = on
		t.install(aTrace, on)
	case p[0] == aStatistics && isBool && !on:
		t.stats = nil
		t.install(aStatistics, false)
	case p[0] == aStatistics && isBool:
		if t.stats == nil {
			t.stats = &statistics{start: time.Now(), handled: handled(c)}
			t.install(aStatistics, true)
		}
	case p[0] == aStatistics && p[1] == aGet:
		return wire.Tuple{wire.AtomOK, t.stats.report(c)}
	case p[0] == aLog:
		return t.logging(c, p[1])
	case p[0] == aLogToFile && (!isBool || on):
		return wire.Tuple{wire.AtomError, wire.Atom("open_file")} // a message must not write files
	case p[0] == aLogToFile, p[0] == aRemove: // there is none
	default:
		return unknown
	}
	return wire.AtomOK
}

// logging answers {debug, {log, What}}.
func (t *tools) logging(c *node.Context, what any) any {
	if on, ok := wire.AsBool(what); ok && !on {
		t.log = nil
		t.install(aLog, false)
		return wire.AtomOK
	} else if ok {
		what = wire.Tuple{wire.AtomTrue, logged}
	}
	if n, ok := what.(wire.Tuple); ok && len(n) == 2 {
		on, _ := wire.AsBool(n[0])
		size := sizeOf(n[1])
		if !on || size < 1 {
			return unknown
		}
		if t.log == nil {
			t.log = &ring{size: size}
			t.install(aLog, true)
		}
		return wire.AtomOK
	}
	switch what {
	case aGet:
		return wire.Tuple{wire.AtomOK, t.log.events()}
	case aPrint:
		for _, e := range t.log.events() {
			c.Node().Log().Info("logged event", "process", c.Self().String(), "event", Words(e))
		}
		return wire.AtomOK
	}
	return unknown
}

// sizeOf reads the number of events that a log should keep.
func sizeOf(t any) int {
	if n, ok := t.(*big.Int); ok && n.Sign() > 0 {
		return maxLogged
	}
	n, _ := wire.AsInt(t)
	return int(min(n, maxLogged))
}

// list returns the tools as shown by get_status.
func (t *tools) list(c *node.Context) wire.List {
	l := wire.List{}
	for _, tool := range t.order {
		var shown any = wire.AtomTrue
		switch s := t.stats; tool {
		case aLog:
			shown = t.log.events()
		case aStatistics:
			shown = wire.Tuple{localtime(s.start), wire.Tuple{wire.Atom("reductions"), int(s.handled)}, s.in, s.out}
		}
		l = append(l, wire.Tuple{tool, shown})
	}
	return l
}

// ring holds the last events.
type ring struct {
	size int
	last []any // grows to size
	next int   // index of the oldest, once full
}

func (r *ring) add(e any) {
	if len(r.last) < r.size {
		r.last = append(r.last, e)
		return
	}
	r.last[r.next] = e
	r.next = (r.next + 1) % r.size
}

// events returns them, the oldest first.
func (r *ring) events() wire.List {
	if r == nil {
		return wire.List{}
	}
	return append(append(wire.List{}, r.last[r.next:]...), r.last[:r.next]...)
}

// statistics are counted from the request for them.
type statistics struct {
	start   time.Time
	handled uint64
	in, out int
}

func handled(c *node.Context) uint64 {
	i, _ := c.Node().Info(c.Self())
	return i.Handled
}

// report returns the answer to {statistics, get}. It has the number of handled messages instead of Erlang's reductions.
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
